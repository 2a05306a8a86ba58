//! The seeded simulation: random agents, a host that answers in every way a real one may, and the kernel's invariants
//! checked after each input and at the end. One number repeats a run; a seed that failed becomes a test of its own.
//!
//! A longer run, from the first seed that the suite does not take:
//! `SEEDS=1000000 npm run simulate`.

mod acts;
mod answers;
mod calls;
mod definitions;
mod host;
mod humans;
mod invariants;
mod keel;
mod ledger;
mod nesting;
mod perform;
mod prepared;
mod random;
mod standing;
mod typed;

pub use self::host::Host;
pub use self::random::Random;

use std::panic::catch_unwind;

/// What the suite runs each time, in chunks that the test runner spreads over its threads.
const SEEDS_OF_A_CHUNK: u64 = 5_000;

fn run(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let said = catch_unwind(|| host::run(seed, false)).unwrap_or_else(|_| panic!("seed {seed} failed"));
        // Byte for byte, whichever way answers come in: what is not deterministic shows by that, too.
        let typed = catch_unwind(|| host::run(seed, true)).unwrap_or_else(|_| panic!("seed {seed} failed, typed"));
        let differs = said.iter().zip(&typed).find(|(said, typed)| said != typed);
        assert_eq!(differs, None, "seed {seed} says something else where answers come in their types");
        assert_eq!(said.len(), typed.len(), "seed {seed} says more one way than the other");
    }
}

#[test]
fn seeds_of_the_first_chunk() {
    run(0..SEEDS_OF_A_CHUNK);
}

#[test]
fn seeds_of_the_second_chunk() {
    run(SEEDS_OF_A_CHUNK..2 * SEEDS_OF_A_CHUNK);
}

#[test]
fn seeds_of_the_third_chunk() {
    run(2 * SEEDS_OF_A_CHUNK..3 * SEEDS_OF_A_CHUNK);
}

#[test]
fn seeds_of_the_fourth_chunk() {
    run(3 * SEEDS_OF_A_CHUNK..4 * SEEDS_OF_A_CHUNK);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever runs the simulation says how long")]
fn more_seeds_on_demand() {
    let asked = std::env::var("SEEDS").ok();
    let count: u64 = asked.map_or(0, |count| count.parse().expect("SEEDS is a number"));
    run(4 * SEEDS_OF_A_CHUNK..4 * SEEDS_OF_A_CHUNK + count);
}

/// Wrap layers gave up what a human held up, and their turn ended without asking for anything: its caller went on, and
/// still passed for suspended.
#[test]
fn seed_22336_a_caller_goes_on_when_its_child_ends_while_suspended() {
    run(22_336..22_337);
}

/// A body turned out to need a human, and its call was dropped, or others were refused unseen, while the ledger had yet to
/// settle its row: the cap had counted a refusal that nobody had been told of.
#[test]
fn seeds_26063_and_others_a_late_refusal_counts_once_it_is_told() {
    for seed in [26_063, 60_189, 90_645, 104_543, 159_532, 180_778, 187_833, 210_666, 238_071] {
        run(seed..seed + 1);
    }
}

//! An engine with many trees, which share nothing: each says what it says alone, and a fault of one ends no other.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::engine::Engine;
use crate::tests::one_tree::OneTree;
use crate::tests::script::{Script, agent, as_tool, ask, call, calls, text, tool};
use crate::tests::simulation::{Host, Random};

pub fn engine(options: &Value) -> Rc<RefCell<Engine>> {
    Rc::new(RefCell::new(Engine::new(&options.to_string()).expect("the options follow the protocol")))
}

#[test]
fn trees_that_take_turns_in_one_engine_say_what_each_says_alone() {
    const TREES: u64 = 8;
    for group in 0..60 {
        let options = Host::options_of(group);
        let seeds = || (0..TREES).map(move |number| (format!("r{number}"), group * TREES + number));
        let alone: Vec<Vec<String>> = seeds()
            .map(|(root, seed)| {
                let mut host = Host::within(&engine(&options), &options, &root, seed);
                while host.step() {}
                host.end()
            })
            .collect();
        let shared = engine(&options);
        let mut hosts: Vec<Host> = seeds().map(|(root, seed)| Host::within(&shared, &options, &root, seed)).collect();
        let mut order = Random::new(group);
        let mut running: Vec<usize> = (0..hosts.len()).collect();
        while !running.is_empty() {
            let at = order.index(running.len());
            if !hosts[running[at]].step() {
                running.swap_remove(at);
            }
        }
        let together: Vec<Vec<String>> = hosts.into_iter().map(Host::end).collect();
        assert!(together == alone, "group {group} says something else together");
    }
}

fn delegating() -> [crate::tests::script::Agent; 2] {
    [agent("a").tool(as_tool("b")), agent("b").tool(tool("look"))]
}

fn within(engine: &Rc<RefCell<Engine>>, root: &str) -> Script {
    let mut script = Script::within(engine, root, delegating());
    script.on("a", [ask("b"), text("done")]);
    script.on("b", [crate::tests::script::look(), text("seen")]);
    script.always("look", crate::tests::script::Step::Hang);
    script
}

#[test]
fn a_fault_ends_its_own_tree_and_nothing_of_it_runs_on() {
    let engine = engine(&json!({}));
    let mut broken = within(&engine, "x");
    let mut other = within(&engine, "y");
    broken.start();
    other.start();
    broken.fault("the clock gave NaN");

    for turn in ["x", "x.1"] {
        assert_eq!(broken.code(turn), "INTERNAL", "{turn}");
        let message = broken.cause(turn)["message"].to_string();
        assert!(message.contains("the clock gave NaN"), "{message}");
    }
    assert_eq!(broken.result_of("x")["outcome"]["status"], "failed");
    assert_eq!(broken.commands("cancel").len(), 1, "the body that ran is cancelled");
    let said = broken.text.len();
    broken.stop("x", false).input("tick", json!(null));
    assert_eq!(broken.text.len(), said, "nothing is said of a tree that is over");

    assert_eq!(other.status("y"), "running");
    other.return_from("c1_0");
    assert_eq!(other.result_of("y")["text"], "done");
}

#[test]
fn a_panic_outside_of_a_turn_is_told_and_ends_no_other_tree() {
    let engine = engine(&json!({}));
    let mut other = within(&engine, "y");
    other.start();
    let mut broken = OneTree::within(&engine);
    // An agent that the program does not have.
    let program = crate::tests::script::build(&delegating());
    let start = json!({"turnId": "x", "contract": {"part": 7, "nudges": 1}});
    assert!(broken.try_start(&program, &start.to_string(), 0.0).is_err());
    other.return_from("c1_0");
    assert_eq!(other.result_of("y")["text"], "done");
}

#[test]
fn an_answer_that_is_none_ends_the_turn_that_asked_alone() {
    let engine = engine(&json!({}));
    let mut broken = within(&engine, "x");
    let mut other = within(&engine, "y");
    broken.start();
    other.start();
    let id = broken.call_key("look");
    broken.answer(id, &json!({"nonsense": 1}));
    assert_eq!(broken.code("x.1"), "INTERNAL");
    other.return_from("c1_0");
    assert_eq!(other.result_of("y")["text"], "done");
}

#[test]
fn a_tree_that_stands_still_is_not_looked_at_while_others_run() {
    let engine = engine(&json!({}));
    let asking = [agent("a").tool(tool("pay").set("approvalRequired", json!(true)))];
    let mut standing = Script::within(&engine, "x", asking);
    standing.on("a", [calls([call("pay", json!({}))])]).start();
    assert_eq!(standing.status("x"), "suspended");
    let (looks, said) = (standing.tree.looks(), standing.text.len());

    let mut other = within(&engine, "y");
    other.start().return_from("c1_0");
    assert_eq!(other.result_of("y")["text"], "done");
    assert_eq!((standing.tree.looks(), standing.text.len()), (looks, said));
    assert_eq!(other.tree.looks(), 0, "nobody waits for a human there");
}

//! How long a failed model call waits before its next attempt. Jitter keeps many turns from coming back at once; it is a
//! pure function of who waits (D-7), so a run can be repeated.

use crate::kernel::value::TurnId;

const FIRST_MS: f64 = 500.0;
const MOST_MS: f64 = 30_000.0;

/// Doubles with each attempt up to half a minute, less up to half of it by jitter.
pub fn wait_ms(turn_id: &TurnId, step: u32, attempt: u32) -> f64 {
    let full = (FIRST_MS * f64::from(attempt.saturating_sub(1)).exp2()).min(MOST_MS);
    let seed = fnv1a(turn_id.as_str().bytes().chain(step.to_le_bytes()).chain(attempt.to_le_bytes()));
    let share = f64::from(seed) / f64::from(u32::MAX);
    (full * (0.5 + share / 2.0)).round()
}

/// FNV-1a, 32 bits.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

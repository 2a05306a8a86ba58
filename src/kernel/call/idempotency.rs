//! The key under which a tool's side effect may be deduplicated elsewhere (D-23): stable for one call, different for two
//! calls even when they ask for the same.

use sha2::{Digest, Sha256};

use crate::kernel::call::Call;

/// Lowercase hex SHA-256 of the turn, the call, and the hash of tool and arguments.
pub fn key(call: &Call) -> String {
    let mut hash = Sha256::new();
    for field in [call.turn.id().as_str(), call.id.as_str(), &arguments_hash(&call.tool().id, call.arguments.get())] {
        hash.update(field);
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// Lowercase hex SHA-256 of the tool's name, a zero byte and the arguments' JSON with sorted keys.
pub fn arguments_hash(tool_id: &str, arguments: &str) -> String {
    let sorted = serde_json::from_str::<serde_json::Value>(arguments).map(|value| value.to_string());
    let mut hash = Sha256::new();
    hash.update(tool_id);
    hash.update([0]);
    hash.update(sorted.as_deref().unwrap_or(arguments));
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! The keel and its rules: which hooks there are, who has to be asked, what a ledger does.

use serde_json::{Value, json};

use super::random::Random;

/// Half of the keels have no rules at all, as most programs.
pub fn options(random: &mut Random) -> Value {
    let mut limits = json!({"maxDepth": 4, "maxNestedDepth": random.pick(&[0, 1, 2, 3, 3])});
    if random.chance(30) {
        limits["maxToolConcurrency"] = json!(random.within(1, 3));
    }
    let mut options = json!({"limits": limits, "captureToolIo": random.chance(20)});
    if random.chance(50) {
        return options;
    }
    options["hooks"] = hooks(random);
    options["approves"] = json!(random.chance(40));
    if random.chance(30) {
        let allow = random.chance(20).then(|| json!(["tool0", "run-agent1", "run-agent2", "asks"]));
        options["hosted"] = json!({"allow": allow, "failClosed": true, "authorizes": random.chance(60)});
    }
    if random.chance(40) {
        options["ledger"] = json!(random.pick(&["abort", "abort", "continue"]));
    }
    options
}

/// Which stages somebody has a hook for.
pub fn hooks(random: &mut Random) -> Value {
    let mut hooks = json!({});
    let stages = ["beforeModel", "afterModel", "beforeTool", "afterTool", "checkNestedTool", "observeNestedResult"];
    for stage in stages {
        hooks[stage] = json!(random.chance(15));
    }
    hooks["wrapTool"] = json!(random.chance(30));
    hooks["serial"] = json!(random.chance(8));
    hooks
}

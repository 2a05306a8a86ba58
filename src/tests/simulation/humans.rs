//! Humans: what is pending for them, and what they decide, in any order and number.

use serde_json::{Map, Value, json};

use super::host::{Host, within};

impl Host {
    /// A root stands still.
    pub fn suspended(&mut self, root: &str, result: &Value) {
        let pending = result["outcome"]["pending"].as_array().expect("what is pending").clone();
        assert!(!pending.is_empty(), "{root} waits for something");
        assert_eq!(result["record"]["status"], "suspended");
        self.stood = true;
        self.pending.insert(root.to_owned(), pending);
    }

    /// Somebody decides, or gives up.
    pub fn decide(&mut self) {
        let roots: Vec<String> = self.pending.keys().cloned().collect();
        if roots.is_empty() {
            return;
        }
        let root = self.random.pick(&roots).clone();
        self.now += f64::from(self.random.below(400));
        if self.random.chance(4) {
            self.stop(&root, false);
            return;
        }
        let pending = self.pending.remove(&root).expect("it is pending");
        let mut decisions = Map::new();
        for call in &pending {
            if self.random.chance(70) {
                let id = call["id"].as_str().expect("an id").to_owned();
                let decision = self.decision(&call["kind"]);
                if !decision["result"].is_null() {
                    let (turn_id, call_id) = (call["turnId"].as_str(), call["callId"].as_str());
                    self.brought.extend(turn_id.zip(call_id).map(|(turn, call)| (turn.to_owned(), call.to_owned())));
                }
                decisions.insert(id, decision);
            }
        }
        if self.random.chance(5) {
            decisions.insert("unknown".to_owned(), json!("allow"));
        }
        let stopped = self.random.chance(3).then(|| json!({"reason": "no"}));
        let nothing = stopped.is_none() && !decisions.keys().any(|id| id != "unknown");
        let stream = self.streamed.contains_key(&root);
        self.input("resume", &json!({"stream": stream, "decisions": decisions, "stopped": stopped}));
        assert!(!nothing || self.pending.contains_key(&root), "without a decision {root} stands where it stood");
    }

    fn decision(&mut self, kind: &Value) -> Value {
        match self.random.below(10) {
            0..2 => json!({"deny": "no"}),
            2..4 => json!({"result": {"n": 2}}),
            4..9 if kind == "external" => json!({"result": "done"}),
            _ => json!("allow"),
        }
    }

    /// Nothing of a tree that stands still can go on without a human; wrap layers may wait for what is inside of them.
    pub fn check_standing(&mut self) {
        // Layers that give up what is inside of them bring their turn further, too.
        let roots: Vec<String> = self.pending.keys().filter(|_| self.wraps).cloned().collect();
        for root in roots {
            if self.query("record", &json!({"turnId": root}))["record"]["status"] != "suspended" {
                self.pending.remove(&root);
            }
        }
        for root in self.pending.keys() {
            let outstanding = self.asked.iter().find(|asked| within(&asked.turn_id, root) && !self.waits(asked.id));
            assert!(
                outstanding.is_none(),
                "{root} stands still, yet {} is asked",
                outstanding.map_or("", |asked| &asked.kind)
            );
        }
    }
}

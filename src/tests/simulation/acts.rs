//! What may happen next: an answer, the passing of time, somebody who stops, calls or decides.

use serde_json::{Value, json};

use super::answers;
use super::host::Host;

impl Host {
    /// One thing that may happen.
    pub fn act(&mut self) {
        match self.random.below(100) {
            0..3 => self.answer_late(),
            3..4 => self.stop_some(),
            4..11 => self.now += f64::from(self.random.below(15)),
            11..14 => self.tell(),
            14..16 => self.fire(),
            16..18 => self.abandon(),
            18..19 => self.nest_late(),
            19..34 => self.nest(),
            34..42 => self.go_in(),
            42..45 => self.decide(),
            _ => self.answer_one(),
        }
    }

    fn answer_one(&mut self) {
        let ready: Vec<usize> = (0..self.asked.len()).filter(|at| !self.asked[*at].hangs).collect();
        if ready.is_empty() {
            self.wait();
            return;
        }
        let at = *self.random.pick(&ready);
        // Code mostly waits for what it called.
        if self.waits(self.asked[at].id) && self.random.chance(80) {
            return;
        }
        if self.asked[at].kind == "wrap" && self.asked[at].nexts == 0 && self.random.chance(75) {
            self.go_in();
            return;
        }
        let agent = &self.agents[self.agent_of[&self.asked[at].turn_id]];
        let Some(answer) = answers::draw(&mut self.random, &self.asked[at], agent, &self.rows) else {
            self.asked[at].hangs = true;
            return;
        };
        let asked = &self.asked[at];
        let (kind, turn_id, id) = (asked.kind.clone(), asked.turn_id.clone(), asked.id);
        let answer = self.with_checks(&kind, &turn_id, id, answer);
        self.answer_with(at, &answer);
    }

    fn answer_with(&mut self, at: usize, answer: &Value) {
        let asked = self.asked.swap_remove(at);
        self.over.push(asked.id);
        let given = self.given(&asked, answer);
        match asked.kind.as_str() {
            "prepare" if !answer["ok"].is_null() => self.said(asked.ticket, answer),
            "model" if answer["error"]["retryable"] == true => {
                self.retrying.insert(asked.turn_id);
            }
            "model" => self.answered_model = Some((asked.id, asked.turn_id)),
            "wrap" => self.forget_nexts(asked.id),
            "ledger" => self.rows.answered(&asked, answer),
            _ => {}
        }
        self.give(asked.id, given);
    }

    /// Nothing comes by itself: time passes, or the user stops what has no end.
    fn wait(&mut self) {
        if !self.pending.is_empty() && self.random.chance(60) {
            self.decide();
            return;
        }
        // What seemed to hang comes, after all.
        if !self.asked.is_empty() && self.random.chance(50) {
            let at = self.random.index(self.asked.len());
            self.asked[at].hangs = false;
            return;
        }
        if self.armed.is_some() {
            self.fire();
            return;
        }
        assert!(!self.asked.is_empty() || !self.pending.is_empty(), "the kernel waits for nothing and is not done");
        let roots: Vec<String> = self.open.keys().filter(|id| !id.contains('.')).cloned().collect();
        let root = self.random.pick(&roots).clone();
        self.stop(&root, false);
    }

    fn fire(&mut self) {
        if let Some(at) = self.armed {
            self.now = self.now.max(at);
            self.tick();
        }
    }

    pub fn tick(&mut self) {
        self.armed = None;
        self.input("tick", &json!(null));
    }

    /// An answer that nobody waits for.
    pub fn answer_late(&mut self) {
        let id = *self.random.pick(&self.over);
        self.deliver(id, &json!({"result": {"isError": false, "text": "late", "value": null, "metadata": null}}));
    }

    fn stop_some(&mut self) {
        let known: Vec<String> = self.agent_of.keys().cloned().collect();
        let turn_id = self.random.pick(&known).clone();
        let subtree = self.random.chance(70);
        self.stop(&turn_id, subtree);
    }

    /// A delta, progress or a part from something that may be over.
    fn tell(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let asked = &self.asked[self.random.index(self.asked.len())];
        let id = asked.id;
        match asked.kind.as_str() {
            "model" => self.letter(id, "delta", &json!({"kind": "text", "text": "a"})),
            "call" if self.random.chance(50) => {
                self.letter(id, "emit", &json!({"part": 0, "value": {"n": 1}}));
            }
            "call" => self.letter(id, "progress", &json!({"progress": {"message": "half"}})),
            _ => {}
        }
    }
}

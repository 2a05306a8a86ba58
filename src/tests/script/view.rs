//! What a test looks at: results, records, transcripts, events and commands, by the names of the script.

use serde_json::{Value, json};

use super::{Script, id_of, index};

impl Script {
    pub fn query(&self, kind: &str, body: Value) -> Value {
        let text = format!(r#"{{"type":"{kind}","body":{body}}}"#);
        let answer = self.tree.query(&text, self.now);
        serde_json::from_str(&answer).expect("the answer is JSON")
    }

    /// What the root turn `t` handed to its caller; panics while it runs.
    pub fn result(&self) -> Value {
        self.result_of("t")
    }

    pub fn result_of(&self, root: &str) -> Value {
        let settled: Vec<&Value> = self.log.iter().filter(|command| command["type"] == "settled").collect();
        assert_eq!(settled.len(), 1, "one result; the turn stands at {}", self.record(root)["status"]);
        settled[0]["result"].clone()
    }

    pub fn record(&self, turn_id: &str) -> Value {
        self.query("record", json!({"turnId": turn_id}))["record"].clone()
    }

    pub fn status(&self, turn_id: &str) -> String {
        let status = self.record(turn_id)["status"].clone();
        status.as_str().unwrap_or("absent").to_owned()
    }

    pub fn cause(&self, turn_id: &str) -> Value {
        self.record(turn_id)["outcome"]["cause"].clone()
    }

    /// The code of the cause with which a turn failed.
    pub fn code(&self, turn_id: &str) -> String {
        let code = self.cause(turn_id)["code"].clone();
        code.as_str().unwrap_or("none").to_owned()
    }

    pub fn used(&self, turn_id: &str) -> Value {
        self.record(turn_id)["budget"]["used"].clone()
    }

    pub fn transcript(&self, turn_id: &str) -> Vec<Value> {
        let record = self.query("record", json!({"turnId": turn_id}));
        record["transcript"].as_array().cloned().unwrap_or_default()
    }

    /// The outputs of all calls of a turn, in the order of its transcript.
    pub fn outputs(&self, turn_id: &str) -> Vec<Value> {
        let transcript = self.transcript(turn_id);
        let tool_messages = transcript.iter().filter(|message| message["role"] == "tool");
        let parts = tool_messages.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
        parts.map(|part| part["output"].clone()).collect()
    }

    /// The value of a turn's only call's output.
    pub fn output(&self, turn_id: &str) -> Value {
        let outputs = self.outputs(turn_id);
        assert_eq!(outputs.len(), 1, "one call in {turn_id}: {outputs:?}");
        outputs[0]["value"].clone()
    }

    pub fn events(&self, turn_id: &str) -> Vec<Value> {
        let events = self.query("events", json!({"turnId": turn_id, "tree": false}));
        events.as_array().cloned().unwrap_or_default()
    }

    pub fn tree_events(&self, turn_id: &str) -> Vec<Value> {
        let events = self.query("events", json!({"turnId": turn_id, "tree": true}));
        events.as_array().cloned().unwrap_or_default()
    }

    /// A turn's events of one type.
    pub fn events_of(&self, turn_id: &str, kind: &str) -> Vec<Value> {
        let mut events = self.events(turn_id);
        events.retain(|event| event["type"] == *kind);
        events
    }

    /// The commands of one type.
    pub fn commands(&self, kind: &str) -> Vec<&Value> {
        self.log.iter().filter(|command| command["type"] == *kind).collect()
    }

    /// The model calls of one turn.
    pub fn model_calls(&self, turn_id: &str) -> Vec<&Value> {
        let mut calls = self.commands("model");
        calls.retain(|command| command["turnId"] == *turn_id);
        calls
    }

    /// The arguments with which a tool's body was entered.
    pub fn bodies(&self, tool_id: &str) -> Vec<Value> {
        let calls = self.commands("call").into_iter();
        let own = calls.filter(|command| self.tool_id(command) == tool_id);
        own.map(|command| command["args"].clone()).collect()
    }

    /// The ids of the tools that a turn's model is offered.
    pub fn offered(&self, turn_id: &str) -> Vec<String> {
        let mut opens = self.commands("open").into_iter();
        let open = opens.rfind(|command| command["turnId"] == *turn_id);
        let open = open.expect("the turn was opened");
        let tools = open["tools"].as_array().expect("positions of tools");
        let agent = &self.program.agents[index(&open["agentIndex"])];
        tools.iter().map(|position| agent.tools[index(position)].id.to_string()).collect()
    }

    /// How many commands wait for an answer.
    pub fn waiting(&self) -> usize {
        self.outstanding.len()
    }

    /// The id of the newest command of one type.
    pub fn effect(&self, kind: &str) -> u32 {
        let commands = self.commands(kind);
        id_of(commands.last().expect("such a command"))
    }

    pub fn call_key(&self, tool_id: &str) -> u32 {
        let mut calls = self.commands("call").into_iter();
        let call = calls.rfind(|command| self.tool_id(command) == tool_id);
        id_of(call.expect("the body was entered"))
    }

    pub(super) fn agent_id(&self, turn_id: &str) -> String {
        self.program.agents[self.agent_of[turn_id]].id.to_string()
    }

    pub(super) fn tool_id(&self, command: &Value) -> String {
        let turn_id = command["turnId"].as_str().expect("a call has a turn");
        let agent = &self.program.agents[self.agent_of[turn_id]];
        agent.tools[index(&command["toolIndex"])].id.to_string()
    }
}

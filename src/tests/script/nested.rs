//! What bodies do while they run, by the ids of their calls.

use serde_json::{Value, json};

use super::{Script, id_of};

impl Script {
    /// The running body of the call `caller` calls a tool; its promise is `ticket`.
    pub fn call_tool(&mut self, caller: &str, ticket: u32, tool: &str) -> &mut Self {
        let by = self.body(caller).unwrap_or_else(|| panic!("the body of {caller} was not entered"));
        self.letter(by, "callTool", json!([ticket, tool, {}]))
    }

    /// The body of a call returns.
    pub fn return_from(&mut self, call_id: &str) -> &mut Self {
        let by = self.body(call_id).unwrap_or_else(|| panic!("the body of {call_id} was not entered"));
        self.answer(by, &json!({"result": {"isError": false, "text": "ok", "value": null, "metadata": null}}))
    }

    /// The calls whose body runs, in the order in which they were entered.
    pub fn running(&self) -> Vec<String> {
        let waits = |command: &&&Value| self.outstanding.contains_key(&id_of(command));
        let calls = self.commands("call");
        calls.iter().filter(waits).map(|call| call["callId"].as_str().expect("an id").to_owned()).collect()
    }

    /// What a promise was settled with: `null` while it waits.
    pub fn resolved(&self, ticket: u32) -> Value {
        let mut own = self.commands("resolve").into_iter().filter(|command| command["ticket"] == ticket);
        let settled = own.next().cloned().unwrap_or_default();
        assert!(own.next().is_none(), "ticket {ticket} is settled once");
        settled
    }

    fn body(&self, call_id: &str) -> Option<u32> {
        let mut calls = self.commands("call").into_iter();
        calls.rfind(|command| command["callId"] == *call_id).map(id_of)
    }
}

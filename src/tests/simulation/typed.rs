//! The quick way in: what the real host mostly tells in its type instead of as JSON text. The kernel has to say the same.

use serde_json::Value;

use super::host::{Asked, Host};
use crate::kernel::program::AgentSpec;
use crate::kernel::protocol::{
    AskedCall, CallResult, FinishReason, Given, Letter, ModelReply, Part, PrepareAnswer, ToolName, ToolRequest,
};
use crate::kernel::value::{Json, Ticket};

impl Host {
    /// An answer as it goes in.
    pub fn given(&self, asked: &Asked, answer: &Value) -> Given {
        let agent = &self.program.agents[self.agent_of[&asked.turn_id]];
        let typed = match asked.kind.as_str() {
            "model" if self.typed => reply(agent, &answer["ok"]).map(Given::Reply),
            "call" if self.typed => result(&answer["result"]).map(Given::Result),
            _ => None,
        };
        typed.unwrap_or_else(|| Given::Text(answer.to_string()))
    }

    /// A body calls a tool; `request` holds the fields of a [`ToolRequest`].
    pub fn request(&mut self, id: u32, turn_id: &str, request: &Value) {
        let agent = &self.program.agents[self.agent_of[turn_id]];
        match tool_request(agent, request).filter(|_| self.typed) {
            Some(request) => {
                let commands = self.tree.send(id, Letter::CallTool(request), self.now);
                self.perform(commands);
            }
            None => self.letter(id, "callTool", request),
        }
    }
}

fn reply(agent: &AgentSpec, reply: &Value) -> Option<ModelReply> {
    let checks = reply["ahead"].as_array()?;
    let mut checks = checks.iter();
    let parts = reply["content"].as_array()?.iter().filter_map(|part| match part["type"].as_str()? {
        "tool-call" => Some(Part::Call(call(agent, part, checks.next().unwrap_or(&Value::Null)))),
        "text" => Some(Part::Text(part["text"].as_str()?.into())),
        _ => Part::read(Json::of(part), &mut std::iter::empty()),
    });
    let parts = parts.collect();
    let usage = serde_json::from_value(reply["usage"].clone()).ok()?;
    Some(ModelReply { parts, finish_reason: FinishReason::Stop, usage })
}

fn call(agent: &AgentSpec, part: &Value, check: &Value) -> AskedCall {
    let text = |field: &str| part[field].as_str().unwrap_or_default();
    let ahead = accepted(check);
    let is_json = ahead.is_some() && Json::read(text("input")).is_ok();
    let listed = agent.tool_index(text("toolName")).filter(|_| check.is_null() || ahead.is_some());
    AskedCall {
        id: text("toolCallId").into(),
        tool: listed.map_or_else(|| ToolName::Named(text("toolName").into()), ToolName::Listed),
        input: text("input").into(),
        is_json,
        provider_options: None,
        provider_executed: false,
        ahead: ahead.or_else(|| serde_json::from_str(&check.to_string()).expect("a verdict, or none")),
    }
}

/// The two verdicts that are told by numbers.
fn accepted(check: &Value) -> Option<PrepareAnswer> {
    let text = check.to_string();
    let accepts = !check["ok"].is_null() || !check["begun"].is_null();
    accepts.then(|| serde_json::from_str(&text).expect("a verdict of the protocol"))
}

/// A plain value that a body returned.
fn result(result: &Value) -> Option<CallResult> {
    let plain = result["isError"] == false && result["text"].is_null() && result["metadata"].is_null();
    plain.then(|| CallResult::returned(result["value"].to_string().into()))
}

fn tool_request(agent: &AgentSpec, request: &Value) -> Option<ToolRequest> {
    let fields = request.as_array()?;
    let [ticket, tool, args, check, broken, .., abandoned] = fields.as_slice() else { return None };
    let index = agent.tool_index(tool.as_str()?)?;
    let ahead = accepted(check);
    if args.is_null() || !broken.is_null() || *abandoned == true || (!check.is_null() && ahead.is_none()) {
        return None;
    }
    Some(ToolRequest {
        ticket: Ticket(u32::try_from(ticket.as_u64()?).ok()?),
        tool: ToolName::Listed(index),
        args: Some(Json::of(args)),
        ahead,
        broken: None,
        too_deep: false,
        unlisted: false,
        abandoned: false,
    })
}

//! Definitions for tests, as the host would hand them over: agents name each other and their parts by name, and
//! [`build`] turns names into the positions of the protocol.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::kernel::program::Program;
use crate::kernel::schema::Schema;

/// An agent under construction.
#[derive(Clone)]
pub struct Agent(Value);

/// A tool under construction; its schema stands in its place until [`build`].
#[derive(Clone)]
pub struct Tool(Value);

pub fn agent(id: &str) -> Agent {
    Agent(json!({
        "id": id, "instructions": null, "prepares": false, "tools": [], "emits": [], "reads": [], "grants": [], "hooks": {},
        "budget": {}, "limits": {},
    }))
}

/// A public tool that takes any object.
pub fn tool(id: &str) -> Tool {
    Tool(json!({
        "id": id, "schema": {"type": "object"}, "prepares": false, "access": {"type": "public"}, "exposure": "direct",
        "concurrency": "unset", "timeoutMs": null, "maxUses": null, "exposeErrors": null, "delegation": null, "external": false,
        "approvalRequired": false, "replaySafe": false, "injects": [],
    }))
}

/// The tool `run-<agent>`, with the defaults of `asTool`.
pub fn as_tool(agent_id: &str) -> Tool {
    tool(&format!("run-{agent_id}"))
        .schema(json!({"type": "object", "properties": {"brief": {"type": "string"}}, "required": ["brief"]}))
        .set("concurrency", json!("shared"))
        .set(
            "delegation",
            json!({
                "agent": agent_id, "budget": {}, "limits": {}, "contract": null, "retries": 0, "onError": "feedback",
                "forward": {"progress": false, "parts": []}, "narrow": null, "briefs": false,
            }),
        )
}

impl Agent {
    pub fn set(mut self, field: &str, value: Value) -> Self {
        self.0[field] = value;
        self
    }

    pub fn budget(self, budget: Value) -> Self {
        self.set("budget", budget)
    }

    pub fn limits(self, limits: Value) -> Self {
        self.set("limits", limits)
    }

    pub fn tool(mut self, tool: Tool) -> Self {
        push(&mut self.0["tools"], tool.0);
        self
    }

    /// A part with `persist: "content"`.
    pub fn emits(self, name: &str, schema: Value) -> Self {
        self.emits_as(name, schema, json!({}))
    }

    /// A part with some of its fields as given.
    pub fn emits_as(mut self, name: &str, schema: Value, fields: Value) -> Self {
        let mut part =
            json!({"name": name, "schema": schema, "standard": false, "wrapped": false, "persist": "content"});
        merge(&mut part, fields);
        push(&mut self.0["emits"], part);
        self
    }

    pub fn reads(mut self, id: &str, access: Value) -> Self {
        push(&mut self.0["reads"], json!({"id": id, "access": access}));
        self.set("prepares", json!(true))
    }
}

impl Tool {
    pub fn set(mut self, field: &str, value: Value) -> Self {
        self.0[field] = value;
        self
    }

    pub fn schema(self, schema: Value) -> Self {
        self.set("schema", schema)
    }

    pub fn scopes(self, scopes: &[&str]) -> Self {
        self.set("access", json!({"type": "scopes", "scopes": scopes}))
    }

    pub fn access(self, rule: &str) -> Self {
        self.set("access", json!({"type": rule}))
    }

    /// One option of the connection.
    pub fn connect(mut self, field: &str, value: Value) -> Self {
        self.0["delegation"][field] = value;
        self
    }

    pub fn child_budget(self, budget: Value) -> Self {
        self.connect("budget", budget)
    }

    pub fn deliverable(self, part: &str, nudges: u32) -> Self {
        self.connect("contract", json!({"part": part, "nudges": nudges}))
    }

    pub fn fails_caller(self) -> Self {
        self.connect("onError", json!("fail"))
    }
}

/// The program whose root is the first agent.
pub fn build(agents: &[Agent]) -> Rc<Program> {
    let mut specs: Vec<Value> = agents.iter().map(|agent| agent.0.clone()).collect();
    let named = specs.clone();
    let mut schemas = Vec::new();
    for spec in &mut specs {
        for tool in elements(&mut spec["tools"]) {
            place(&mut tool["schema"], &mut schemas);
            if !tool["delegation"].is_null() {
                resolve(&mut tool["delegation"], &named);
            }
        }
        for part in elements(&mut spec["emits"]) {
            place(&mut part["schema"], &mut schemas);
        }
    }
    let text = Value::Array(specs).to_string();
    Rc::new(Program::parse(&text, schemas).expect("the program follows the protocol"))
}

pub fn merge(target: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else {
        panic!("expected an object, found {fields}");
    };
    for (field, value) in fields {
        target[field] = value;
    }
}

fn resolve(delegation: &mut Value, agents: &[Value]) {
    let id = delegation["agent"].as_str().expect("an agent's id").to_owned();
    let index = agents.iter().position(|agent| agent["id"] == *id).unwrap_or_else(|| panic!("no agent '{id}'"));
    delegation["agent"] = json!(index);
    if let Some(part) = delegation["contract"]["part"].as_str().map(str::to_owned) {
        delegation["contract"]["part"] = json!(position(&agents[index]["emits"], "name", &part));
    }
}

fn position(list: &Value, field: &str, name: &str) -> usize {
    let list = list.as_array().expect("a list");
    list.iter().position(|item| item[field] == *name).unwrap_or_else(|| panic!("no '{name}'"))
}

fn place(schema: &mut Value, schemas: &mut Vec<Schema>) {
    schemas.push(compiled(schema.to_string()));
    *schema = json!(schemas.len() - 1);
}

/// Each schema is compiled once: the simulation builds thousands of programs out of a few.
fn compiled(text: String) -> Schema {
    thread_local! {
        static COMPILED: RefCell<BTreeMap<String, Schema>> = const { RefCell::new(BTreeMap::new()) };
    }
    COMPILED.with_borrow_mut(|compiled| {
        let schema = compiled.entry(text);
        let schema = schema.or_insert_with_key(|text| Schema::compile(text).expect("the schema compiles"));
        schema.clone()
    })
}

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().expect("a list").push(item);
}

fn elements(list: &mut Value) -> &mut [Value] {
    list.as_array_mut().expect("a list")
}

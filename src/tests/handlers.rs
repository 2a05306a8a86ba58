//! The host reads a command by the places of its fields: its handlers name them as `protocol/command.rs` does.

use crate::kernel::protocol::Command;
use crate::tests::script::camel_case;

const HANDLERS: [&str; 4] = [
    include_str!("../../js/host/call-commands.js"),
    include_str!("../../js/host/hook-commands.js"),
    include_str!("../../js/host/model-commands.js"),
    include_str!("../../js/host/turn-commands.js"),
];

#[test]
fn each_command_has_a_handler_that_takes_its_fields_in_their_order() {
    for (name, fields) in Command::FIELDS {
        let names: Vec<String> = fields.iter().map(|field| camel_case(field)).collect();
        let handler = format!("\n  {name}(host, [, {}]) {{", names.join(", "));
        assert!(HANDLERS.iter().any(|file| file.contains(&handler)), "expected {handler}");
    }
}

//! The format of commands as the host reads it, written from where the kernel declares it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::kernel::protocol::{Command, Form};
use crate::tests::script::camel_case;

/// Both sides read one table. After a change: `KEEL_WRITE_TABLE=1 cargo test --no-default-features command_table`.
#[test]
fn the_host_reads_commands_by_the_kernels_own_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/host/command-table.js");
    let table = table();
    if std::env::var_os("KEEL_WRITE_TABLE").is_some() {
        fs::write(&path, &table).expect("the table is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written.replace("\r\n", "\n"), table, "js/host/command-table.js is not fresh: see above");
}

fn table() -> String {
    let mut text = String::from(
        "/**\n * Every command by its number: its name, and its fields with their forms, in the order of their words. Written from the\n \
         * kernel's `protocol/command.rs` by its tests, never by hand; `protocol/row.rs` says what a form is.\n *\n \
         * @type {readonly (readonly [name: string, fields: Readonly<Record<string, string>>])[]}\n */\n\
         export const COMMANDS = [\n",
    );
    for (number, row) in Command::TABLE.iter().enumerate() {
        assert_eq!(usize::try_from(row.kind), Ok(number), "{} stands where its number says", row.name);
        let fields: Vec<_> =
            row.fields.iter().map(|(name, form)| format!("{}: \"{}\"", camel_case(name), form_name(*form))).collect();
        let line = format!("  [\"{}\", {{ {} }}],\n", row.name, fields.join(", "));
        if line.len() <= 121 {
            text.push_str(&line);
            continue;
        }
        writeln!(text, "  [\n    \"{}\",\n    {{", row.name).expect("a string takes everything");
        for field in fields {
            writeln!(text, "      {field},").expect("a string takes everything");
        }
        text.push_str("    },\n  ],\n");
    }
    text + "];\n"
}

fn form_name(form: Form) -> String {
    let name = format!("{form:?}");
    name[..1].to_lowercase() + &name[1..]
}

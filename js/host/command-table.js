/**
 * Every command by its number: its name, and its fields with their forms, in the order of their words. Written from the
 * kernel's `protocol/command.rs` by its tests, never by hand; `protocol/row.rs` says what a form is.
 *
 * @type {readonly (readonly [name: string, fields: Readonly<Record<string, string>>])[]}
 */
export const COMMANDS = [
  [
    "open",
    {
      turnKey: "number",
      turnId: "number",
      parentKey: "optionalNumber",
      agentIndex: "number",
      attempt: "number",
      ticket: "optionalNumber",
      tools: "ownText",
      submit: "optionalNumber",
      scopes: "ownText",
    },
  ],
  ["close", { turnKey: "number" }],
  ["settled", { turnKey: "number", append: "messages", result: "result" }],
  ["suspended", { turnKey: "number", append: "messages", result: "result" }],
  ["instructions", { id: "number", turnKey: "number", sources: "text" }],
  [
    "access",
    {
      id: "number",
      turnKey: "number",
      ticket: "optionalNumber",
      toolIndex: "optionalNumber",
      sourceIndex: "optionalNumber",
    },
  ],
  ["append", { turnKey: "number", append: "messages" }],
  [
    "hooks",
    {
      id: "number",
      turnKey: "number",
      stage: "stage",
      ticket: "optionalNumber",
      call: "call",
      result: "ownText",
      offer: "offer",
    },
  ],
  ["authorize", { id: "number", turnKey: "number", ticket: "optionalNumber", call: "call" }],
  ["approve", { id: "number", turnKey: "number", pending: "text" }],
  ["inject", { id: "number", turnKey: "number", ticket: "optionalNumber", call: "call" }],
  ["ledger", { id: "number", turnKey: "number", entry: "text" }],
  ["model", { id: "number", turnKey: "number", offer: "offer", stream: "flag", append: "messages" }],
  [
    "prepare",
    {
      id: "number",
      turnKey: "number",
      ticket: "optionalNumber",
      toolIndex: "number",
      args: "text",
      begun: "optionalNumber",
    },
  ],
  ["preparePart", { id: "number", turnKey: "number", partIndex: "number", value: "text" }],
  [
    "brief",
    {
      id: "number",
      turnKey: "number",
      ticket: "optionalNumber",
      toolIndex: "number",
      args: "text",
      kept: "optionalNumber",
    },
  ],
  ["wrap", { id: "number", turnKey: "number", ticket: "optionalNumber", call: "call" }],
  ["resolve", { ticket: "number", result: "ownText", error: "text", thrownBy: "optionalNumber" }],
  [
    "call",
    {
      id: "number",
      turnKey: "number",
      ticket: "optionalNumber",
      toolIndex: "number",
      callId: "call",
      args: "ownText",
      kept: "optionalNumber",
      mayRunAgain: "flag",
    },
  ],
  ["release", { turnKey: "number", kept: "number" }],
  ["cancel", { id: "number", code: "text", message: "text" }],
  ["event", { turnKey: "number", event: "text" }],
  ["wake", { at: "double" }],
];

import { KeelError, createKeel, defineAgent, definePart, run, stream } from "keel-native";
import type {
  Cause,
  CauseCode,
  Clock,
  ErrorCode,
  EventOf,
  KeelEvent,
  Model,
  ModelMessage,
  Outcome,
  TurnRecord,
} from "keel-native";
import { z } from "zod";
import type { Equal, Expect } from "./expect.js";

declare const model: Model;
const findings = definePart({ name: "findings", schema: z.object({ items: z.array(z.string()) }), persist: "content" });
const note = definePart({ name: "note", schema: z.string() });
const other = definePart({ name: "other", schema: z.string(), persist: "content" });
const agent = defineAgent({ id: "researcher", model, emits: [findings, note] });

const owed = await run(agent, "go", { deliverable: findings, identity: { id: "u1", scopes: ["read"], tenant: "t1" } });
const free = await run(agent, [
  { type: "text", text: "What is this?" },
  { type: "file", data: "https://example.com/a.png", mediaType: "image/png" },
]);
const kept = owed.orThrow();
const given = free.orThrow();
export type Results = [
  Expect<Equal<typeof owed.deliverable, { items: string[] } | undefined>>,
  Expect<Equal<typeof free.deliverable, undefined>>,
  Expect<Equal<typeof kept.deliverable, { items: string[] }>>,
  Expect<Equal<typeof kept.outcome.status, "completed">>,
  Expect<Equal<typeof given.outcome.status, "completed">>,
  Expect<
    Equal<
      (typeof owed.parts)[number],
      | { readonly part: "findings"; readonly value: { items: string[] } }
      | { readonly part: "note"; readonly value: string }
    >
  >,
];

for (const emitted of owed.parts) {
  switch (emitted.part) {
    case "findings":
      emitted.value satisfies { items: string[] };
      break;
    case "note":
      emitted.value satisfies string;
      break;
    default:
      emitted satisfies never;
  }
}

// @ts-expect-error NT-05, D-30 the deliverable must be in the agent's emits
void run(agent, "go", { deliverable: other });
// @ts-expect-error NT-09 unknown option
void run(agent, "go", { timeoutMs: 5 });

const live = stream(agent, "go", { deliverable: { part: findings, nudges: 0 } });
for await (const event of live) {
  if (event.type === "text.delta") event.text satisfies string;
}
for await (const text of live.textStream) text satisfies string;
for await (const event of live.inspect()) event.parentTurnId satisfies string | undefined;
(await live.result).deliverable?.items satisfies string[] | undefined;

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.status) {
    case "completed":
      return "done";
    case "failed":
      return rootCause(outcome.cause).code;
    case "stopped":
      return String(outcome.reason);
    case "suspended":
      return outcome.pending.map(({ toolId, path }) => `${path.join("/")} ${toolId}`).join();
  }
}

function rootCause(cause: Cause): Cause {
  return cause.code === "CHILD_FAILED" ? rootCause(cause.cause) : cause;
}

export function describeEvent(event: KeelEvent): string {
  switch (event.type) {
    case "turn.started":
      return `${event.attempt} ${event.callId ?? "root"}`;
    case "step.started":
      return `${event.step}.${event.attempt}`;
    case "text.delta":
      return event.text;
    case "step.completed":
      return `${event.finishReason} ${event.usage.totalTokens} ${event.toolCalls}`;
    case "step.restarted":
      return event.reason.message;
    case "tool.started":
      return `${event.toolId} ${event.parentCallId ?? ""} ${JSON.stringify(event.input)}`;
    case "tool.progress":
      return event.message ?? event.forwardedFrom ?? "";
    case "tool.completed":
      return `${event.isError} ${event.durationMs} ${event.outputBytes}`;
    case "tool.failed":
    case "tool.refused":
      return event.error.code;
    case "part.emitted":
      return event.part;
    case "nudge.sent":
      return `${event.nudge} ${event.part} ${event.issues?.length ?? 0}`;
    case "limit.reached":
      return `${event.limit} ${event.max}`;
    case "approval.requested":
      return event.pending.id;
    case "turn.retried":
      return `${event.failedTurnId} ${event.attempt} ${event.callId} ${event.cause.code}`;
    case "turn.suspended":
      return String(event.pending.length);
    case "turn.resumed":
      return event.turnId;
    case "turn.completed":
      return `${event.partial ?? false} ${event.empty ?? false}`;
    case "turn.failed":
      return event.cause.message;
    case "turn.stopped":
      return String(event.reason);
  }
}

export type Events = [
  Expect<Equal<EventOf<"turn.retried">["attempt"], number>>,
  Expect<Equal<Extract<KeelEvent, { type: "tool.failed" }>["error"]["message"], string>>,
  Expect<Equal<KeelEvent["seq"], number>>,
];

const clock: Clock = { now: () => 0, wallNow: () => 0, setTimer: (_atMs, _callback) => () => {} };
await using keel = createKeel({
  records: ":memory:",
  agents: [agent],
  clock,
  keep: { trees: 10 },
  capture: { toolIo: true, redact: (kind, _toolId, value) => (kind === "toolInput" ? null : value) },
  price: (usage, modelId) => usage.totalTokens * (modelId === "big" ? 2 : 1),
});
(await keel.stop("t", { reason: "enough", scope: "subtree" })) satisfies boolean;
(await keel.records.get("t")) satisfies TurnRecord | undefined;
(await keel.records.list({ status: "failed" })).items satisfies readonly TurnRecord[];
(await keel.records.tree("t"))?.children[0]?.record satisfies TurnRecord | undefined;
const history: readonly ModelMessage[] = (await keel.records.transcript("t")) ?? [];
await keel.run(agent, "and then?", { history });
(await keel.records.events("t", { tree: true })) satisfies readonly KeelEvent[];
// @ts-expect-error NT-09 unknown option
createKeel({ record: ":memory:" });
export type FinalOnly = Expect<Equal<NonNullable<TurnRecord["outcome"]>["status"], "completed" | "failed" | "stopped">>;

export function codeOf(error: unknown): string | undefined {
  return KeelError.isInstance(error) ? error.code : undefined;
}
export const errors: readonly Error[] = [
  new KeelError("TOOL_FAILED", "no", { cause: new Error("why"), details: { n: 1 } }),
  new KeelError("MY_POLICY", "a code of the application's own"),
];
export type Codes = [
  Expect<CauseCode extends ErrorCode ? true : false>,
  Expect<Equal<Extract<CauseCode, "TOOL_FAILED">, never>>,
];

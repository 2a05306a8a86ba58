// Hooks, the host's gates, the ledger, approvals and resuming.
import {
  KeelError,
  createKeel,
  defineAgent,
  defineMiddleware,
  defineTool,
  humanApproval,
  memoryLedger,
  planMode,
  repeatGuard,
  run,
  toolAllowlist,
  toolPolicy,
  toolResult,
} from "keel-native";
import type {
  Agent,
  AuthorizeRequest,
  CallCode,
  CauseCode,
  ErrorCode,
  EventOf,
  HookCall,
  HookContext,
  Json,
  Ledger,
  LedgerEnd,
  LedgerStart,
  Middleware,
  Model,
  ModelRequest,
  NestedCallsMetadata,
  NestedCallSummary,
  Pending,
  RunMode,
  StepReply,
  ToolResult,
  TurnResult,
  Verdict,
} from "keel-native";
import { z } from "zod";
import { expectType } from "./expect.js";
import type { Equal, Expect } from "./expect.js";

declare const model: Model;

const audit = defineMiddleware({
  name: "audit",
  beforeModel(context, request) {
    expectType<Equal<typeof context, HookContext>>();
    expectType<Equal<typeof request, ModelRequest>>();
    return { ...request, messages: request.messages.slice(-10) };
  },
  async afterModel(_context, reply) {
    expectType<Equal<typeof reply, StepReply>>();
  },
  beforeTool(context, call) {
    expectType<Equal<typeof call, HookCall>>();
    if (context.workspace?.sandbox === "required") return;
    if (call.args === null) return { deny: "no arguments" };
    return call.level === 0 ? "defer" : undefined;
  },
  checkNestedTool: async (_context, call) => {
    if (call.parentCallId === undefined) throw new KeelError("APPROVAL_REQUIRED", "ask first");
  },
  afterTool: (_context, _call, result) => ({ ...result, text: result.text.slice(0, 100) }),
  observeNestedResult(_context, _call, result) {
    expectType<Equal<typeof result, ToolResult>>();
  },
  async wrapTool(_context, call, next) {
    const first = await next();
    expectType<Equal<typeof first, ToolResult>>();
    if (!first.isError) return first;
    if (call.level > 0) return toolResult({ text: "gave up", isError: true });
    return next({ ...call, args: { again: new Date(0) } });
  },
  onError: (_context, error) => void (error instanceof Error),
  concurrentSafe: false,
});
const watched = defineMiddleware({
  name: "watched",
  nested: "exempt",
  beforeTool: () => {},
  wrapTool: (_c, _k, next) => next(),
});

// @ts-expect-error a middleware has a name
defineMiddleware({ beforeTool: () => {} });
// @ts-expect-error NT-09 unknown hook
defineMiddleware({ name: "typo", beforeTools: () => {} });
// @ts-expect-error D-16 only undefined admits
defineMiddleware({ name: "yes", beforeTool: () => true });
// @ts-expect-error D-16 only undefined admits
defineMiddleware({ name: "allow", checkNestedTool: () => "allow" });
// @ts-expect-error an exemption is spelt out
defineMiddleware({ name: "off", nested: false });
// @ts-expect-error middleware is made by defineMiddleware
createKeel({ middleware: [{ name: "plain", beforeTool: () => {} }] });

const mode: { current: RunMode } = { current: "plan" };
const policies = {
  pay: { payment: true, sandbox: "required", approval: "required" },
  look: { readOnly: true },
} as const;
const builtIn: readonly Middleware[] = [
  toolAllowlist(["look"]),
  toolPolicy(policies, {
    strict: true,
    deny: ["network", "destructive"],
    requireApproval: ["pay"],
    requireSandbox: true,
  }),
  humanApproval({ tools: ["pay"] }),
  humanApproval({ tools: ["pay"], approve: async ({ args }) => (args === null ? { deny: "no" } : "defer") }),
  humanApproval({ tools: ["pay"], approve: () => false }),
  planMode({ mode, policies, allow: ["look"] }),
  planMode({ mode: () => "build" }),
  repeatGuard({ max: 3 }),
];
// @ts-expect-error `readOnly` is no side effect
toolPolicy({}, { deny: ["readOnly"] });
// @ts-expect-error two modes only
planMode({ mode: "review" });
// @ts-expect-error how often has to be said
repeatGuard({});

const pay = defineTool({
  id: "pay",
  input: z.object({ euros: z.number(), account: z.string() }),
  access: "authenticated",
  injects: [{ name: "account", from: "host" }],
  effects: { payment: true },
  execute: () => toolResult({ text: "paid", control: { returnDirect: true, goto: "end" } }),
});
toolPolicy({ [pay.id]: { ...pay.effects, approval: pay.approval } });
// @ts-expect-error the loop has three places
toolResult({ control: { goto: "start" } });

const agent = defineAgent({ id: "clerk", model, tools: [pay], middleware: [audit, watched] });
const erased: Agent = agent;
erased.middleware satisfies readonly Middleware[];
void run(agent, "go", { middleware: builtIn });

const ledger = memoryLedger();
ledger.rows()[0]?.status satisfies "started" | "completed" | "failed" | undefined;
const rows = new Map<string, LedgerStart>();
const own: Ledger = {
  started: async (entry) => void rows.set(`${entry.turnId} ${entry.callId}`, entry),
  settled(entry) {
    expectType<Equal<typeof entry, LedgerEnd>>();
  },
  unresolved: (turnId) => [...rows.values()].filter((row) => row.turnId === turnId).map(({ callId }) => callId),
  onStartFailure: "continue",
};

const keel = createKeel({
  middleware: [audit],
  security: {
    authorizeTool(request) {
      expectType<Equal<typeof request, AuthorizeRequest>>();
      if (request.isNested) return { prompted: false };
      return request.identity === undefined ? { deny: "who are you?" } : true;
    },
    allowTools: ["pay"],
    failClosed: true,
  },
  approve: async (pending) => {
    expectType<Equal<typeof pending, Pending>>();
    return pending.path.length > 1 ? { deny: "too deep" } : "defer";
  },
  ledger: own,
  injected: ({ toolId }) => ({ account: `account of ${toolId}` }),
  workspace: { sandbox: "required" },
  limits: { maxNestedDepth: 3, maxToolConcurrency: 4 },
});
createKeel({ ledger: { ...ledger, onStartFailure: "abort" } });
// @ts-expect-error D-31 an approval is "allow", { deny } or "defer"
createKeel({ approve: () => true });
// @ts-expect-error NT-09 unknown option
createKeel({ security: { allow: ["pay"] } });
// @ts-expect-error a status of a row
void own.settled?.({ turnId: "t", callId: "c", status: "started" });

const result = await keel.run(agent, "go");
if (result.outcome.status === "suspended") {
  const [first, second] = result.outcome.pending;
  const resumed = await keel.resume(result.turnId, {
    approvals: { [first?.id ?? ""]: "allow", [second?.id ?? ""]: { result: { any: 1 } }, third: { deny: "no" } },
    ambient: { day: 2 },
    signal: AbortSignal.timeout(5),
  });
  expectType<Equal<typeof resumed, TurnResult>>();
  const live = keel.resumeStream(result.turnId);
  for await (const event of live) if (event.type === "turn.resumed") event.turnId satisfies string;
  (await live.result).outcome.status satisfies string;
}
// @ts-expect-error D-31 deferring again is leaving the decision out
void keel.resume("t", { approvals: { x: "defer" } });
// @ts-expect-error NT-31 on resume the identity is the recorded one
void keel.resume("t", { identity: { id: "other" } });

export function nestedCalls(event: EventOf<"tool.completed">): readonly NestedCallSummary[] {
  return (event.metadata as NestedCallsMetadata | undefined)?.nested_calls ?? [];
}
const metadata: Json = {
  nested_calls: [{ id: "a/1", name: "b", status: "ok", duration_ms: 1 }],
} satisfies NestedCallsMetadata;
export { metadata };

export type Hooks = [
  Expect<Equal<Verdict, void | "defer" | { readonly deny: string }>>,
  Expect<Equal<EventOf<"text.delta">["kind"], "text" | "reasoning">>,
  Expect<Equal<EventOf<"approval.requested">["pending"], Pending>>,
  Expect<Equal<EventOf<"turn.suspended">["pending"], readonly Pending[]>>,
];
export type NewCodes = [
  Expect<Equal<Extract<CallCode, "APPROVAL_REQUIRED" | "DEPTH" | "LEDGER">, "APPROVAL_REQUIRED" | "DEPTH" | "LEDGER">>,
  Expect<Equal<Extract<CauseCode, "DEPTH" | "REPEATED_CALL">, "REPEATED_CALL">>,
  Expect<Equal<Extract<ErrorCode, "APPROVAL_MISMATCH" | "REPLAY_MISMATCH">, "APPROVAL_MISMATCH" | "REPLAY_MISMATCH">>,
];

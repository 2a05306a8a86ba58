import { asTool, defineAgent, definePart, defineSource, defineTool, toolError, toolResult } from "keel-native";
import type { Agent, DelegationFailure, Json, Model, Part, Tool, ToolContext } from "keel-native";
import { z } from "zod";
import { expectType } from "./expect.js";
import type { Equal, Expect } from "./expect.js";

declare const model: Model;

const findings = definePart({
  name: "findings",
  schema: z.object({ items: z.array(z.string()).default([]) }),
  persist: "content",
});
const note = definePart({ name: "note", schema: { type: "object", properties: { text: { type: "string" } } } });
const score = definePart({ name: "score", schema: { type: "number" } });

export type Parts = [
  Expect<Equal<typeof findings, Part<"findings", { items: string[] }, { items?: string[] | undefined }>>>,
  Expect<Equal<typeof note, Part<"note", Record<string, unknown>>>>,
  Expect<Equal<typeof score, Part<"score", Json>>>,
];

const search = defineTool({
  id: "search",
  input: z.object({ query: z.string(), limit: z.number().default(10) }),
  output: z.object({ hits: z.number() }),
  access: "public",
  concurrency: (input) => (input.limit > 1 ? "exclusive" : "shared"),
  execute(input, ctx) {
    expectType<Equal<typeof input, { query: string; limit: number }>>();
    expectType<Equal<typeof ctx, ToolContext>>();
    return { hits: input.limit };
  },
});

const plain = defineTool({
  id: "plain",
  inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  access: { scopes: ["read"] },
  async execute(input) {
    expectType<Equal<typeof input, Record<string, unknown>>>();
    return input["a"];
  },
});

const external = defineTool({
  id: "ask_human",
  input: z.object({ question: z.string() }),
  access: (who) => who.identity?.id === "u1",
  external: true,
});

export type Tools = [
  Expect<
    Equal<
      typeof search,
      Tool<{ query: string; limit: number }, { hits: number }, { query: string; limit?: number | undefined }>
    >
  >,
  Expect<Equal<typeof plain, Tool<Record<string, unknown>, Json>>>,
  Expect<Equal<typeof external, Tool<{ question: string }, Json>>>,
];

const input = z.object({});
const output = z.object({ n: z.number() });
const access = "public";
defineTool({ id: "reply", input, output, access, execute: () => toolError("no") });
defineTool({ id: "reply", input, output, access, execute: async () => toolResult({ value: { n: 1 } }) });
defineTool({ id: "any_return", input, access: "authenticated", execute: () => new Date(0) });

// @ts-expect-error NT-08 access is required
defineTool({ id: "open", input, execute: () => 1 });
// @ts-expect-error execute is required unless the tool is external
defineTool({ id: "bodiless", input, access });
// @ts-expect-error an external tool has no body
defineTool({ id: "both", input, access, external: true, execute: () => 1 });
// @ts-expect-error a schema is required
defineTool({ id: "schemaless", access, execute: () => 1 });
// @ts-expect-error one schema is enough
defineTool({ id: "two_schemas", input, inputSchema: input, access, execute: () => 1 });
// @ts-expect-error NT-09 unknown option
defineTool({ id: "typo", input, access, timeout: 5, execute: () => 1 });
// @ts-expect-error the body must return what `output` says
defineTool({ id: "wrong", input, output, access, execute: () => ({ n: "1" }) });
// @ts-expect-error a part persists as content or not at all
definePart({ name: "p", schema: z.string(), persist: "forever" });

defineTool({
  id: "caller",
  input: z.object({}),
  access: "public",
  async execute(_input, ctx) {
    ctx.emit(findings, { items: ["a"] });
    ctx.emit(findings, {});
    // @ts-expect-error the part's schema says strings
    ctx.emit(findings, { items: [1] });

    const result = await ctx.callTool(search, { query: "x" }, { signal: AbortSignal.timeout(5) });
    const named = await ctx.callTool("search", { query: "x" });
    expectType<Equal<typeof result.value, { hits: number } | undefined>>();
    expectType<Equal<typeof named.value, Json | undefined>>();
    // @ts-expect-error the tool's input has a string there
    void ctx.callTool(search, { query: 1 });
    // @ts-expect-error the tool's input has no such field missing
    void ctx.callTool(search, {});

    const delegated = await ctx.callTool(withContract, { brief: "go" });
    if (delegated.value?.ok) return delegated.value.deliverable.items satisfies string[];
    ctx.progress({ done: 1, total: 2, message: ctx.identity?.id ?? "nobody" });
    return ctx.budget.timeLeftMs satisfies number | undefined;
  },
});

const researcher = defineAgent({
  id: "researcher",
  model,
  instructions: async ({ agentId }) => `You are ${agentId}.`,
  tools: [search, plain, external],
  emits: [findings, note],
  reads: [defineSource({ id: "faq", access: "public", load: () => "…" })],
  grants: ["read"],
  budget: { steps: 4, timeMs: 15_000, onExhausted: "answer" },
  limits: { toolTimeout: { inheritedMs: 1000 }, tree: { steps: 100 } },
});
const silent = defineAgent({ id: "silent", model });
const withContract = asTool(researcher, { deliverable: findings, budget: { steps: 4 }, onError: "feedback" });
const withNudges = asTool(researcher, { deliverable: { part: findings, nudges: 3 } });
const withoutContract = asTool(researcher);
const withInput = asTool(researcher, {
  input: z.object({ topic: z.string(), depth: z.number().default(1) }),
  brief: (input) => {
    expectType<Equal<typeof input, { topic: string; depth: number }>>();
    return input.topic;
  },
  forward: { progress: true, parts: [note] },
  narrow: { scopes: [] },
});
const ofSilent = asTool(silent);

export type Connections = [
  Expect<Equal<typeof researcher, Agent<typeof findings | typeof note>>>,
  Expect<Equal<typeof silent, Agent<never>>>,
  Expect<Equal<Extract<ResultOf<typeof withContract>, { ok: true }>["deliverable"], { items: string[] }>>,
  Expect<Equal<Extract<ResultOf<typeof withNudges>, { ok: true }>["deliverable"], { items: string[] }>>,
  Expect<Equal<Extract<ResultOf<typeof withContract>, { ok: false }>, DelegationFailure>>,
  Expect<
    Equal<
      Extract<ResultOf<typeof withoutContract>, { ok: true }>["parts"][number],
      | { readonly part: "findings"; readonly value: { items: string[] } }
      | { readonly part: "note"; readonly value: Record<string, unknown> }
    >
  >,
  Expect<Equal<Extract<ResultOf<typeof ofSilent>, { ok: true }>["parts"], readonly never[]>>,
  Expect<Equal<ArgsOf<typeof withContract>, { brief: string }>>,
  Expect<Equal<ArgsOf<typeof withInput>, { topic: string; depth?: number | undefined }>>,
];
type ResultOf<T> = T extends Tool<infer _In, infer Out, infer _Args> ? Out : never;
type ArgsOf<T> = T extends Tool<infer _In, infer _Out, infer Args> ? Args : never;

// Any definition fits where the erased type is asked for.
const tools: readonly Tool[] = [search, plain, external, withContract, withoutContract, withInput];
const agents: readonly Agent[] = [researcher, silent];
const parts: readonly Part[] = [findings, note, score];
export { agents, parts, tools };

// @ts-expect-error NT-05 the deliverable must be in the child's emits
asTool(researcher, { deliverable: score });
// @ts-expect-error NT-05 an agent that emits nothing owes nothing
asTool(silent, { deliverable: findings });
// @ts-expect-error NT-09 a forwarded part must be in the child's emits
asTool(researcher, { forward: { parts: [score] } });
// @ts-expect-error NT-09 unknown option
asTool(researcher, { retry: 1 });
// @ts-expect-error NT-28 two policies only
asTool(researcher, { onError: "ignore" });
// @ts-expect-error D-29 agents are not tools: connect them with asTool
defineAgent({ id: "a", model, tools: [researcher] });
// @ts-expect-error a budget is made of numbers
defineAgent({ id: "a", model, budget: { steps: "5" } });
// @ts-expect-error definitions are immutable (NT-04)
researcher.id = "other";

// D-29 agents in a cycle: one annotation, and a function on one side.
const writer: Agent = defineAgent({ id: "writer", model, tools: () => [asTool(editor)] });
const editor = defineAgent({ id: "editor", model, tools: [asTool(writer)] });

/**
 * The leanest JavaScript peer: one `Agent` of pi-agent-core per run, since it holds one conversation, and a stream function
 * in place of a provider. Its schemas are TypeBox's, as its users write them, and it checks arguments with them. It has
 * neither an API for delegation, so a tool runs a fresh `Agent`, nor calls of tools by tools.
 *
 * `npm run bench:peers` installs it.
 */

import * as work from "./work.js";

const packages = new URL("../.peers/pi/node_modules/@mariozechner/", import.meta.url);
const { Agent } = await import(new URL("pi-agent-core/dist/index.js", packages).href);
const { createAssistantMessageEventStream, Type } = await import(new URL("pi-ai/dist/index.js", packages).href);

/** @typedef {{ role: string, content: any[], stopReason: string, errorMessage?: string }} Message */

const { counters, FINAL } = work;
const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { ...COST, total: 0 } };
const MODEL = {
  id: "scripted",
  name: "scripted",
  api: "scripted",
  provider: "scripted",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: COST,
  contextWindow: 1e9,
  maxTokens: 1e5,
};

const probe = tool("probe", Type.Object({ q: Type.String(), n: Type.Number() }), async (input) => work.toolBody(input));

const child = tool("child", Type.Object({ brief: Type.String() }), async ({ brief }) => {
  counters.child += 1;
  return runToEnd(scripted("probe", work.argsFor, 0), [probe], brief);
});

export default {
  name: "pi-agent-core",
  pkg: "@mariozechner/pi-agent-core",
  runTrivial: () => runSteps(0),
  runSteps,
  /** @param {number} count */
  runDelegations: (count) =>
    runToEnd(
      scripted("child", (index) => ({ brief: `go ${index}` }), count),
      [child],
      "go",
    ),
  /**
   * @param {number} runs
   * @param {number} steps
   * @param {number} delayMs
   */
  runConcurrent: (runs, steps, delayMs) => Promise.all(Array.from({ length: runs }, () => runSteps(steps, delayMs))),
};

/**
 * @param {number} count
 * @param {number} [delayMs]
 */
function runSteps(count, delayMs = 0) {
  return runToEnd(scripted("probe", work.argsFor, count, delayMs), [probe], "go");
}

/**
 * @param {() => Promise<unknown>} streamFn
 * @param {unknown[]} tools
 * @param {string} input
 * @returns {Promise<string>} the final text
 */
async function runToEnd(streamFn, tools, input) {
  const agent = new Agent({ initialState: { systemPrompt: "s", model: MODEL, tools }, streamFn });
  await agent.prompt(input);
  const last = /** @type {Message} */ (agent.state.messages.at(-1));
  if (last.stopReason !== "stop") throw new Error(last.errorMessage ?? `ended with '${last.stopReason}'`);
  return last.content[0].text;
}

/**
 * @param {string} name
 * @param {unknown} parameters
 * @param {(input: any) => Promise<unknown>} body
 */
function tool(name, parameters, body) {
  return {
    name,
    label: name,
    description: "d",
    parameters,
    /**
     * @param {string} _id
     * @param {unknown} input
     */
    async execute(_id, input) {
      const result = await body(input);
      const text = typeof result === "string" ? result : JSON.stringify(result);
      return { content: [{ type: "text", text }], details: result };
    },
  };
}

/**
 * A model that calls `name` in each of `count` steps and then answers, each reply in one piece.
 *
 * @param {string} name
 * @param {(index: number) => unknown} argsFor
 * @param {number} count
 * @param {number} [delayMs]
 */
function scripted(name, argsFor, count, delayMs = 0) {
  let index = 0;
  return async () => {
    if (delayMs > 0) await work.sleep(delayMs);
    const isLast = index >= count;
    const content = isLast
      ? [{ type: "text", text: FINAL }]
      : [{ type: "toolCall", id: `c${index}`, name, arguments: argsFor(index) }];
    index += 1;
    const message = replyOf(content, isLast ? "stop" : "toolUse");
    const stream = createAssistantMessageEventStream();
    stream.push({ type: "start", partial: message });
    stream.push({ type: "done", reason: message.stopReason, message });
    stream.end(message);
    return stream;
  };
}

/**
 * @param {unknown[]} content
 * @param {string} stopReason
 */
function replyOf(content, stopReason) {
  const { api, provider, id: model } = MODEL;
  return { role: "assistant", content, api, provider, model, usage: USAGE, stopReason, timestamp: Date.now() };
}

/**
 * The yardstick: the loop that one would write by hand. It decodes each reply and each call's arguments once, has zod check
 * them, awaits the tool and encodes its result once. It has no budgets, records, events, stops or retries.
 */

import { z } from "zod";

import * as work from "./work.js";

/** @typedef {{ schema: z.ZodType, execute: (input: any) => Promise<unknown> }} BareTool */
/** @typedef {Record<string, BareTool>} BareTools */

const { counters, FINAL } = work;
const schema = work.schemaOf(z);
const briefSchema = z.object({ brief: z.string() });

/** @type {BareTools} */
const tools = { probe: { schema, execute: async (input) => work.toolBody(input) } };

/** @type {BareTools} */
const delegating = {
  child: {
    schema: briefSchema,
    execute: async ({ brief }) => {
      counters.child += 1;
      return (await loop(scripted("probe", work.argsFor, 0), tools, brief)).text;
    },
  },
};

export default {
  name: "bare",
  pkg: null,
  runTrivial: () => runSteps(0),
  runSteps,
  /** @param {number} count */
  runDelegations: (count) =>
    loop(
      scripted("child", (index) => ({ brief: `go ${index}` }), count),
      delegating,
      "go",
    ),
  /**
   * @param {number} runs
   * @param {number} steps
   * @param {number} delayMs
   */
  runConcurrent: (runs, steps, delayMs) => Promise.all(Array.from({ length: runs }, () => runSteps(steps, delayMs))),
  nested,
};

/**
 * @param {number} count
 * @param {number} [delayMs]
 */
function runSteps(count, delayMs = 0) {
  return loop(scripted("probe", work.argsFor, count, delayMs), tools, "go");
}

/**
 * One tool that calls another one `count` times.
 *
 * @param {number} count
 */
function nested(count) {
  /** @type {BareTools} */
  const nesting = {
    inner: { schema, execute: async (input) => work.nestedBody(input) },
    outer: {
      schema,
      execute: async () => {
        for (let index = 0; index < count; index += 1) {
          JSON.parse(await call(nesting, "inner", JSON.stringify(work.argsFor(index))));
        }
        return { ok: true };
      },
    },
  };
  return loop(scripted("outer", work.argsFor, 1), nesting, "go");
}

/**
 * @param {() => Promise<string>} model
 * @param {BareTools} available
 * @param {string} input
 */
async function loop(model, available, input) {
  /** @type {any[]} */
  const messages = [{ role: "user", content: input }];
  for (;;) {
    const reply = JSON.parse(await model());
    messages.push(reply);
    if (!reply.tool_calls) return { text: reply.content, messages };
    for (const { id, name, input: text } of reply.tool_calls) {
      messages.push({ role: "tool", tool_call_id: id, content: await call(available, name, text) });
    }
  }
}

/**
 * @param {BareTools} available
 * @param {string} name
 * @param {string} text
 */
async function call(available, name, text) {
  const tool = available[name];
  if (!tool) return JSON.stringify({ error: `no tool '${name}'` });
  const checked = tool.schema.safeParse(JSON.parse(text));
  if (!checked.success) return JSON.stringify({ error: String(checked.error) });
  return JSON.stringify(await tool.execute(checked.data));
}

/**
 * A model that calls `name` in each of `count` steps and then answers.
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
    if (index >= count) return JSON.stringify({ role: "assistant", content: FINAL });
    const input = JSON.stringify(argsFor(index));
    index += 1;
    return JSON.stringify({ role: "assistant", content: null, tool_calls: [{ id: `c${index}`, name, input }] });
  };
}

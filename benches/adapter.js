/**
 * This package as a peer: `run` of the default keel with default options. Only budgets are raised, since a benchmark takes
 * more steps than the default allows. The model neither copies nor serialises what it is sent.
 */

import { z } from "zod";

import { asTool, createKeel, defineAgent, defineMiddleware, defineTool, run } from "../js/index.js";
import * as ownWork from "./work.js";

export default adapterFor(ownWork);

/**
 * The adapter over anybody's counters and tool bodies.
 *
 * @param {Pick<typeof ownWork, "counters" | "FINAL" | "argsFor" | "schemaOf" | "toolBody" | "nestedBody" | "sleep">} work
 */
export function adapterFor(work) {
  const probe = defineTool({
    id: "probe",
    description: "d",
    input: work.schemaOf(z),
    access: "public",
    execute: async (/** @type {any} */ input) => work.toolBody(input),
  });

  /**
   * @param {number} count
   * @param {number} delayMs
   */
  const stepper = (count, delayMs) =>
    defineAgent({ id: "stepper", model: scripted("probe", work.argsFor, count, delayMs), tools: [probe] });
  /** @param {number} count */
  const delegator = (count) => {
    const child = defineAgent({
      id: "child",
      model: {
        id: "counting",
        generate: async () => {
          work.counters.child += 1;
          return { text: work.FINAL };
        },
      },
      tools: [probe],
    });
    const tool = asTool(child, { id: "child", description: "child", access: "public" });
    const argsFor = (/** @type {number} */ index) => ({ brief: `go ${index}` });
    return defineAgent({ id: "delegator", model: scripted("child", argsFor, count, 0), tools: [tool] });
  };

  /**
   * A model that calls `name` in each of `count` steps and then answers; the step is told by the messages, as one agent
   * serves many runs.
   *
   * @param {string} name
   * @param {(index: number) => unknown} argsFor
   * @param {number} count
   * @param {number} delayMs
   */
  const scripted = (name, argsFor, count, delayMs) => ({
    id: "scripted",
    generate: async (/** @type {{ messages: readonly unknown[] }} */ { messages }) => {
      if (delayMs > 0) await work.sleep(delayMs);
      const index = (messages.length - 1) >> 1;
      if (index >= count) return { text: work.FINAL };
      const input = JSON.stringify(argsFor(index));
      return { toolCalls: [{ toolCallId: `c${index}`, toolName: name, input }] };
    },
  });

  /**
   * An agent with a tool that calls another one `count` times.
   *
   * @param {number} count
   */
  const nester = (count) => {
    const inner = defineTool({
      id: "inner",
      description: "d",
      input: work.schemaOf(z),
      access: "public",
      execute: async (/** @type {any} */ input) => work.nestedBody(input),
    });
    const outer = defineTool({
      id: "outer",
      description: "d",
      input: work.schemaOf(z),
      access: "public",
      async execute(/** @type {any} */ _input, /** @type {any} */ { callTool }) {
        for (let index = 0; index < count; index += 1) await callTool(inner, work.argsFor(index));
        return { ok: true };
      },
    });
    return defineAgent({ id: "nester", model: scripted("outer", work.argsFor, 1, 0), tools: [outer, inner] });
  };

  const nesters = definedOnce(nester);
  // Made when they are needed: what a start costs is one keel.
  const nesting = definedOnce(() => createKeel({ limits: { maxNestedDepth: 1 } }));
  const guarded = definedOnce(() => createKeel({ limits: { maxNestedDepth: 1 }, middleware: [1, 2, 3].map(guard) }));
  const unrecording = definedOnce(() => createKeel({ keep: { trees: 0 } }));

  const idle = stepper(0, 0);
  const steppers = definedOnce(stepper);
  const delegators = definedOnce(delegator);

  return {
    name: "keel-native",
    pkg: "keel-native",
    runTrivial: () => runToEnd(idle, 0),
    /**
     * @param {number} count
     * @param {number} [delayMs]
     */
    runSteps: (count, delayMs = 0) => runToEnd(steppers(count, delayMs), count),
    /** @param {number} count */
    runDelegations: (count) => runToEnd(delegators(count), count),
    /**
     * @param {number} runs
     * @param {number} steps
     * @param {number} delayMs
     */
    runConcurrent: (runs, steps, delayMs) => {
      const agent = steppers(steps, delayMs);
      return Promise.all(Array.from({ length: runs }, () => runToEnd(agent, steps)));
    },
    /**
     * The same on a keel that forgets each tree when it has ended.
     *
     * @param {number} runs
     * @param {number} steps
     * @param {number} delayMs
     */
    runConcurrentUnrecorded: (runs, steps, delayMs) => {
      const agent = steppers(steps, delayMs);
      const keel = unrecording();
      return Promise.all(Array.from({ length: runs }, () => runToEnd(agent, steps, keel)));
    },
    /** @param {number} count */
    nested: (count) => runToEnd(nesters(count), count + 1, nesting()),
    /** @param {number} count */
    nestedGuarded: (count) => runToEnd(nesters(count), count + 1, guarded()),
  };
}

/**
 * A middleware that looks at every call and its result and lets it pass.
 *
 * @param {number} index
 */
function guard(index) {
  const admit = () => undefined;
  return defineMiddleware({
    name: `guard-${index}`,
    beforeTool: admit,
    checkNestedTool: admit,
    observeNestedResult: admit,
  });
}

/**
 * @param {any} agent
 * @param {number} calls
 * @param {{ run: typeof run }} [keel] the default one if not given
 */
async function runToEnd(agent, calls, keel = { run }) {
  const result = await keel.run(agent, "go", { budget: { steps: calls + 1, toolCalls: Math.max(calls, 1) } });
  result.orThrow();
  return result;
}

/**
 * An application defines an agent once and runs it often.
 *
 * @template {number[]} Arguments
 * @param {(...given: Arguments) => any} define
 */
function definedOnce(define) {
  const defined = new Map();
  return (/** @type {Arguments} */ ...given) => {
    const key = given.join(" ");
    if (!defined.has(key)) defined.set(key, define(...given));
    return defined.get(key);
  };
}

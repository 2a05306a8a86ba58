/** A model that answers from a script, for tests of agents that need no provider and no network. */

import { checkOptions } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { playStep } from "./play-step.js";

/**
 * One script per model object, consumed in call order over all turns that use it; `perTurn` gives each turn its own run
 * through the script. A function in place of the script is asked for every call.
 *
 * @param {unknown[] | ((request: any, call: any) => unknown)} script
 * @param {{ id?: string, perTurn?: boolean, chunks?: number, usage?: import("./script-step.js").StepUsage }} [options]
 */
export function scriptedModel(script, options = {}) {
  checkOptions(options, ["id", "perTurn", "chunks", "usage"], "scriptedModel");
  const id = options.id ?? "scripted";
  const chunks = options.chunks ?? 1;
  const usage = options.usage ?? USAGE;
  checkScript(script, chunks);
  /** @type {any[]} */
  const requests = [];
  /** @type {Map<string | undefined, { calls: number, ids: number }>} */
  const runs = new Map();
  const isShared = typeof script !== "function" && !options.perTurn;

  return {
    id,
    requests,

    /**
     * @param {any} request
     * @param {any} given
     */
    async generate(request, given = {}) {
      requests.push(Object.freeze({ ...request, messages: Object.freeze([...request.messages]) }));
      const key = isShared ? undefined : given.turnId;
      const run = runs.get(key) ?? { calls: 0, ids: 0 };
      runs.set(key, run);
      run.calls += 1;
      const step = typeof script === "function" ? script : stepOf(script, run.calls, id);
      return playStep(step, request, {
        options: given,
        call: run.calls,
        nextId: () => `call-${(run.ids += 1)}`,
        chunks,
        usage,
      });
    },

    assertComplete() {
      if (typeof script === "function") return;
      const started = runs.size === 0 ? [{ calls: 0 }] : [...runs.values()];
      const behind = started.find((run) => run.calls < script.length);
      if (!behind) return;
      throw new Error(
        `scripted model '${id}': expected all ${script.length} steps of its script to be used, found ${behind.calls} used; next would be ${describeStep(script[behind.calls])}`,
      );
    },
  };
}

/**
 * @param {unknown} script
 * @param {number} chunks
 */
function checkScript(script, chunks) {
  if (typeof script !== "function" && !Array.isArray(script)) {
    throw new KeelError(
      "OPTION_INVALID",
      `scriptedModel: expected an array of steps or a function, found ${typeof script}`,
    );
  }
  if (!Number.isInteger(chunks) || chunks < 1) {
    throw new KeelError(
      "OPTION_INVALID",
      `scriptedModel: expected chunks to be a positive whole number, found ${String(chunks)}`,
    );
  }
}

/**
 * @param {unknown[]} script
 * @param {number} call
 * @param {string} id
 */
function stepOf(script, call, id) {
  if (call <= script.length) return script[call - 1];
  const found = `call ${call} exceeds the script of ${script.length} ${script.length === 1 ? "step" : "steps"}`;
  const error = new KeelError("MODEL_ERROR", `scripted model '${id}': ${found}`);
  throw Object.assign(error, { isRetryable: false });
}

/** @param {any} step */
function describeStep(step) {
  if (typeof step === "function") return "a function";
  if (Array.isArray(step)) return `an array of ${step.length}`;
  return step?.step === "tool-call" ? `a call to '${step.toolName}'` : String(step?.step ?? "a reply");
}

/** What a step costs unless it says otherwise. */
const USAGE = Object.freeze({ inputTokens: 10, outputTokens: 5, totalTokens: 15 });

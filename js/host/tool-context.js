/**
 * What a tool's body gets as its second argument. Its fields are getters, since most bodies read few of them, and its
 * functions may be taken off it.
 */

import { describe, optionInvalid } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { compile } from "../schema/to-schema.js";
import { callTool } from "./call-tool.js";

/** @import { HostCall } from "./host-call.js" */

export class ToolContext {
  #call;

  /** @param {HostCall} call */
  constructor(call) {
    this.#call = call;
  }

  get turnId() {
    return this.#call.turn.turnId;
  }

  get rootTurnId() {
    return this.#call.turn.run.turnId;
  }

  get parentTurnId() {
    return this.#call.turn.parentTurnId;
  }

  get agentId() {
    return this.#call.turn.agent.definition.id;
  }

  get callId() {
    return this.#call.callId;
  }

  get parentCallId() {
    return this.#call.parentCallId;
  }

  /** 0: issued by the model. */
  get level() {
    return this.#call.level;
  }

  get attempt() {
    return this.#call.turn.attempt;
  }

  get signal() {
    return this.#call.signal;
  }

  get abortSignal() {
    return this.#call.signal;
  }

  get identity() {
    return this.#call.turn.run.identity;
  }

  get ambient() {
    return this.#call.turn.run.ambient;
  }

  get budget() {
    const { run, turnId } = this.#call.turn;
    return run.host.query("budget", { turnId }, run) ?? { stepsLeft: 0, toolCallsLeft: 0, timeLeftMs: 0 };
  }

  get idempotencyKey() {
    const { turn, id } = this.#call;
    return turn.run.host.query("idempotencyKey", { id }, turn.run);
  }

  get callTool() {
    const call = this.#call;
    return (/** @type {any} */ toolOrId, /** @type {unknown} */ args, /** @type {any} */ options) =>
      callTool(call, toolOrId, args, options);
  }

  get emit() {
    const call = this.#call;
    return (/** @type {any} */ part, /** @type {unknown} */ value) => emit(call, part, value);
  }

  get progress() {
    const call = this.#call;
    return (/** @type {any} */ update) => progress(call, update);
  }
}

/**
 * @param {HostCall} call
 * @param {any} part
 * @param {unknown} value
 */
function emit(call, part, value) {
  if (call.over) throw call.over;
  const { agent } = call.turn;
  const index = agent.definition.emits.indexOf(part);
  const where = `tool '${call.tool.id}': ctx.emit`;
  if (index < 0) {
    const names = agent.emits.map(({ definition }) => `'${definition.name}'`).join(", ") || "none";
    throw new KeelError(
      "PART_NOT_EMITTED",
      `${where}: expected a part that agent '${agent.definition.id}' emits (${names}), found ${describe(part?.name ?? part)}`,
    );
  }
  const text = checkedPart(part, value, where);
  call.turn.run.host.letter(call, "emit", `{"part":${index},"value":${text}}`);
}

/**
 * The value of a part as its schema hands it on, as JSON text.
 *
 * @param {any} part
 * @param {unknown} value
 * @param {string} where
 */
function checkedPart(part, value, where) {
  const text = jsonText(value, where);
  const invalid = compile(part.schema).validate(text);
  if (invalid !== null) throw partInvalid(part, JSON.parse(invalid), where);
  if (!part.schema.standard) return text;
  const result = part.schema.standard["~standard"].validate(value);
  if (typeof result?.then === "function") {
    throw new KeelError(
      "PART_INVALID",
      `${where}: expected part '${part.name}' to have a schema that validates at once, found one that answers with a promise`,
    );
  }
  if (result.issues) throw partInvalid(part, result.issues, where);
  return jsonText(result.value, where);
}

/**
 * @param {any} part
 * @param {any[]} issues
 * @param {string} where
 */
function partInvalid(part, issues, where) {
  return new KeelError(
    "PART_INVALID",
    `${where}: expected a value that fits part '${part.name}', found: ${issues.map(({ message }) => message).join("; ")}`,
    { details: { issues } },
  );
}

/**
 * @param {unknown} value
 * @param {string} where
 */
function jsonText(value, where) {
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (cause) {
    throw new KeelError("PART_INVALID", `${where}: expected a JSON value, found ${describe(value)}`, { cause });
  }
  throw new KeelError("PART_INVALID", `${where}: expected a JSON value, found ${describe(value)}`);
}

/**
 * @param {HostCall} call
 * @param {any} update
 */
function progress(call, update) {
  if (call.over) return;
  if (typeof update !== "object" || update === null) {
    throw optionInvalid(`tool '${call.tool.id}': ctx.progress`, "{ message?, done?, total? }", update);
  }
  const { message, done, total } = update;
  const body = {
    progress: {
      ...(message !== undefined && { message: String(message) }),
      ...(Number.isFinite(done) && { done }),
      ...(Number.isFinite(total) && { total }),
    },
  };
  call.turn.run.host.letter(call, "progress", JSON.stringify(body));
}

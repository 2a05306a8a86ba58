/**
 * Commands that check and run calls of tools. A body is called from here alone: whatever it does (a throw, a value that is
 * no promise, a promise that never settles) ends in one answer or in none.
 */

import { scopeOf, expect, turnOf } from "./answering.js";
import { HostCall } from "./host-call.js";
import { tellError } from "./hook-commands.js";
import { resultAnswer, thrownAnswer } from "./tool-answer.js";
import { ToolContext } from "./tool-context.js";
import { validate } from "./validate.js";

/** @import { Host } from "../host.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const callCommands = {
  prepare(host, command) {
    const tool = turnOf(host, command).agent.tools[command.tool].definition;
    expect(host, command);
    /** @param {unknown} value */
    const accept = (value) => {
      host.prepared.set(command.key, value);
      if (typeof tool.concurrency !== "function") return '{"ok":{"exclusive":null}}';
      return JSON.stringify({ ok: { exclusive: tool.concurrency(value) !== "shared" } });
    };
    check(host, command, tool.input, command.args, accept);
  },

  preparePart(host, command) {
    const { schema } = turnOf(host, command).agent.emits[command.part].definition;
    expect(host, command);
    check(host, command, schema, command.value, (value) => JSON.stringify({ ok: { value: value ?? null } }));
  },

  call(host, command) {
    const turn = turnOf(host, command);
    const call = new HostCall(host, turn, command, expect(host, command));
    const { key, args, keep } = command;
    const input = args === null ? host.prepared.get(key) : args;
    if (!keep) host.prepared.delete(key);
    scopeOf(host, command).runInAsyncScope(runTool, undefined, host, call, input);
  },

  resolve(host, command) {
    host.tickets.settle(command, host.raised.take(command.thrownBy));
  },
};

/**
 * @param {Host} host
 * @param {any} command
 * @param {any} schema
 * @param {unknown} given
 * @param {(value: unknown) => string} accept
 */
function check(host, command, schema, given, accept) {
  const answer = (/** @type {string} */ text) => host.answer(command.id, text);
  scopeOf(host, command).runInAsyncScope(validate, undefined, schema, given, accept, answer);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {unknown} input
 */
function runTool(host, call, input) {
  const context = new ToolContext(call);
  host.samples.context = context;
  let returned;
  try {
    returned = call.tool.execute(input, context);
    if (typeof returned?.then !== "function") return settle(host, call, returned);
  } catch (error) {
    return settleThrown(host, call, error);
  }
  awaitTool(host, call, returned);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {PromiseLike<unknown>} promise
 */
async function awaitTool(host, call, promise) {
  let returned;
  try {
    returned = await promise;
  } catch (error) {
    return settleThrown(host, call, error);
  }
  settle(host, call, returned);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {unknown} returned
 */
function settle(host, call, returned) {
  let text;
  try {
    text = resultAnswer(call.tool, returned);
  } catch (error) {
    return settleThrown(host, call, error);
  }
  call.settle();
  host.answer(call.id, text);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {unknown} error
 */
function settleThrown(host, call, error) {
  call.settle();
  if (call.level === 0) tellError(call.turn, call.effect, error);
  if (host.effects.has(call.id) && (call.level > 0 || call.turn.wraps)) host.raised.keep(call.turn, call.id, error);
  host.answer(call.id, thrownAnswer(error));
}

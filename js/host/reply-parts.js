/**
 * The parts of a reply on their way into the core, one by one: the usual ones as plain arguments, the others as JSON text.
 */

import { native } from "../binding/native.js";
import { checkText } from "./check-arguments.js";

/** @import { Verdict } from "./check-arguments.js" */
/** @import { AgentProgram } from "./program.js" */

/**
 * @param {number} engine
 * @param {AgentProgram} agent
 * @param {readonly any[]} content
 * @param {readonly (Verdict | undefined)[]} checks of the calls that are ours to run, in their order
 */
export function tellParts(engine, { toolsById }, content, checks) {
  let calls = 0;
  for (const part of content) {
    if (part.type === "tool-call") {
      const isOurs = part.providerExecuted === undefined;
      tellCall(engine, toolsById.get(part.toolName), part, isOurs, isOurs ? checks[calls] : undefined);
      if (isOurs) calls += 1;
    } else if (part.type === "text" && part.providerOptions === undefined) {
      native.say(engine, part.text);
    } else {
      native.sayOther(engine, JSON.stringify(part));
    }
  }
}

/**
 * @param {number} engine
 * @param {{ index: number } | undefined} tool
 * @param {any} part
 * @param {boolean} isOurs
 * @param {Verdict | undefined} check
 */
function tellCall(engine, tool, part, isOurs, check) {
  const { toolCallId, toolName, input, providerOptions } = part;
  if (tool !== undefined && isOurs && providerOptions === undefined && typeof check !== "string") {
    if (check === undefined) native.call(engine, toolCallId, tool.index, input, -1, -1);
    else native.call(engine, toolCallId, tool.index, input, check.kept, check.exclusive);
    return;
  }
  const options = providerOptions === undefined ? undefined : JSON.stringify(providerOptions);
  const text = check === undefined || typeof check === "string" ? check : checkText(check);
  native.callWith(engine, toolCallId, toolName, input, !isOurs, options, text);
}

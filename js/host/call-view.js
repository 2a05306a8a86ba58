/** A call as hooks, the host's gate and humans are shown it. */

import { freezeDeep } from "../values/freeze-deep.js";
import { OWN } from "./command-queue.js";

/** @import { HostTurn } from "./host-turn.js" */

/**
 * The call as everybody is shown it, frozen all the way down.
 *
 * @param {HostTurn} turn
 * @param {number | null} ticket of a nested call
 * @param {number} place among the calls of the reply; negative: among the nested calls of its caller
 * @param {[tool: number, callId: string, args: any] | -2} sent by the kernel, where the host does not know the call
 */
export function callView(turn, ticket, place, sent) {
  if (sent !== OWN) {
    const [tool, callId, args] = sent;
    return freezeDeep(viewOf(turn, turn.agent.tools[tool].definition.id, callId, args));
  }
  if (place < 0) {
    /** @type {any} a nested call has a ticket for as long as the kernel asks about it */
    const known = turn.run.tickets.get(/** @type {number} */ (ticket));
    return (known.view ??= freezeDeep(
      viewOf(turn, known.toolId, `${known.caller.callId}/${-place}`, JSON.parse(known.args)),
    ));
  }
  const issued = turn.issued[place];
  const { toolName, toolCallId, input } = issued.part;
  return (issued.view ??= freezeDeep(viewOf(turn, toolName, toolCallId, JSON.parse(input))));
}

/**
 * @param {HostTurn} turn
 * @param {string} toolId
 * @param {string} callId
 * @param {any} args
 */
function viewOf({ turnId, agent }, toolId, callId, args) {
  const agentId = agent.definition.id;
  const parentCallId = parentOf(callId);
  if (parentCallId === undefined) return { toolId, callId, args, turnId, agentId, level: 0 };
  return { toolId, callId, parentCallId, args, turnId, agentId, level: levelOf(callId) };
}

/**
 * The call whose tool made a nested one: its id is what the nested one's begins with.
 *
 * @param {string} callId
 */
export function parentOf(callId) {
  const end = callId.lastIndexOf("/");
  return end < 0 ? undefined : callId.slice(0, end);
}

/**
 * 0: issued by the model.
 *
 * @param {string} callId
 */
export function levelOf(callId) {
  let level = 0;
  for (let at = callId.indexOf("/"); at >= 0; at = callId.indexOf("/", at + 1)) level += 1;
  return level;
}

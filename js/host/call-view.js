/** A call as hooks, the host's gate and humans are shown it. */

/** @import { HostTurn } from "./host-turn.js" */

/**
 * @param {HostTurn} turn
 * @param {[tool: number, callId: string, args: any]} sent by the kernel
 */
export function callView(turn, [tool, callId, args]) {
  const toolId = turn.agent.tools[tool].definition.id;
  const { turnId } = turn;
  const agentId = turn.agent.definition.id;
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
  return callId.split("/").length - 1;
}

/**
 * Contracts: the part that a turn has to deliver, whether a connection asks for it or the caller of run().
 */

import { KeelError } from "../error.js";
import { checkSubmitToolFree, knownTools } from "./agent.js";
import { checkCount, checkOptions } from "./options.js";
import { checkPart, isPart } from "./part.js";

/** @typedef {{ readonly part: import("./part.js").PartDefinition, readonly nudges: number }} Contract */

/** The plain form, `deliverable: part`, grants one round. */
const NUDGES = 1;

/**
 * The contract that a `deliverable` option stands for, its gates passed. An agent whose tools are a function that was
 * not asked yet passes the gate on the submit tool for now; `resolveTools` checks it when it is.
 *
 * @param {import("./agent.js").AgentDefinition} agent the one that is to deliver
 * @param {any} deliverable a part, or `{ part, nudges }`
 * @param {string} where names the place in messages
 * @returns {Contract}
 */
export function contractFor(agent, deliverable, where) {
  const contract = readDeliverable(deliverable, `${where}: deliverable`);
  const { part } = contract;
  if (!agent.emits.includes(part)) {
    const names = agent.emits.map(({ name }) => `"${name}"`).join(", ") || "none";
    const twin = agent.emits.some(({ name }) => name === part.name) ? " (a part of that name, but not this one)" : "";
    throw new KeelError(
      "DELIVERABLE_NOT_EMITTED",
      `${where}: expected part "${part.name}" to be in the emits of agent "${agent.id}", found: ${names}${twin}`,
    );
  }
  if (part.persist !== "content") {
    throw new KeelError(
      "DELIVERABLE_NOT_CONTENT",
      `${where}: expected part "${part.name}" to be declared with persist: "content", found "${part.persist}"`,
    );
  }
  const tools = knownTools(agent);
  if (tools) checkSubmitToolFree(agent, part, where, tools);
  return contract;
}

/**
 * @param {any} deliverable
 * @param {string} where
 * @returns {Contract}
 */
function readDeliverable(deliverable, where) {
  if (isPart(deliverable)) return Object.freeze({ part: deliverable, nudges: NUDGES });
  if (deliverable?.kind !== undefined) checkPart(deliverable, where);
  checkOptions(deliverable, ["part", "nudges"], where);
  const part = checkPart(deliverable.part, `${where}.part`);
  return Object.freeze({ part, nudges: checkCount(deliverable.nudges, `${where}.nudges`) ?? NUDGES });
}

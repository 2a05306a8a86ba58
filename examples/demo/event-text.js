/** An event in a few words, or nothing for those that the demo does not tell. */

import { granted, spent } from "./turn-line.js";

/** @import { Cause, Issue, KeelEvent, TurnRecord } from "keel-native" */

/**
 * @param {KeelEvent} event
 * @param {TurnRecord} record of the event's turn
 * @returns {string | undefined}
 */
export function eventText(event, record) {
  switch (event.type) {
    case "turn.started":
      return `turn opens with ${granted(record.budget)}${event.attempt === 1 ? "" : `, attempt ${event.attempt}`}`;
    case "step.started":
      return `step ${event.step}`;
    case "step.restarted":
      return `step ${event.step} again: ${event.reason.message}`;
    case "tool.started":
      return `-> ${event.toolId} ${JSON.stringify(event.input)}`;
    case "tool.progress":
      return `.. ${event.toolId}: ${progressText(event)}${event.forwardedFrom === undefined ? "" : "  (forwarded)"}`;
    case "tool.completed":
      return `<- ${event.toolId} ${event.isError ? "answers with a failure" : "answers"}, ${event.outputBytes} bytes`;
    case "tool.failed":
    case "tool.refused":
      return `<- ${event.toolId}: ${event.error.code} ${event.error.message}`;
    case "part.emitted":
      return `part ${event.part} ${JSON.stringify(event.value)}${event.forwardedFrom === undefined ? "" : "  (forwarded)"}`;
    case "nudge.sent":
      return `nudge ${event.nudge}: "${event.part}" is owed${issuesText(event.issues)}`;
    case "limit.reached":
      return `limit reached: ${event.limit} ${event.max}`;
    case "turn.retried":
      return `tries again after ${event.cause.code}`;
    case "turn.completed":
      return `turn completed after ${spent(record)}`;
    case "turn.failed":
      return `turn failed after ${spent(record)}: ${causeText(event.cause)}`;
    case "turn.stopped":
      return `turn stopped after ${spent(record)}: ${String(event.reason)}`;
    default:
      return undefined;
  }
}

/** @param {Cause} cause */
export function causeText({ code, message }) {
  return `${code}, ${message}`;
}

/** @param {{ message?: string, done?: number, total?: number }} progress */
function progressText({ message = "", done, total }) {
  return done === undefined || total === undefined ? message : `${message} (${done} of ${total})`;
}

/** @param {readonly Issue[]} [issues] */
export function issuesText(issues = []) {
  return issues.map(({ path, message }) => `; ${path}: ${message}`).join("");
}

/** A context outside any turn, for calling a tool's `execute` by itself. */

import { KeelError } from "../error.js";

/**
 * @param {Record<string, unknown>} [overrides] fields that take the place of the defaults
 * @returns {any}
 */
export function toolContext(overrides = {}) {
  const controller = new AbortController();
  const context = {
    turnId: "test-turn",
    rootTurnId: "test-turn",
    agentId: "test-agent",
    callId: "test-call",
    level: 0,
    attempt: 1,
    signal: controller.signal,
    budget: { stepsLeft: 25, timeLeftMs: undefined, toolCallsLeft: 50 },
    idempotencyKey: "test-idempotency-key",
    /** @param {any} toolOrId */
    callTool(toolOrId) {
      const name = typeof toolOrId === "string" ? toolOrId : toolOrId?.id;
      const refused = Promise.reject(
        new KeelError(
          "TOOL_FAILED",
          `cannot call tool '${name}' from tool call '${context.callId}': nested tool calls are only available while the agent loop executes the calling tool`,
        ),
      );
      // A tool may leave the promise alone.
      refused.catch(() => {});
      return refused;
    },
    emit() {},
    progress() {},
    ...overrides,
  };
  return { abortSignal: context.signal, ...context };
}

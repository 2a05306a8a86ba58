import { defineMiddleware } from "../definitions/define-middleware.js";
import { checkStrings } from "../definitions/options.js";
import { KeelError } from "../error.js";

/**
 * Admits the named tools only, for the model and for tools alike, and offers no others to the model.
 *
 * @param {readonly string[]} ids
 */
export function toolAllowlist(ids) {
  const allowed = new Set(checkStrings(ids, "toolAllowlist"));

  /** @param {any} _context @param {any} call */
  const check = (_context, { toolId }) => {
    if (!allowed.has(toolId)) throw new KeelError("VALIDATION", `tool \`${toolId}\` is not on the allowlist`);
  };
  return defineMiddleware({
    name: "toolAllowlist",
    beforeTool: check,
    checkNestedTool: check,
    beforeModel: (/** @type {any} */ _context, /** @type {any} */ request) =>
      offerOnly(request, (id) => allowed.has(id)),
  });
}

/**
 * A request without the tools that would be refused. A submit tool is no tool of the agent's, and stays.
 *
 * @param {any} request
 * @param {(id: string) => boolean} admits
 */
export function offerOnly(request, admits) {
  const tools = request.tools.filter((/** @type {any} */ { name }) => name.startsWith("submit_") || admits(name));
  return tools.length === request.tools.length ? undefined : { ...request, tools };
}

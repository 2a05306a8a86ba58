import { defineMiddleware } from "../definitions/define-middleware.js";
import { checkOptions, checkStrings, checkType } from "../definitions/options.js";
import { KeelError } from "../error.js";

/**
 * Lets a human decide about the named tools. A call of the model that nobody allowed waits for one; a nested call is
 * refused, since nobody could be asked.
 *
 * @param {{ tools: readonly string[], approve?: (call: any) => any }} options
 */
export function humanApproval(options) {
  checkOptions(options, ["tools", "approve"], "humanApproval");
  const flagged = new Set(checkStrings(options.tools, "humanApproval: tools"));
  const approve = checkType(/** @type {any} */ (options.approve), "function", "humanApproval: approve");

  /** @param {any} _context @param {any} call */
  const check = async (_context, call) => {
    if (!flagged.has(call.toolId)) return undefined;
    const verdict = await approve?.(call);
    if (verdict === "allow" || verdict === true) return undefined;
    if (typeof verdict?.deny === "string") throw new KeelError("TOOL_FAILED", verdict.deny);
    return "defer";
  };
  return defineMiddleware({ name: "humanApproval", beforeTool: check, checkNestedTool: check });
}

/** The work that every peer of the benchmark does, and the counters that prove it was done. */

/** How often the body of each tool ran; `child` counts delegations. */
export const counters = { tool: 0, child: 0, nested: 0 };

export const FINAL = "final answer";

/** The arguments that the model asks for in step `index`. */
export const argsFor = (/** @type {number} */ index) => ({ q: "hello", n: index });

/**
 * Their schema.
 *
 * @param {typeof import("zod").z} z
 */
export const schemaOf = (z) => z.object({ q: z.string(), n: z.number() });

/** The body of the tool that a model calls. */
export function toolBody(/** @type {{ n: number }} */ { n }) {
  counters.tool += 1;
  return { ok: true, i: n, text: TEXT };
}

/** The body of the tool that a tool calls. */
export function nestedBody(/** @type {{ n: number }} */ { n }) {
  counters.nested += 1;
  return { ok: true, i: n, text: TEXT };
}

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const TEXT = "x".repeat(200);

/**
 * ArkType types through their own methods.
 */

/**
 * What ArkType cannot express beyond the JSON values themselves (predicates, morphs) it leaves out; a type that is not
 * in JSON at all (Date, Map, bigint) has no JSON Schema form.
 *
 * @param {any} type
 * @param {import("./convert.js").OwnConverter | undefined} own
 * @returns {import("./convert.js").Converted}
 */
export function convertArktype(type, own) {
  const options = { fallback: { date: refuse, domain: refuse, proto: refuse } };
  if (own) return { json: own(options), marked: true };
  const base = (/** @type {any} */ context) => context.base;
  const fallback = { ...options.fallback, morph: base, patternIntersection: base, predicate: base };
  return { json: type.in.toJsonSchema({ fallback }), marked: true };
}

/** @param {any} context */
function refuse(context) {
  throw new Error(`JSON has no value for ${context.proto?.name ?? context.domain ?? context.code}`);
}

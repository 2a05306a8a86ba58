/**
 * Converts a list that grows between two looks at it, as a turn's messages do from step to step: what was converted once
 * stays converted, so that a step costs what is new in it.
 */

/**
 * @template T
 * @typedef {object} Converted
 * @property {T[]} results of the items so far
 * @property {number} count how many items that were
 * @property {any} last the newest of them
 */

/**
 * @template T
 * @param {(item: any) => T | undefined} convert undefined leaves an item out
 * @returns {(items: readonly any[]) => T[]} a new array for each call
 */
export function convertGrowing(convert) {
  /** @type {WeakMap<object, Converted<T>>} */
  const lists = new WeakMap();

  return (items) => {
    const list = lists.get(items) ?? { results: [], count: 0, last: undefined };
    if (list.count > 0 && items[list.count - 1] !== list.last) return convertAll(items);
    for (let index = list.count; index < items.length; index += 1) {
      // Nothing vouches for an object that is not frozen: it is converted anew each time.
      if (!isFrozenObject(items[index])) return convertAll(items);
      const result = convert(items[index]);
      if (result !== undefined) list.results.push(result);
      list.count = index + 1;
      list.last = items[index];
    }
    lists.set(items, list);
    return list.results.slice();
  };

  /** @param {readonly any[]} items */
  function convertAll(items) {
    return items.map(convert).filter((result) => result !== undefined);
  }
}

/** @param {unknown} value */
function isFrozenObject(value) {
  return typeof value === "object" && value !== null && Object.isFrozen(value);
}

/**
 * Converts a list that grows by a few items between two looks at it, as a transcript does from step to step: what has not
 * changed since is compared, not converted, so that a step costs what is new in it.
 */

/**
 * @template T
 * @typedef {object} Converted
 * @property {any[]} items frozen objects
 * @property {T[]} results
 * @property {number[]} ends how many results there are up to and with each item
 */

/**
 * @template T
 * @param {(item: any) => T | undefined} convert called at most once for each frozen object; undefined leaves an item out
 * @returns {(items: readonly any[]) => T[]} a new array for each call
 */
export function convertGrowing(convert) {
  /** @type {WeakMap<object, T | undefined>} */
  const known = new WeakMap();
  /** @type {WeakMap<object, Converted<T>>} */
  const lists = new WeakMap();

  return (items) => {
    // A turn's input is its own, unlike instructions: it tells the lists of one agent's turns apart.
    const key = items[Math.min(1, items.length - 1)];
    if (!isFrozenObject(key)) return convertAll(items);
    const list = lists.get(key) ?? { items: [], results: [], ends: [] };
    lists.set(key, list);
    forgetWhatDiffers(list, items);
    for (let index = list.items.length; index < items.length; index += 1) {
      // Nothing vouches for an object that is not frozen.
      if (!isFrozenObject(items[index])) return [...list.results, ...convertAll(items.slice(index))];
      const result = once(items[index]);
      if (result !== undefined) list.results.push(result);
      list.items.push(items[index]);
      list.ends.push(list.results.length);
    }
    return list.results.slice();
  };

  /** @param {readonly any[]} items */
  function convertAll(items) {
    return items.map(once).filter((result) => result !== undefined);
  }

  /** @param {any} item */
  function once(item) {
    if (!isFrozenObject(item)) return convert(item);
    if (!known.has(item)) known.set(item, convert(item));
    return known.get(item);
  }
}

/** @param {unknown} value */
function isFrozenObject(value) {
  return typeof value === "object" && value !== null && Object.isFrozen(value);
}

/**
 * @param {Converted<unknown>} list
 * @param {readonly any[]} items
 */
function forgetWhatDiffers(list, items) {
  let same = 0;
  while (same < list.items.length && list.items[same] === items[same]) same += 1;
  list.items.length = same;
  list.ends.length = same;
  list.results.length = list.ends[same - 1] ?? 0;
}

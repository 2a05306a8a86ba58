/**
 * Optional peers: converters that an application brings along, loaded when the first schema needs one.
 */

import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * Loads a module, looking from the application's entry point, from its working directory and from this package.
 *
 * @param {string} name
 * @returns {any} undefined when it is not installed
 */
export function loadPeer(name) {
  const entry = process.argv[1];
  const bases = [...(entry ? [entry] : []), join(process.cwd(), "package.json"), import.meta.url];
  for (const base of bases) {
    const require = createRequire(base);
    try {
      require.resolve(name);
    } catch {
      continue;
    }
    return require(name);
  }
  return undefined;
}

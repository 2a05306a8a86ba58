/** The garbage collector of whichever runtime this is, to be called by a test. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export function collector() {
  if (typeof globalThis.Bun !== "undefined") return () => globalThis.Bun.gc(true);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

// What js/index.js exports and what index.d.ts declares are the same names.
import type * as declared from "../../index.d.ts";
import { ERROR_CODES } from "../../js/error.js";
import * as implemented from "../../js/index.js";
import type { Equal, Expect } from "./expect.js";
import type { ErrorCode } from "keel-native";

implemented satisfies typeof declared;
export type Undeclared = Expect<Equal<Exclude<keyof typeof implemented, keyof typeof declared>, never>>;

export type Codes = Expect<Equal<keyof typeof ERROR_CODES, ErrorCode>>;

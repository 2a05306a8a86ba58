/** Access: who may use what, and on whose behalf a turn runs. */

import type { TurnContext } from "./context.js";
import type { Awaitable } from "./schema.js";

/**
 * Who may use a tool or a source (NT-33). `"public"`: everybody. `"authenticated"`: whoever has an identity. `{ scopes }`, at least one: whoever holds
 * all of them, where a turn holds those of the identity that its agent's `grants` name too (NT-32). A predicate must answer `true`; anything else,
 * or a throw, refuses (D-16).
 */
export type AccessRule =
  | "public"
  | "authenticated"
  | { readonly scopes: readonly string[] }
  | ((who: Access) => Awaitable<boolean>);

/** Who asks, as an access predicate sees it: the turn, and what it may do. */
export interface Access extends Omit<TurnContext, "signal"> {
  /** The scopes in force: the identity's, reduced by the agent's grants and by `narrow` (NT-31, NT-32). */
  readonly scopes: readonly string[];
}

/** On whose behalf a turn runs. Inherited unchanged by every turn of the tree; nothing in it can be changed from inside (NT-31). A frozen JSON copy. */
export interface Identity {
  /** Who it is. */
  readonly id: string;
  /** What it may do; none when absent. */
  readonly scopes?: readonly string[];
  /** Further claims, for predicates and tools to read. */
  readonly [claim: string]: unknown;
}

/** The host's own say over tools: its gate, what it injects, whom it asks, where tools work. */

import type { Identity } from "./access.js";
import type { HookCall } from "./middleware.js";
import type { Awaitable, Json } from "./schema.js";

/** Rules of the host for every call of every turn, the model's and nested ones (D-17). They come on top of access rules and middleware. */
export interface Security {
  /**
   * Asked once per call, last of all gates but a human. `true`, `{ allow: true }` and `{ prompted: true }` admit; anything else, or a throw, refuses.
   * Nobody can be asked about a nested call, so a gate that would ask has to deny it. It has the time of the turn. Absent: everything is admitted.
   */
  readonly authorizeTool?: (request: AuthorizeRequest) => Awaitable<Authorization>;
  /** The only tools that exist; calls of others are answered as for an unknown tool. Absent: no such list. Empty: none, while `failClosed`. */
  readonly allowTools?: readonly string[];
  /**
   * `false`: an empty `allowTools` means that there is no list.
   * @default true
   */
  readonly failClosed?: boolean;
}

/** A call, as `authorizeTool` sees it. */
export interface AuthorizeRequest extends Omit<HookCall, "args"> {
  /** As they were sent: before anything was injected or repaired. */
  readonly args: Json;
  /** Whether a tool issued the call. */
  readonly isNested: boolean;
  /** On whose behalf the tree runs. */
  readonly identity?: Identity;
}

/** What `authorizeTool` answers; anything else refuses. `prompted`: a human was asked, and said so. */
export type Authorization =
  | boolean
  | undefined
  | { readonly allow: boolean }
  | { readonly deny: string }
  | { readonly prompted: boolean };

/** Where tools work. */
export interface Workspace {
  /** Whether they work in a sandbox; read by `toolPolicy({ requireSandbox })` and by hooks. */
  readonly sandbox?: "inherit" | "disabled" | "required";
}

/** Supplies the arguments that tools declare as `injects` with `from: "host"`: an object with a value for each. What it throws is told to nobody. */
export type Injected = (call: HookCall) => Awaitable<Readonly<Record<string, Json>>>;

/**
 * What `approve` answers about a call that needs a human (D-31). `"allow"` runs it, `{ deny }` refuses it with that reason, `"defer"` leaves it pending.
 * Anything else, or a throw, refuses.
 */
export type Approval = "allow" | "defer" | { readonly deny: string };

/** What a human decided about something pending: of an approval `"allow"` or `{ deny }`, of an external call `{ result }`, any JSON, or `{ deny }`. */
export type Decision = "allow" | { readonly deny: string } | { readonly result: unknown };

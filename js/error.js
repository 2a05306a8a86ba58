/**
 * The one error class of the package and the table of its codes. Definition code throws it at once; at run time it is
 * what a nested call rejects with.
 */

const BRAND = Symbol.for("keel.KeelError");

/**
 * `code` says what happened, in a spelling that never changes; `message` names the agent, tool or part, what was
 * expected and what was found.
 */
export class KeelError extends Error {
  code = "";

  /** @type {unknown} */
  details = undefined;

  /**
   * @param {string} code one of ERROR_CODES, or a code of the application's own
   * @param {string} message
   * @param {{ cause?: unknown, details?: unknown }} [options]
   */
  constructor(code, message, options = {}) {
    super(message);
    // Cloning a native error (structuredClone, postMessage) renames it to "Error" and drops its code. So what callers
    // get is an ordinary object with this prototype: as much an `instanceof Error`, and its clone keeps both. The
    // native one stays behind as the keeper of the stack.
    const native = this;
    const error = Object.create(new.target.prototype);
    error.name = "KeelError";
    error.message = native.message;
    error.code = String(code);
    Object.defineProperty(error, "stack", {
      get: () => native.stack,
      set(stack) {
        native.stack = stack;
      },
      configurable: true,
    });
    if (options.cause !== undefined) defineHidden(error, "cause", options.cause);
    if (options.details !== undefined) defineHidden(error, "details", options.details);
    return error;
  }

  /** Where the code is explained. */
  get docs() {
    return `https://keel.dev/errors#${this.code.toLowerCase().replaceAll("_", "-")}`;
  }

  get [Symbol.toStringTag]() {
    return "Error";
  }

  /**
   * Whether a value is a KeelError, also one of another copy of this package.
   *
   * @param {unknown} value
   * @returns {value is KeelError}
   */
  static isInstance(value) {
    if (typeof value !== "object" || value === null) return false;
    try {
      return /** @type {any} */ (value)[BRAND] === true;
    } catch {
      // A proxy that refuses to be looked at.
      return false;
    }
  }
}

// The name is on the prototype too, for the first line of the stack.
defineHidden(KeelError.prototype, "name", "KeelError");
defineHidden(KeelError.prototype, BRAND, true);

/** Every code of ours, with what it means. */
export const ERROR_CODES = Object.freeze({
  // Definitions, and misuse of run() and createKeel(): thrown at once.
  ACCESS_MISSING: "A tool or source has no access rule.",
  BINARY_MISSING: "The native core of this platform could not be loaded.",
  BUDGET_INVALID: "A budget is not a positive whole number.",
  DELIVERABLE_NOT_CONTENT: 'The part of a contract is not declared with persist: "content".',
  DELIVERABLE_NOT_EMITTED: "The agent of a contract does not emit its part.",
  GRANT_MISSING: "A tool or source needs scopes that its agent is not granted.",
  ID_INVALID: "An id has characters or a length that model providers reject.",
  KEEL_CLOSED: "The Keel is closed and takes no new runs.",
  LIMIT_INVALID: "A limit is outside its range.",
  MODEL_INVALID: "A model is neither an AI SDK language model nor { id, generate }.",
  NESTED_UNGUARDED: "A middleware guards the model's calls and not the nested ones.",
  OPTION_INVALID: "An option has a value that it cannot have.",
  OPTION_UNKNOWN: "An option has a name that is not known.",
  PART_NOT_EMITTED: "A part is not among those that its agent emits.",
  PART_TAKEN: "Two parts of one agent have the same name.",
  SCHEMA_INVALID: "A JSON Schema cannot be used.",
  SCHEMA_NOT_CONVERTIBLE: "A schema has no JSON Schema form.",
  STORE_UNSUPPORTED: "The records store is of an unknown kind.",
  SUBMIT_TOOL_TAKEN: "An agent's tool has the id of its contract's submit tool.",
  TOOL_ID_TAKEN: "Two tools of one agent have the same id.",

  // How a turn can end.
  ACCESS_DENIED: "The turn may not do what it was asked to do.",
  BUDGET_COST: "The turn spent its cost.",
  BUDGET_STEPS: "The turn spent its steps.",
  BUDGET_TIME: "The turn spent its time.",
  BUDGET_TOKENS: "The turn spent its tokens.",
  BUDGET_TOOL_CALLS: "The turn spent its tool calls.",
  CHILD_FAILED: "A child turn failed and its connection says that its caller fails with it.",
  DELIVERABLE_INVALID: "What was submitted does not fit the contract's part.",
  DELIVERABLE_MISSING: "The turn ended without submitting what its contract asks for.",
  INSTRUCTIONS_FAILED: "The agent's instructions or sources could not be loaded.",
  INTERNAL: "A fault of the runtime ended the turn.",
  MODEL_ERROR: "The model could not be called, or answered with an error.",
  PARENT_ENDED: "The caller ended before this turn did.",
  REPEATED_CALL: "The model repeated the same call too often.",
  STOPPED: "The turn was stopped.",
  TREE_LIMIT: "The whole tree of turns spent what it was granted.",

  // What a call can reject with.
  APPROVAL_MISMATCH: "The approval was given for other arguments than the call has.",
  APPROVAL_REQUIRED: "The call needs a human's approval; thrown by a hook or a tool, it asks for one.",
  CANCELLED: "A stop cut the call off.",
  DEPTH: "The call would open a child turn deeper than allowed.",
  LEDGER: "The effect ledger could not be written or read.",
  LIMIT_EXCEEDED: "The call would exceed a limit.",
  PART_INVALID: "An emitted value does not fit its part.",
  REPLAY_MISMATCH: "The replayed call is not the one that was recorded.",
  TIMEOUT: "A deadline cut the call off.",
  TOOL_ERROR: "The tool threw.",
  TOOL_FAILED: "The tool reported a failure, or the call was refused.",
  TOOL_NOT_FOUND: "There is no such tool, or it may not be called.",
  VALIDATION: "A value does not fit what is expected.",
  VALUE_TOO_DEEP: "A value is nested deeper than 128 levels.",
});

/**
 * @param {object} target
 * @param {PropertyKey} key
 * @param {unknown} value
 */
function defineHidden(target, key, value) {
  Object.defineProperty(target, key, { value, writable: true, configurable: true });
}

/** Streams: a turn that is watched while it runs. */

import type { KeelEvent } from "./event.js";
import type { Part } from "./part.js";
import type { TurnResult } from "./turn.js";

/**
 * A running turn. Iterate it for the root turn's own events, or read only what you need: a stream that nobody reads neither blocks nor leaks.
 * Leaving a `for await` early stops the turn. A turn that is suspended ends its stream; `resumeStream` gives the next one.
 */
export interface TurnStream<Emits extends Part = Part, Contract extends Part = Part> extends AsyncIterable<KeelEvent> {
  /** The root turn's id, known at once. */
  readonly turnId: string;
  /** What `run` would have resolved to. */
  readonly result: Promise<TurnResult<Emits, Contract>>;
  /** The root turn's own text, as it comes. Leaving the loop stops the turn. */
  readonly textStream: AsyncIterable<string>;
  /** The events of the whole tree, children's included (NT-34). Leaving the loop stops nothing. */
  inspect(): AsyncIterable<KeelEvent>;
  /** Stops the turn and everything below it; resolves `false` when it has ended already. */
  stop(reason?: unknown): Promise<boolean>;
  /** The root turn's own events as a web stream of objects; cancelling it stops the turn. */
  toReadableStream(): ReadableStream<KeelEvent>;
}

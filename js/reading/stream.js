/**
 * A running root turn as a stream of its events. Events wait in one list that every reader walks at its own pace; text that
 * nobody has read yet is joined, so that a stream nobody reads holds no more than the turn has said.
 */

/** @import { Run } from "../host/run.js" */

export class EventLog {
  /** @type {any[]} */
  #events = [];
  /** How far the fastest reader is: what lies before it can no longer be joined. */
  #read = 0;
  #ended = false;
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /** @param {any} event */
  push(event) {
    const last = this.#events.length - 1;
    const previous = this.#events[last];
    if (last >= this.#read && continues(previous, event)) {
      this.#events[last] = { ...previous, text: previous.text + event.text };
    } else {
      this.#events.push(event);
    }
    this.#wake();
  }

  end() {
    this.#ended = true;
    this.#wake();
  }

  /**
   * Walks what `pick` makes of the events, from the first on; it leaves out those of which it makes nothing. Not a
   * generator, which could not be left while its next item is waited for.
   *
   * @param {(event: any) => any} pick
   * @param {() => void} [onLeave] called when the reader leaves before the end
   * @returns {AsyncIterableIterator<any>}
   */
  read(pick, onLeave) {
    let at = 0;
    let over = false;
    const iterator = {
      next: async () => {
        while (!over) {
          while (at < this.#events.length) {
            const value = pick(this.#events[at]);
            at += 1;
            this.#read = Math.max(this.#read, at);
            if (value !== undefined) return { done: false, value };
          }
          if (this.#ended) over = true;
          else await new Promise((resolve) => this.#waiting.add(() => resolve(undefined)));
        }
        return END;
      },
      return: async () => {
        if (!over) {
          over = true;
          this.#wake();
          onLeave?.();
        }
        return END;
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  #wake() {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }
}

/** @type {{ done: true, value: undefined }} */
const END = Object.freeze({ done: true, value: undefined });

/**
 * @param {any} previous
 * @param {any} event
 */
function continues(previous, event) {
  return (
    event.type === "text.delta" &&
    previous.type === "text.delta" &&
    previous.turnId === event.turnId &&
    previous.step === event.step &&
    previous.attempt === event.attempt &&
    previous.kind === event.kind
  );
}

export class TurnStream {
  #log;
  #run;
  #stop;

  /**
   * @param {Run} run
   * @param {EventLog} log
   * @param {(reason: unknown) => Promise<boolean>} stop
   */
  constructor(run, log, stop) {
    this.#run = run;
    this.#log = log;
    this.#stop = stop;
  }

  get turnId() {
    return this.#run.turnId;
  }

  get result() {
    return this.#run.result;
  }

  /** The root turn's own events; leaving the loop stops the run. */
  [Symbol.asyncIterator]() {
    return this.#own((event) => event);
  }

  /** The root turn's own text, as it comes; leaving the loop stops the run. */
  get textStream() {
    return this.#own((event) => (event.type === "text.delta" && event.kind === "text" ? event.text : undefined));
  }

  /** The events of the whole tree; leaving the loop stops nothing. */
  inspect() {
    return this.#log.read((event) => event);
  }

  /** @param {unknown} [reason] */
  stop(reason) {
    return this.#stop(reason);
  }

  /** The root turn's own events as a web stream; cancelling it stops the run. */
  toReadableStream() {
    const events = this[Symbol.asyncIterator]();
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await events.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => {
        await events.return?.();
      },
    });
  }

  /** @param {(event: any) => any} pick */
  #own(pick) {
    const { turnId } = this;
    const leave = () => void this.#stop("the stream was left");
    return this.#log.read((event) => (event.turnId === turnId ? pick(event) : undefined), leave);
  }
}

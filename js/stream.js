/**
 * A running root turn as a stream of its events. Events wait in one list that every reader walks at its own pace; text that
 * nobody has read yet is joined, so that a stream nobody reads holds no more than the turn has said.
 */

/** @import { Run } from "./host/run.js" */

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
   * Walks the events that pass, from the first on.
   *
   * @param {(event: any) => boolean} passes
   * @param {() => void} [onLeave] called when the reader leaves before the end
   * @returns {AsyncGenerator<any, void, void>}
   */
  async *read(passes, onLeave) {
    let next = 0;
    let finished = false;
    try {
      for (;;) {
        while (next < this.#events.length) {
          const event = this.#events[next];
          next += 1;
          this.#read = Math.max(this.#read, next);
          if (passes(event)) yield event;
        }
        if (this.#ended) break;
        await new Promise((resolve) => this.#waiting.add(() => resolve(undefined)));
      }
      finished = true;
    } finally {
      if (!finished) onLeave?.();
    }
  }

  #wake() {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }
}

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
    return this.#log.read(() => true);
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
  async *#own(pick) {
    const { turnId } = this;
    const leave = () => void this.#stop("the stream was left");
    for await (const event of this.#log.read((event) => event.turnId === turnId, leave)) {
      const picked = pick(event);
      if (picked !== undefined) yield picked;
    }
  }
}

/**
 * Watches abort signals with one listener each, however many runs share a signal: a long-lived signal neither collects
 * listeners nor draws warnings about them.
 */

/** @type {WeakMap<AbortSignal, Set<() => void>>} */
const watchers = new WeakMap();

/**
 * @param {AbortSignal} signal
 * @param {() => void} onAbort
 * @returns {() => void} stops watching
 */
export function watchSignal(signal, onAbort) {
  let callbacks = watchers.get(signal);
  if (callbacks === undefined) {
    callbacks = new Set();
    watchers.set(signal, callbacks);
  }
  const watching = callbacks;
  const listener = listenerOf(signal);
  if (watching.size === 0) signal.addEventListener("abort", listener);
  watching.add(onAbort);
  return () => {
    watching.delete(onAbort);
    if (watching.size === 0) signal.removeEventListener("abort", listener);
  };
}

/** @type {WeakMap<AbortSignal, () => void>} */
const listeners = new WeakMap();

/** @param {AbortSignal} signal */
function listenerOf(signal) {
  let listener = listeners.get(signal);
  if (listener === undefined) {
    listener = () => {
      // A set may lose entries while it is walked.
      for (const onAbort of watchers.get(signal) ?? []) onAbort();
    };
    listeners.set(signal, listener);
  }
  return listener;
}

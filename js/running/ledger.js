/**
 * The effect ledger in memory: what the interface of `createKeel({ ledger })` means, and enough for a single process.
 */

/**
 * @typedef {object} LedgerRow
 * @property {string} turnId
 * @property {string} callId
 * @property {string} [parentCallId]
 * @property {string} toolId
 * @property {string} idempotencyKey
 * @property {string} argsHash
 * @property {"started" | "completed" | "failed"} status
 */

export function memoryLedger() {
  /** @type {Map<string, LedgerRow>} */
  const rows = new Map();
  /** @param {{ turnId: string, callId: string }} entry */
  const keyOf = ({ turnId, callId }) => `${turnId}:${callId}`;

  return Object.freeze({
    /** @param {any} entry */
    started(entry) {
      rows.set(keyOf(entry), { ...entry, status: "started" });
    },

    /** @param {any} entry */
    settled(entry) {
      const row = rows.get(keyOf(entry));
      if (row) row.status = entry.status;
    },

    /** @param {string} turnId */
    unresolved(turnId) {
      return [...rows.values()].filter((row) => row.turnId === turnId && row.status === "started");
    },

    /** Every row, in the order in which its call started. */
    rows() {
      return [...rows.values()].map((row) => ({ ...row }));
    },
  });
}

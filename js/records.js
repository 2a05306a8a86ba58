/**
 * What a keel keeps of its turns. The kernel's store answers at once; the promises leave room for stores that cannot.
 */

import { checkChoice, checkCount, checkOptions, checkType } from "./options.js";
import { redactEvent, redactRecord, redactTranscript } from "./redact.js";

/** @import { Host } from "./host.js" */

const PAGE = 100;

/** @param {Host} host */
export function recordsOf(host) {
  const { capture } = host.options;

  /** @param {any} view */
  const recordOf = ({ record, transcript }) => redactRecord({ ...record, transcript }, capture);

  /** @param {any} tree @returns {any} */
  const treeOf = ({ record, children }) => ({ record: recordOf(record), children: children.map(treeOf) });

  return Object.freeze({
    /** @param {string} turnId */
    async get(turnId) {
      const view = host.query("record", { turnId: String(turnId) });
      return view === null ? undefined : recordOf(view);
    },

    /** @param {any} [filter] */
    async list(filter = {}) {
      const page = host.query("list", checkFilter(filter));
      return { ...page, items: page.items.map(recordOf) };
    },

    /** @param {string} turnId */
    async tree(turnId) {
      const tree = host.query("tree", { turnId: String(turnId) });
      return tree === null ? undefined : treeOf(tree);
    },

    /** @param {string} turnId */
    async transcript(turnId) {
      const view = host.query("record", { turnId: String(turnId) });
      return view === null ? undefined : redactTranscript(view.transcript, capture);
    },

    /**
     * @param {string} turnId
     * @param {{ tree?: boolean }} [options]
     */
    async events(turnId, { tree = false } = {}) {
      const events = host.query("events", { turnId: String(turnId), tree });
      return (events ?? []).map((/** @type {any} */ event) => redactEvent(event, capture));
    },
  });
}

/** @param {any} filter */
function checkFilter(filter) {
  const where = "records.list";
  checkOptions(filter, ["status", "agentId", "rootTurnId", "parentTurnId", "limit", "cursor"], where);
  return {
    status:
      checkChoice(filter.status, ["running", "suspended", "completed", "failed", "stopped"], `${where}: status`) ??
      null,
    agentId: checkType(filter.agentId, "string", `${where}: agentId`) ?? null,
    rootTurnId: checkType(filter.rootTurnId, "string", `${where}: rootTurnId`) ?? null,
    parentTurnId: checkType(filter.parentTurnId, "string", `${where}: parentTurnId`) ?? null,
    cursor: checkType(filter.cursor, "string", `${where}: cursor`) ?? null,
    limit: checkCount(filter.limit, `${where}: limit`, 1) ?? PAGE,
  };
}

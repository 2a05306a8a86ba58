/**
 * What a keel keeps of its turns. The kernel's store answers at once; the promises leave room for stores that cannot.
 */

import {
  checkChoice,
  checkCount,
  checkOptions,
  checkType,
  isWellFormed,
  optionInvalid,
} from "../definitions/options.js";
import { redactEvent, redactRecord, redactTranscript } from "./redact.js";

/** @import { Host } from "../host/host.js" */

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
      const view = host.query("record", { turnId: idText(turnId) });
      return view === null ? undefined : recordOf(view);
    },

    /** @param {any} [filter] */
    async list(filter = {}) {
      const page = host.query("list", checkFilter(filter));
      return { ...page, items: page.items.map(recordOf) };
    },

    /** @param {string} turnId */
    async tree(turnId) {
      const tree = host.query("tree", { turnId: idText(turnId) });
      return tree === null ? undefined : treeOf(tree);
    },

    /** @param {string} turnId */
    async transcript(turnId) {
      const view = host.query("record", { turnId: idText(turnId) });
      return view === null ? undefined : redactTranscript(view.transcript, capture);
    },

    /**
     * @param {string} turnId
     * @param {any} [options]
     */
    async events(turnId, options = {}) {
      checkOptions(options, ["tree"], "records.events");
      const tree = checkType(options.tree, "boolean", "records.events: tree") ?? false;
      const events = host.query("events", { turnId: idText(turnId), tree });
      return (events ?? []).map((/** @type {any} */ event) => redactEvent(event, capture));
    },
  });
}

/**
 * What is no id of a turn names none.
 *
 * @param {unknown} turnId
 */
function idText(turnId) {
  return typeof turnId === "string" && isWellFormed(turnId) ? turnId : "";
}

/**
 * @param {unknown} value
 * @param {string} where
 */
function checkText(value, where) {
  const text = checkType(value, "string", where);
  if (text !== undefined && !isWellFormed(text)) throw optionInvalid(where, "a string of whole characters", text);
  return text ?? null;
}

/** @param {any} filter */
function checkFilter(filter) {
  const where = "records.list";
  checkOptions(filter, ["status", "agentId", "rootTurnId", "parentTurnId", "limit", "cursor"], where);
  return {
    status:
      checkChoice(filter.status, ["running", "suspended", "completed", "failed", "stopped"], `${where}: status`) ??
      null,
    agentId: checkText(filter.agentId, `${where}: agentId`),
    rootTurnId: checkText(filter.rootTurnId, `${where}: rootTurnId`),
    parentTurnId: checkText(filter.parentTurnId, `${where}: parentTurnId`),
    cursor: checkText(filter.cursor, `${where}: cursor`),
    limit: checkCount(filter.limit, `${where}: limit`, 1) ?? PAGE,
  };
}

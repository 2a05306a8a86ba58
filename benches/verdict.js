/** Whether a line holds its bars, over all rounds. */

import { OURS, PEERS, quotient } from "./bars.js";
import { spreadOf } from "./spread.js";

/**
 * @typedef {import("./spread.js").Spread} Spread
 *
 * @typedef {object} Judged something that has a bar, or might have
 * @property {Spread} spread
 * @property {number | undefined} bar
 * @property {boolean | undefined} isWithin the median counts; undefined without a bar
 *
 * @typedef {object} Verdict
 * @property {string} what
 * @property {string} unit
 * @property {Record<string, Spread | undefined>} figures by peer
 * @property {Judged | undefined} own our figure, where it has a bar
 * @property {Judged | undefined} bare our ratio to the bare loop
 * @property {Judged | undefined} pi our ratio to pi
 */

/**
 * @param {import("./bars.js").Line} line
 * @param {readonly import("./rounds.js").Round[]} rounds
 * @returns {Verdict}
 */
export function verdictOf({ what, unit, figureOf, bars }, rounds) {
  const spreadOfPeer = (/** @type {string} */ peer) => spreadOf(rounds.map((round) => figureOf(round, peer)));
  // Each ratio is of figures of one round: what disturbed both does not show in it.
  const ratioTo = (/** @type {string} */ peer) =>
    spreadOf(rounds.map((round) => quotient(figureOf(round, OURS), figureOf(round, peer))));
  return {
    what,
    unit,
    figures: Object.fromEntries(Object.keys(PEERS).map((peer) => [peer, spreadOfPeer(peer)])),
    own: bars?.own === undefined ? undefined : judge(spreadOfPeer(OURS), bars.own),
    bare: bars === undefined || bars.own !== undefined ? undefined : judge(ratioTo("bare"), bars.bare),
    pi: bars === undefined ? undefined : judge(ratioTo("pi"), bars.pi),
  };
}

/**
 * @param {Spread | undefined} spread
 * @param {number | undefined} bar
 * @returns {Judged | undefined}
 */
function judge(spread, bar) {
  if (spread === undefined) return undefined;
  return { spread, bar, isWithin: bar === undefined ? undefined : spread.median <= bar };
}

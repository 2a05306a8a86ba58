/** What is measured: each workload runs one peer and says what that cost. */

import { costOfConcurrent, memoryOfConcurrent } from "./concurrent-runs.js";
import { cpuPerUnit, cpuPerUnitInTurn } from "./cpu-time.js";

/**
 * @typedef {object} Peer a package, or a loop by hand
 * @property {() => Promise<unknown>} runTrivial one step without a call
 * @property {(count: number, delayMs?: number) => Promise<unknown>} runSteps steps with one validated call each
 * @property {(count: number) => Promise<unknown>} runDelegations
 * @property {RunConcurrent} runConcurrent runs of some steps each, all at once, with a model that waits
 * @property {RunConcurrent} [runConcurrentUnrecorded] the same when nothing is kept of a run that has ended
 * @property {(count: number) => Promise<unknown>} [nested] a tool that calls another one
 * @property {(count: number) => Promise<unknown>} [nestedGuarded] the same past three middleware
 */

/** @typedef {(runs: number, steps: number, delayMs: number) => Promise<unknown>} RunConcurrent */

const STEPS = 200;
const DELEGATIONS = 100;
const NESTED_CALLS = 1000;

/** @type {Record<string, (peer: any, sizes: readonly number[]) => Promise<object | undefined>>} */
export const workloads = {
  /** @param {Peer | undefined} peer */
  async start(peer) {
    await peer?.runTrivial();
    const { user, system } = process.cpuUsage();
    return { cpuMs: (user + system) / 1000, ms: performance.now() };
  },

  /** @param {Peer} peer */
  async step(peer) {
    return { us: await cpuPerUnit(() => peer.runSteps(STEPS), "tool", STEPS) };
  },

  /** @param {Peer} peer */
  async delegation(peer) {
    return { us: await cpuPerUnit(() => peer.runDelegations(DELEGATIONS), "child", DELEGATIONS) };
  },

  /** @param {Peer} peer */
  async nested({ nested }) {
    return nested && { us: await cpuPerUnit(() => nested(NESTED_CALLS), "nested", NESTED_CALLS) };
  },

  /**
   * Middleware is what a loop by hand would not have: its nested call stands in.
   *
   * @param {Peer} peer
   */
  async guarded({ nested, nestedGuarded = nested }) {
    return nestedGuarded && { us: await cpuPerUnit(() => nestedGuarded(NESTED_CALLS), "nested", NESTED_CALLS) };
  },

  /** @param {Peer} peer */
  async concurrent({ runConcurrent }) {
    return costOfConcurrent(runConcurrent);
  },

  /** @param {Peer} peer */
  async memory({ runConcurrent }) {
    return memoryOfConcurrent(runConcurrent);
  },

  /** @param {Peer} peer */
  async unrecorded({ runConcurrentUnrecorded }) {
    return runConcurrentUnrecorded && memoryOfConcurrent(runConcurrentUnrecorded);
  },

  /**
   * @param {Peer} peer
   * @param {readonly number[]} sizes
   */
  async growth(peer, sizes) {
    const works = sizes.map((steps) => ({ run: () => peer.runSteps(steps), units: steps }));
    const us = await cpuPerUnitInTurn(works, "tool");
    return { us: Object.fromEntries(sizes.map((steps, place) => [steps, us[place]])) };
  },
};

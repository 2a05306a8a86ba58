/**
 * Measures one workload of one peer in a process of its own and prints one line of JSON, `null` where the peer has no such
 * thing. Figures are CPU time of the whole process (user and system, all threads), since on a shared machine elapsed time
 * mostly tells what else is running.
 *
 *   node --expose-gc benches/measure.js <peer> <workload> [steps,steps…]
 */

import { workloads } from "./workloads.js";

const [peer = "", workload = "", sizes = ""] = process.argv.slice(2);
const measure = workloads[workload];
if (!measure) throw new Error(`expected a workload (${Object.keys(workloads).join(", ")}), found '${workload}'`);
// Without a peer, `start` is what the runtime itself takes.
const adapter = peer === "runtime" ? undefined : (await import(`./${peer}.js`)).default;
console.log(JSON.stringify((await measure(adapter, sizes.split(",").map(Number))) ?? null));
process.exit(0);

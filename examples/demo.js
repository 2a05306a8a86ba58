/**
 * A delegation over three levels, for real: an assistant (T1) asks a researcher (T2), which asks an analyst (T3). With
 * budgets, contracts, a child that fails, progress that is forwarded, and the records of it all. It follows a script; with
 * `--base-url` and `--model` the agents think for themselves.
 *
 *   npm run demo -- --help
 */

import { createKeel } from "keel-native";

import { causeText, issuesText } from "./demo/event-text.js";
import { liveTree } from "./demo/live-tree.js";
import { readOptions, USAGE } from "./demo/options.js";
import { modelAt } from "./demo/provider.js";
import { scriptedModels } from "./demo/script.js";
import { defineSmallTeam } from "./demo/small-team.js";
import { defineTeam } from "./demo/team.js";
import { treeLines } from "./demo/turn-line.js";

/** @import { Keel, TurnRecord, TurnResult } from "keel-native" */

const options = readOptions(process.argv.slice(2));
if (typeof options === "string") {
  console.error(`${options}\n\n${USAGE}`);
  process.exitCode = 2;
} else if (options.help) {
  console.log(USAGE);
} else {
  await main(options);
}

/** @param {import("./demo/options.js").DemoOptions} options */
async function main({ server, question, paceMs, json }) {
  const assistant = await defineAssistant(server, paceMs);
  const keel = createKeel({ capture: { toolIo: true } });
  const stream = keel.stream(assistant, question, { identity: { id: "owner", scopes: ["notes:read"] } });
  process.once("SIGINT", () => void stream.stop("interrupted"));

  const tree = liveTree(keel, process.stdout);
  for await (const event of stream.inspect()) {
    if (json) console.log(JSON.stringify(event));
    else await tree.show(event);
  }
  tree.end();

  const result = await stream.result;
  if (json) console.log(JSON.stringify({ type: "demo.result", outcome: result.outcome, text: result.text }));
  else await report(keel, result);
  await keel.close();
  process.exitCode = result.outcome.status === "completed" ? 0 : 1;
}

/**
 * @param {import("./demo/options.js").DemoOptions["server"]} server
 * @param {number} paceMs
 */
async function defineAssistant(server, paceMs) {
  if (server === undefined) return defineTeam(scriptedModels(paceMs), { paceMs });
  let model;
  try {
    model = await modelAt(server);
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exit(1);
  }
  const modelOptions = { temperature: 0, maxOutputTokens: 400 };
  if (server.tools === "all") return defineTeam(() => model, { paceMs: 0, modelOptions });
  return defineSmallTeam(() => model, { levels: server.levels, modelOptions });
}

/**
 * @param {Keel} keel
 * @param {TurnResult} result
 */
async function report(keel, { turnId, outcome, text }) {
  console.log("\nAnswer");
  if (outcome.status === "completed") console.log(text);
  else console.log(outcome.status === "failed" ? causeText(outcome.cause) : outcome.status);

  const tree = await keel.records.tree(turnId);
  if (tree === undefined) return;
  console.log("\nRecords");
  for (const line of treeLines(tree, recordText)) console.log(line);
  const { treeUsage } = tree.record;
  console.log(`\n${treeUsage.inputTokens} tokens in, ${treeUsage.outputTokens} out, in the whole tree`);
}

/** @param {TurnRecord} record */
function recordText({ submits, parts }) {
  if (submits === undefined) return "";
  const refused = (submits.rejected ?? []).map(({ issues }) => `; one refused${issuesText(issues)}`);
  const delivered = parts.map(({ part, value }) => `; ${part} ${JSON.stringify(value)}`);
  return [`; ${submits.tried} ${submits.tried === 1 ? "submit" : "submits"}`, ...refused, ...delivered].join("");
}

/**
 * One delegation through the installed package, with a scripted model: does it load and run here? Copied into an app that
 * has `keel-native` installed. Under Electron it runs in the main process, then once more in a utility process.
 */

import { fileURLToPath } from "node:url";

import { asTool, createKeel, defineAgent } from "keel-native";
import { scriptedModel, text, toolCall } from "keel-native/testing";

const helper = defineAgent({ id: "helper", model: scriptedModel([text("from below")]) });
const caller = defineAgent({
  id: "caller",
  model: scriptedModel([toolCall("run-helper", { brief: "go" }), text("done")]),
  tools: [asTool(helper, { access: "public" })],
});

const keel = createKeel();
const { outcome, text: answer } = await keel.run(caller, "start");
await keel.close();
if (outcome.status !== "completed" || answer !== "done") throw new Error(`unexpected end: ${JSON.stringify(outcome)}`);

const { electron, bun, node } = process.versions;
console.log(
  "ok",
  process.platform,
  process.arch,
  electron ? `electron ${electron}` : bun ? `bun ${bun}` : `node ${node}`,
);

if (electron !== undefined && process.env["KEEL_SMOKE_CHILD"] === undefined) {
  // @ts-ignore -- the module exists inside Electron only
  const { app, utilityProcess } = await import("electron");
  await app.whenReady();
  const env = { ...process.env, KEEL_SMOKE_CHILD: "1" };
  const child = utilityProcess.fork(fileURLToPath(import.meta.url), [], { env, stdio: "inherit" });
  child.once("exit", (/** @type {number} */ code) => app.exit(code));
}

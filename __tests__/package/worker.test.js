import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { runProgram } from "./programs/spawned.js";

for (const name of [
  "only workers load it",
  "the main thread, then a worker, then the main thread",
  "a worker, then the main thread, then a worker",
]) {
  test(`BL-134 ${name}`, () => succeeds(name));
}

test("BL-133 workers are terminated 50 times with 100 calls in flight; the main thread's own run is unaffected", () =>
  succeeds("workers are terminated with calls in flight"));

test("BL-134 the addon loads again after the module cache was emptied", async () => {
  const { code, stdout, stderr } = await runProgram("reload.cjs");
  assert.equal(stdout.trim(), "3 loads", stderr);
  assert.equal(code, 0, stderr);
});

const onBun = process.versions["bun"] === undefined ? { skip: "only Bun has --hot" } : {};
test("BL-134 bun --hot reloads it three times", onBun, async () => {
  const folder = mkdtempSync(join(tmpdir(), "keel-hot-"));
  const file = join(folder, "hot.js");
  const write = (/** @type {number} */ version) =>
    writeFileSync(
      file,
      `import { run, defineAgent } from ${JSON.stringify(new URL("../../js/index.js", import.meta.url).href)};
       import { scriptedModel, text } from ${JSON.stringify(new URL("../../js/testing/index.js", import.meta.url).href)};
       const { outcome } = await run(defineAgent({ id: "hot", model: scriptedModel([text("hi")]) }), "go");
       console.log("version ${version} " + outcome.status);
       globalThis.stay ??= setInterval(() => {}, 1000);`,
    );
  write(1);
  const child = spawn(process.execPath, ["--hot", file], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    let seen = "";
    for await (const text of child.stdout.setEncoding("utf8")) {
      seen += text;
      const version = [...seen.matchAll(/version (\d) completed/g)].length;
      if (version === 4) break;
      if (seen.includes(`version ${version} completed`)) write(version + 1);
    }
    assert.match(seen, /version 1 completed[^]*version 2 completed[^]*version 3 completed[^]*version 4 completed/);
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** @param {string} name */
async function succeeds(name) {
  const { code, signal, stdout, stderr } = await runProgram("worker-cases.js", [name]);
  assert.equal(signal, null, `it did not exit by itself:\n${stdout}\n${stderr}`);
  assert.equal(stdout.trim(), "ok", stderr);
  assert.equal(code, 0, stderr);
}

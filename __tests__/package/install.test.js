import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { installedRuntime, RUNTIMES } from "../../scripts/runtimes.js";
import { filesIn, installApp, manifestIn, packAll, ROOT, run } from "./packed-app.js";

const zod = join(ROOT, "node_modules", "zod");
const bun = installedRuntime("bun");
const withBun = bun === undefined ? { skip: "Bun is not installed for this platform" } : {};
const nodes = new Map([[`node-${process.versions.node.split(".")[0]}`, process.execPath]]);
for (const name of RUNTIMES) {
  const path = name === "bun" ? undefined : installedRuntime(name);
  if (path !== undefined) nodes.set(name, path);
}

describe("the packed package in an app outside the repository", () => {
  /** @type {ReturnType<typeof packAll>} */
  let packed;
  /** @type {string} */
  let app;

  before(() => {
    packed = packAll();
    app = join(packed.folder, "app");
    installApp(app, { "keel-native": packed.root, [packed.platformName]: packed.platform, zod });
  });
  after(() => packed.remove());

  test("the root tarball holds the code, the types and the papers, and no binary", () => {
    const files = filesIn(packed.root);
    for (const file of [
      "package.json",
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
      "index.d.ts",
      "testing.d.ts",
      "js/index.js",
    ]) {
      assert.ok(files.includes(file), file);
    }
    assert.deepEqual(
      files.filter((file) => file.includes(".node") || /^(src|__tests__|scripts|target)\//.test(file)),
      [],
    );
  });

  test("the platform tarball holds the binary and says where it runs", () => {
    const files = filesIn(packed.platform);
    assert.equal(files.filter((file) => file.endsWith(".node")).length, 1);
    const manifest = manifestIn(join(app, "node_modules", packed.platformName));
    assert.equal(manifest.version, manifestIn(ROOT).version);
    assert.deepEqual(manifest.os, [process.platform]);
    assert.deepEqual(manifest.cpu, [process.arch]);
  });

  test("BL-142 nothing runs at install: the app was installed without scripts, and there are none", () => {
    for (const name of ["keel-native", packed.platformName]) {
      const { scripts = {}, gypfile } = manifestIn(join(app, "node_modules", name));
      for (const hook of ["preinstall", "install", "postinstall", "prepare"])
        assert.equal(scripts[hook], undefined, hook);
      assert.equal(gypfile, undefined);
    }
  });

  for (const [name, path] of nodes) {
    test(`the README's quickstart runs under ${name}`, () => runQuickstart(path, app));
  }
  test("the README's quickstart runs under Bun", withBun, () => runQuickstart(bun ?? "", app));

  for (const [name, path] of nodes) {
    test(`BL-143 require and import give the same classes under ${name}`, () => runBothKinds(path, app));
  }
  test("BL-143 require and import give the same classes under Bun", withBun, () => runBothKinds(bun ?? "", app));

  test("BL-143 types resolve from .mts and .cts, under nodenext and bundler", () => {
    const code = [
      'import { asTool, createKeel, defineAgent, KeelError, run } from "keel-native";',
      'import { scriptedModel, text } from "keel-native/testing";',
      'const agent = defineAgent({ id: "a", model: scriptedModel([text("hi")]) });',
      'export const tool = asTool(agent, { access: "public" });',
      "export const keel = createKeel();",
      'export const answer: Promise<string> = run(agent, "x").then((result) => result.text);',
      'export const isOurs: boolean = KeelError.isInstance(new Error("not ours"));',
    ].join("\n");
    writeFileSync(join(app, "esm.mts"), code);
    writeFileSync(join(app, "cjs.cts"), code);
    const strict = [
      "--strict",
      "--noEmit",
      "--target",
      "es2023",
      "--lib",
      "es2023,dom,dom.asynciterable",
      "--types",
      "",
    ];
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const check = (/** @type {string[]} */ ...args) => run(process.execPath, [tsc, ...strict, ...args], app);
    check("--module", "nodenext", "esm.mts", "cjs.cts");
    check("--module", "esnext", "--moduleResolution", "bundler", "esm.mts");
  });

  test("the seed's own import works when the package is installed under that name", () => {
    const alias = join(packed.folder, "alias");
    installApp(alias, { "@keel-dev/core": packed.root, [packed.platformName]: packed.platform });
    const code = 'import { asTool } from "@keel-dev/core"; console.log(typeof asTool);';
    writeFileSync(join(alias, "app.mjs"), code);
    writeFileSync(join(alias, "app.cjs"), 'console.log(typeof require("@keel-dev/core").asTool);');
    for (const path of [...nodes.values(), ...(bun === undefined ? [] : [bun])]) {
      assert.equal(run(path, ["app.mjs"], alias).trim(), "function");
      assert.equal(run(path, ["app.cjs"], alias).trim(), "function");
    }
  });

  test("BL-138 without the platform's package, the error names it", () => {
    const bare = join(packed.folder, "bare");
    installApp(bare, { "keel-native": packed.root });
    writeFileSync(
      join(bare, "app.mjs"),
      'try { await import("keel-native"); } catch (error) { console.log(JSON.stringify({ ...error, code: error.code, message: error.message, causes: error.cause.errors.length })); }',
    );
    for (const path of [process.execPath, ...(bun === undefined ? [] : [bun])]) {
      const error = JSON.parse(run(path, ["app.mjs"], bare));
      assert.equal(error.code, "BINARY_MISSING");
      assert.ok(error.message.includes(`"${packed.platformName}"`), error.message);
      assert.ok(error.causes >= 2);
    }
  });

  test("BL-140 a single file compiled by Bun finds the binary", withBun, () => {
    writeFileSync(join(app, "compiled.mjs"), 'import { asTool } from "keel-native"; console.log(typeof asTool);');
    const file = join(packed.folder, process.platform === "win32" ? "compiled.exe" : "compiled");
    run(bun ?? "", ["build", "--compile", "compiled.mjs", "--outfile", file], app);
    assert.equal(run(file, [], packed.folder).trim(), "function");
  });
});

/**
 * @param {string} runtime
 * @param {string} app
 */
function runQuickstart(runtime, app) {
  const block = /<!-- quickstart -->\s*```(?:js|ts|javascript|typescript)\n([\s\S]*?)```/.exec(
    readFileSync(join(ROOT, "README.md"), "utf8"),
  );
  assert.ok(block !== null, "README.md has a block of code after <!-- quickstart -->");
  writeFileSync(join(app, "quickstart.mjs"), /** @type {string} */ (block[1]));
  assert.notEqual(run(runtime, ["quickstart.mjs"], app).trim(), "", "the quickstart prints what it made");
}

/**
 * @param {string} runtime
 * @param {string} app
 */
function runBothKinds(runtime, app) {
  writeFileSync(
    join(app, "required.cjs"),
    'exports.KeelError = require("keel-native").KeelError; exports.testing = require("keel-native/testing");',
  );
  writeFileSync(
    join(app, "both.mjs"),
    `import { KeelError } from "keel-native";
     import required from "./required.cjs";
     console.log(KeelError === required.KeelError && typeof required.testing.scriptedModel === "function");`,
  );
  assert.equal(run(runtime, ["both.mjs"], app).trim(), "true");
}

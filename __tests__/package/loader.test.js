import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { loadFor } from "../../js/binding/load-for.js";
import { libcOfFiles, libcOfReport, runningLibc } from "../../js/binding/running-libc.js";
import { packageOf, TARGETS, targetsFor } from "../../js/binding/targets.js";
import { KeelError } from "../../js/error.js";

const here = (/** @type {string} */ path) => new URL(path, import.meta.url);

describe("which binary belongs to a platform", () => {
  const rows = /** @type {const} */ ([
    ["linux", "x64", "gnu", ["keel-native-linux-x64-gnu", "keel-native-linux-x64-musl"]],
    ["linux", "x64", "musl", ["keel-native-linux-x64-musl", "keel-native-linux-x64-gnu"]],
    ["linux", "arm64", "gnu", ["keel-native-linux-arm64-gnu", "keel-native-linux-arm64-musl"]],
    ["linux", "arm64", "musl", ["keel-native-linux-arm64-musl", "keel-native-linux-arm64-gnu"]],
    ["linux", "x64", undefined, ["keel-native-linux-x64-gnu", "keel-native-linux-x64-musl"]],
    ["darwin", "x64", undefined, ["keel-native-darwin-x64"]],
    ["darwin", "arm64", undefined, ["keel-native-darwin-arm64"]],
    ["win32", "x64", undefined, ["keel-native-win32-x64-msvc"]],
    ["win32", "arm64", undefined, ["keel-native-win32-arm64-msvc"]],
    ["linux", "riscv64", "gnu", []],
    ["linux", "ia32", "gnu", []],
    ["linux", "arm", "musl", []],
    ["win32", "ia32", undefined, []],
    ["darwin", "ppc64", undefined, []],
    ["freebsd", "x64", undefined, []],
    ["android", "arm64", undefined, []],
    ["constructor", "x64", undefined, []],
  ]);
  for (const [platform, arch, libc, packages] of rows) {
    test(`BL-138 ${platform} ${arch} ${libc ?? ""} → ${packages[0] ?? "none"}`, () => {
      assert.deepEqual(targetsFor({ platform, arch, libc }).map(packageOf), packages);
    });
  }

  test("BL-138 every target is built, and has its place in the loader", () => {
    const { napi } = JSON.parse(readFileSync(here("../../package.json"), "utf8"));
    const triples = /** @type {Record<string, string>} */ ({
      "x86_64-unknown-linux-gnu": "linux-x64-gnu",
      "x86_64-unknown-linux-musl": "linux-x64-musl",
      "aarch64-unknown-linux-gnu": "linux-arm64-gnu",
      "aarch64-unknown-linux-musl": "linux-arm64-musl",
      "x86_64-apple-darwin": "darwin-x64",
      "aarch64-apple-darwin": "darwin-arm64",
      "x86_64-pc-windows-msvc": "win32-x64-msvc",
      "aarch64-pc-windows-msvc": "win32-arm64-msvc",
    });
    assert.deepEqual(
      napi.targets.map((/** @type {string} */ triple) => triples[triple]).toSorted(),
      TARGETS.toSorted(),
    );
    const loader = readFileSync(here("../../js/binding/load.cjs"), "utf8");
    const release = readFileSync(here("../../.github/workflows/release.yml"), "utf8");
    for (const target of TARGETS) {
      assert.ok(loader.includes(`case "${target}":`), target);
      assert.ok(loader.includes(`require("../keel-native.${target}.node")`), target);
      assert.ok(loader.includes(`require("${packageOf(target)}")`), target);
    }
    for (const triple of napi.targets) assert.ok(release.includes(triple), triple);
  });
});

test("BL-137 the core hands out no memory of its own: Electron forbids such buffers", () => {
  const sources = readdirSync(here("../../src"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".rs"),
  );
  assert.notEqual(sources.length, 0);
  for (const file of sources) {
    const source = readFileSync(here(`../../src/${file}`), "utf8");
    assert.doesNotMatch(source, /\b(Buffer|BufferSlice|ArrayBuffer|Uint8Array|create_external)\b/, file);
  }
});

describe("which C library the running process has", () => {
  test("BL-139 a glibc Node on Alpine: its own loader is asked, not the system's", () => {
    const nix = "/nix/store/abc-glibc-2.40/lib/";
    assert.equal(
      libcOfFiles(["/nix/store/abc-nodejs/bin/node", `${nix}ld-linux-x86-64.so.2`, `${nix}libc.so.6`]),
      "gnu",
    );
    assert.equal(libcOfReport({ header: { glibcVersionRuntime: "2.40" }, sharedObjects: [] }), "gnu");
  });

  test("BL-139 a musl Node on Debian", () => {
    assert.equal(libcOfFiles(["/opt/node/bin/node", "/lib/ld-musl-x86_64.so.1"]), "musl");
    assert.equal(libcOfFiles(["/opt/node/bin/node", "/lib/libc.musl-aarch64.so.1"]), "musl");
    assert.equal(libcOfReport({ header: {}, sharedObjects: ["linux-vdso.so.1", "/lib/ld-musl-aarch64.so.1"] }), "musl");
  });

  test("BL-139 older glibc names its file by its version", () => {
    assert.equal(libcOfFiles(["/lib64/libc-2.17.so"]), "gnu");
  });

  test("BL-139 a folder that is called like a C library decides nothing", () => {
    assert.equal(libcOfFiles(["/srv/ld-musl-x86_64.so.1/app/node", ""]), undefined);
  });

  test("BL-139 no report, or one that tells nothing, decides nothing", () => {
    assert.equal(libcOfReport(undefined), undefined);
    assert.equal(libcOfReport({}), undefined);
    assert.equal(libcOfReport({ header: {}, sharedObjects: ["linux-vdso.so.1"] }), undefined);
  });

  test("BL-139 this process agrees with its own report", () => {
    if (process.platform !== "linux") return assert.equal(runningLibc(), undefined);
    const report = /** @type {any} */ (process.report?.getReport());
    assert.equal(runningLibc(), libcOfReport(report) ?? runningLibc());
    assert.notEqual(runningLibc(), undefined);
  });
});

describe("loading", () => {
  const musl = { platform: "linux", arch: "x64", libc: /** @type {const} */ ("musl") };

  test("BL-139 the binary for the other C library is tried before giving up", () => {
    /** @type {string[]} */
    const tried = [];
    const addon = {};
    const loaded = loadFor(musl, (target) => {
      tried.push(target);
      return target === "linux-x64-gnu" ? addon : undefined;
    });
    assert.equal(loaded, addon);
    assert.deepEqual(tried, ["linux-x64-musl", "linux-x64-gnu"]);
  });

  test("BL-139 the other C library is left alone when the first binary loads", () => {
    const tried = /** @type {string[]} */ ([]);
    loadFor(musl, (target) => tried.push(target));
    assert.deepEqual(tried, ["linux-x64-musl"]);
  });

  test("BL-138 a missing binary names the platform, the package and a fix that deletes nothing", () => {
    const error = errorOf(() => loadFor(musl, () => undefined));
    assert.equal(error.code, "BINARY_MISSING");
    for (const words of [
      "linux x64 musl",
      '"keel-native-linux-x64-musl"',
      "npm install keel-native-linux-x64-musl",
      "optional dependencies",
      "npm install --os=linux --cpu=x64 --libc=musl keel-native",
    ]) {
      assert.ok(error.message.includes(words), `${words} in: ${error.message}`);
    }
    assert.doesNotMatch(error.message, /delet|remov|rm -/i);
    assert.deepEqual(error.details, { ...musl, package: "keel-native-linux-x64-musl" });
  });

  test("BL-138 the fix for glibc uses npm's name for it, and none where there is no choice", () => {
    const gnu = errorOf(() => loadFor({ ...musl, libc: "gnu" }, () => undefined));
    assert.match(gnu.message, /--libc=glibc/);
    const mac = errorOf(() => loadFor({ platform: "darwin", arch: "arm64" }, () => undefined));
    assert.match(mac.message, /"keel-native-darwin-arm64"/);
    assert.doesNotMatch(mac.message, /--libc/);
  });

  test("BL-140 everything that went wrong is listed in the cause", () => {
    let count = 0;
    const error = errorOf(() =>
      loadFor(musl, (target, errors) => {
        errors.push(new Error(`no file for ${target}`), new Error(`no package for ${target} (${(count += 1)})`));
        return undefined;
      }),
    );
    const cause = /** @type {AggregateError} */ (error.cause);
    assert.equal(cause.errors.length, 4);
    for (const { message } of cause.errors) assert.ok(cause.message.includes(message), message);
  });

  test("BL-138 a platform without a binary is told which ones have one", () => {
    const error = errorOf(() => loadFor({ platform: "freebsd", arch: "x64" }, () => assert.fail("nothing to load")));
    assert.equal(error.code, "BINARY_MISSING");
    assert.match(error.message, /no binary for freebsd x64/);
    for (const target of TARGETS) assert.ok(error.message.includes(target), target);
  });

  test("BL-138 this platform's binary loads", async () => {
    const { native } = await import("../../js/binding/native.js");
    assert.equal(typeof native, "object");
  });
});

/** @param {() => unknown} action */
function errorOf(action) {
  try {
    action();
  } catch (error) {
    assert.ok(KeelError.isInstance(error), String(error));
    return error;
  }
  return assert.fail("it did not throw");
}

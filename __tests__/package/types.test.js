import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";

describe("types", () => {
  it("the package's own declarations and its JavaScript are strict-clean", async () => {
    await compile("tsconfig.json");
  });

  it("BL-123 NT-05 NT-12 D-30 definitions infer, misuse does not compile, and the declared surface is the exported one", async () => {
    await compile("__tests__/types/tsconfig.json");
  });

  it("BL-124 50 tools with 20 fields each, through a generic wrapper, stay typed and cheap", async () => {
    // Inside the package, so that it resolves the package by its own name; ignored by git.
    await mkdir(new URL("target/types/", root), { recursive: true });
    await writeFile(new URL("target/types/many-tools.ts", root), manyTools(50, 20));
    await writeFile(
      new URL("target/types/tsconfig.json", root),
      JSON.stringify({ extends: "../../__tests__/types/tsconfig.json", include: ["many-tools.ts"] }),
    );
    const report = await compile("target/types/tsconfig.json", "--extendedDiagnostics");
    const instantiations = Number(/^Instantiations:\s*(\d+)/mu.exec(report)?.[1]);
    assert.ok(instantiations < INSTANTIATIONS_MAX, `${instantiations} instantiations`);
  });
});

// Three times what it takes. The work of the checker is the same on every machine, its time is not.
const INSTANTIATIONS_MAX = 1_000_000;

const root = new URL("../../", import.meta.url);

/**
 * Compiles a project of this package; fails with the compiler's complaints.
 *
 * @param {string} project path of its tsconfig.json
 * @param {...string} flags
 * @returns {Promise<string>} what the compiler printed
 */
function compile(project, ...flags) {
  const compiler = fileURLToPath(new URL("node_modules/typescript/bin/tsc", root));
  const args = [compiler, "--noEmit", "--project", project, ...flags];
  return new Promise((resolve, reject) => {
    execFile("node", args, { cwd: fileURLToPath(root) }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new assert.AssertionError({ message: `${stdout}${stderr}` || error.message }));
    });
  });
}

/**
 * A file that defines many tools through a wrapper which is generic over the parsed type.
 *
 * @param {number} tools
 * @param {number} fields of each
 */
function manyTools(tools, fields) {
  const shape = Array.from(
    { length: fields },
    (_, field) => `f${field}: ${fieldSchemas[field % fieldSchemas.length]}`,
  ).join(", ");
  const definitions = Array.from(
    { length: tools },
    (_, tool) => `wrap("t${tool}", z.object({ ${shape}, own${tool}: z.string() }), (input) => {
      // @ts-expect-error the input is typed, not \`any\`
      input.nowhere;
      return input.own${tool} satisfies string;
    })`,
  );
  return `
    import { defineTool } from "keel-native";
    import type { Tool } from "keel-native";
    import { z } from "zod";

    function wrap<T>(id: string, input: z.ZodType<T>, body: (input: T) => unknown) {
      return defineTool({ id, input, access: "public", execute: (parsed) => body(parsed) });
    }

    export const tools: readonly Tool[] = [${definitions.join(",\n")}];
  `;
}

const fieldSchemas = [
  "z.string().min(1)",
  "z.number().optional()",
  'z.enum(["a", "b"]).default("a")',
  "z.array(z.object({ x: z.number(), y: z.number().nullable() }))",
  "z.union([z.string(), z.object({ z: z.boolean() })])",
];

// BL-123: every schema library, and every major of zod, in one file.
import { type } from "arktype";
import { asTool, defineAgent, definePart, defineTool } from "keel-native";
import type { InferInput, InferOutput, Json, Model, Tool } from "keel-native";
import * as v from "valibot";
import { z } from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod3";
import { z as z3as4 } from "zod3/v4";
import type { Equal, Expect } from "./expect.js";

declare const model: Model;

const zod4 = z.object({ to: z.string(), times: z.number().default(1) });
const zodMini = mini.object({ to: mini.string(), times: mini._default(mini.number(), 1) });
const zod3 = z3.object({ to: z3.string(), times: z3.number().default(1) });
const zod3v4 = z3as4.object({ to: z3as4.string(), times: z3as4.number().default(1) });
const valibot = v.object({ to: v.string(), times: v.optional(v.number(), 1) });
const arktype = type({ to: "string", times: "number = 1" });
const json = {
  type: "object",
  properties: { to: { type: "string" } },
  required: ["to"],
  additionalProperties: false,
} as const;

type Parsed = { to: string; times: number };
type Given = { to: string; times?: number | undefined };
type Plain = Record<string, unknown>;

export type Outputs = [
  Expect<Equal<InferOutput<typeof zod4>, Parsed>>,
  Expect<Equal<InferOutput<typeof zodMini>, Parsed>>,
  Expect<Equal<InferOutput<typeof zod3>, Parsed>>,
  Expect<Equal<InferOutput<typeof zod3v4>, Parsed>>,
  Expect<Equal<InferOutput<typeof valibot>, Parsed>>,
  Expect<Equal<InferOutput<typeof arktype>, Parsed>>,
  Expect<Equal<InferOutput<typeof json>, Plain>>,
  Expect<Equal<InferOutput<{ readonly type: "string" }>, Json>>,
];

export type Inputs = [
  Expect<Equal<InferInput<typeof zod4>, Given>>,
  Expect<Equal<InferInput<typeof zodMini>, Given>>,
  Expect<Equal<InferInput<typeof zod3>, Given>>,
  Expect<Equal<InferInput<typeof zod3v4>, Given>>,
  Expect<Equal<InferInput<typeof valibot>, Given>>,
  Expect<Equal<InferInput<typeof arktype>, { to: string; times?: number }>>,
  Expect<Equal<InferInput<typeof json>, Plain>>,
];

const access = "public";
export const tools: readonly Tool[] = [
  defineTool({ id: "zod4", input: zod4, access, execute: (input) => input satisfies Parsed }),
  defineTool({ id: "zod_mini", input: zodMini, access, execute: (input) => input satisfies Parsed }),
  defineTool({ id: "zod3", input: zod3, access, execute: (input) => input satisfies Parsed }),
  defineTool({ id: "zod3_v4", input: zod3v4, access, execute: (input) => input satisfies Parsed }),
  defineTool({ id: "valibot", input: valibot, access, execute: (input) => input satisfies Parsed }),
  defineTool({ id: "arktype", input: arktype, access, execute: (input) => input satisfies Parsed }),
  defineTool({ id: "json", input: json, access, execute: (input) => input satisfies Plain }),
];

const day = definePart({ name: "day", schema: z.iso.date().transform((text) => new Date(text)), persist: "content" });
const planner = defineAgent({ id: "planner", model, emits: [day] });
export const plan = asTool(planner, { input: valibot, brief: ({ to, times }) => to.repeat(times), deliverable: day });

defineTool({
  id: "emits_a_day",
  input: zod3,
  access,
  execute: (_input, ctx) => {
    ctx.emit(day, "2030-01-01");
    // @ts-expect-error a part is emitted as its schema takes it, before transforms
    ctx.emit(day, new Date());
  },
});

defineTool({
  id: "field",
  input: zod3,
  access,
  // @ts-expect-error the input is typed, not `any`
  execute: (input) => input.nowhere,
});

// @ts-expect-error a schema is an object
definePart({ name: "p", schema: "string" });

// BL-124: wrappers that are generic over a schema keep its type.
import { defineTool } from "keel-native";
import type { InferInput, InferOutput, Json, StandardSchemaV1, Tool } from "keel-native";
import { z } from "zod";
import { z as z3 } from "zod3";
import type { Equal, Expect } from "./expect.js";

function logged<S extends StandardSchemaV1>(
  id: string,
  schema: S,
  body: (input: InferOutput<S>) => unknown,
): Tool<InferOutput<S>, Json, InferInput<S>> {
  return defineTool({ id, input: schema, access: "public", execute: (input) => body(input) });
}

function fromZod<T>(id: string, schema: z.ZodType<T>, body: (input: T) => unknown) {
  return defineTool({ id, input: schema, access: "public", execute: (input) => body(input) });
}

function fromZod3<T>(id: string, schema: z3.ZodType<T>, body: (input: T) => unknown) {
  return defineTool({ id, input: schema, access: "public", execute: (input) => body(input) });
}

const address = z.object({ city: z.string(), zip: z.number().optional() });
const logging = logged("logged", address, (input) => input.city satisfies string);
const zod = fromZod("zod", address, (input) => input.city satisfies string);
const zod3 = fromZod3("zod3", z3.object({ city: z3.string() }), (input) => input.city satisfies string);

type ReceivedBy<T> = T extends Tool<infer In, infer _Out, infer _Args> ? In : never;
export type Received = [
  Expect<Equal<ReceivedBy<typeof logging>, { city: string; zip?: number | undefined }>>,
  Expect<Equal<ReceivedBy<typeof zod>, { city: string; zip?: number | undefined }>>,
  Expect<Equal<ReceivedBy<typeof zod3>, { city: string }>>,
];

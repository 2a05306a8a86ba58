/** What the demo's child agents owe to their callers. */

import { definePart } from "keel-native";
import { z } from "zod";

export const figuresPart = definePart({
  name: "figures",
  description: "The shop whose sales developed worst over the year, and its change in percent.",
  persist: "content",
  schema: z.object({
    shop: z.enum(["north", "south", "harbour"]).describe("the shop"),
    changePercent: z.number().describe("from the first quarter to the last; negative when sales fell"),
  }),
});

export const findingsPart = definePart({
  name: "findings",
  description: "What was found out, in one sentence, and the shop that it is about.",
  persist: "content",
  schema: z.object({
    shop: z.enum(["north", "south", "harbour"]).describe("the shop"),
    finding: z.string().describe("one sentence"),
  }),
});

/** What the demo's agents know: three shops, their sales and some notes. Plain data in place of a database. */

import { setTimeout as pause } from "node:timers/promises";

import { defineSource, defineTool } from "keel-native";
import { z } from "zod";

/** Sales in thousands, by quarter. */
const SALES = {
  north: [120, 124, 131, 138],
  south: [98, 101, 99, 104],
  harbour: [140, 126, 109, 91],
};

const SHOPS = /** @type {const} */ (["north", "south", "harbour"]);

const NOTES = [
  "March: the bridge to the harbour is closed for repairs until next spring.",
  "May: the north shop opens on Sundays.",
  "August: a market opens next to the south shop.",
];

/** @param {number} paceMs how long a tool pretends to work */
export function shopTools(paceMs) {
  const querySales = defineTool({
    id: "query-sales",
    description: "The quarterly sales of one shop, in thousands.",
    access: "public",
    replay: "safe",
    input: z.object({ shop: z.enum(SHOPS) }),
    async execute({ shop }) {
      await pause(paceMs);
      return { shop, sales: SALES[shop] };
    },
  });

  const searchNotes = defineTool({
    id: "search-notes",
    description: "Finds notes that contain a word.",
    access: { scopes: ["notes:read"] },
    replay: "safe",
    input: z.object({ word: z.string().min(3) }),
    async execute({ word }, context) {
      const found = [];
      for (const [index, note] of NOTES.entries()) {
        context.progress({ message: "reading notes", done: index + 1, total: NOTES.length });
        await pause(paceMs / NOTES.length);
        if (note.toLowerCase().includes(word.toLowerCase())) found.push(note);
      }
      return found;
    },
  });

  return { querySales, searchNotes };
}

/** The gist of it as a text to read, for agents that have no tool to ask for it. */
export const salesTable = defineSource({
  id: "sales-table",
  access: "public",
  load: () =>
    [
      "Sales over the year, in thousands:",
      ...Object.entries(SALES).map(([shop, sales]) => `${shop}: from ${sales.at(0)} to ${sales.at(-1)}`),
    ].join("\n"),
});

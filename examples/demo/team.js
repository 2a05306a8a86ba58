/**
 * The demo's agents with all their tools: an assistant (T1) asks a researcher (T2), which asks an analyst and a fact
 * checker (T3). Each connection says what the child may spend and what it owes.
 */

import { asTool, defineAgent } from "keel-native";

import { figuresPart, findingsPart } from "./parts.js";
import { shopTools } from "./shop.js";

/** @import { LanguageModel, ModelOptions } from "keel-native" */

/**
 * @param {(agentId: string) => LanguageModel} modelFor
 * @param {{ paceMs: number, modelOptions?: ModelOptions }} options
 */
export function defineTeam(modelFor, { paceMs, modelOptions = {} }) {
  const { querySales, searchNotes } = shopTools(paceMs);

  const analyst = defineAgent({
    id: "analyst",
    description: "Compares the sales of the shops. Give it the question.",
    model: modelFor("analyst"),
    modelOptions,
    instructions: "Query the sales of each shop, work out the changes over the year, then submit your figures.",
    tools: [querySales],
    emits: [figuresPart],
  });

  const factChecker = defineAgent({
    id: "fact-checker",
    description: "Checks a claim against the notes. Give it the claim.",
    model: modelFor("fact-checker"),
    modelOptions,
    instructions: "Search the notes for the claim and say whether they support it.",
    tools: [searchNotes],
    grants: ["notes:read"],
  });

  const researcher = defineAgent({
    id: "researcher",
    description: "Finds out how the shops are doing and why. Give it the question.",
    model: modelFor("researcher"),
    modelOptions,
    instructions:
      "Have the analyst compare the sales, search the notes for a reason, have the reason checked, then submit your findings. Say so when something could not be checked.",
    tools: [
      searchNotes,
      asTool(analyst, {
        budget: { steps: 4, timeMs: 20_000 },
        deliverable: figuresPart,
        forward: { progress: true },
      }),
      // One step is too little for a search and an answer: this child fails, and its caller has to live with that.
      asTool(factChecker, { budget: { steps: 1 }, onError: "feedback" }),
    ],
    emits: [findingsPart],
    grants: ["notes:read"],
  });

  return defineAgent({
    id: "assistant",
    model: modelFor("assistant"),
    modelOptions,
    instructions: "Have the researcher find out what you are asked, then answer in two plain sentences.",
    tools: [
      asTool(researcher, {
        budget: { steps: 6, timeMs: 60_000 },
        deliverable: findingsPart,
        forward: { progress: true, parts: [findingsPart] },
      }),
    ],
    emits: [],
    budget: { steps: 4, toolCalls: 4, timeMs: 120_000 },
  });
}

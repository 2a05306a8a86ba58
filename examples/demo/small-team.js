/**
 * The same delegation with one tool for each agent, which is what small models can handle. Two levels: the assistant has
 * `run-researcher`, the researcher has `submit_findings`. Three levels: the assistant has `run-researcher`, the researcher
 * has `run-analyst`, the analyst has `submit_figures`. Whoever submits reads the data before it starts.
 */

import { asTool, defineAgent } from "keel-native";
import { z } from "zod";

import { figuresPart, findingsPart } from "./parts.js";
import { salesTable } from "./shop.js";

/** @import { LanguageModel, ModelOptions } from "keel-native" */

const FOR_A_LOCAL_MODEL_MS = 120_000;

/** What the callers fill in, in place of the default `brief`: small models copy a question better than they write a brief. */
const question = z.object({ question: z.string().describe("the question, word for word") });

/**
 * @param {(agentId: string) => LanguageModel} modelFor
 * @param {{ levels: 2 | 3, modelOptions?: ModelOptions }} options
 */
export function defineSmallTeam(modelFor, { levels, modelOptions = {} }) {
  return defineAgent({
    id: "assistant",
    model: modelFor("assistant"),
    modelOptions,
    instructions:
      "You know nothing about the shops yourself. Call run-researcher to find out, then answer in one plain sentence.",
    tools: [
      levels === 2 ? runSubmittingResearcher(modelFor, modelOptions) : runDelegatingResearcher(modelFor, modelOptions),
    ],
    budget: { steps: 4, toolCalls: 4, timeMs: 3 * FOR_A_LOCAL_MODEL_MS },
  });
}

/**
 * @param {(agentId: string) => LanguageModel} modelFor
 * @param {ModelOptions} modelOptions
 */
function runSubmittingResearcher(modelFor, modelOptions) {
  const researcher = defineAgent({
    id: "researcher",
    description: "Answers a question about the shops.",
    model: modelFor("researcher"),
    // It has nothing to call but its submit tool, and an accepted submit ends the turn.
    modelOptions: { ...modelOptions, toolChoice: { type: "required" } },
    instructions: "Answer the question from the table above by calling submit_findings.",
    reads: [salesTable],
    emits: [findingsPart],
  });
  return asTool(researcher, {
    input: question,
    brief: ({ question }) => question,
    budget: { steps: 4, timeMs: 2 * FOR_A_LOCAL_MODEL_MS },
    deliverable: { part: findingsPart, nudges: 2 },
    forward: { progress: true },
  });
}

/**
 * @param {(agentId: string) => LanguageModel} modelFor
 * @param {ModelOptions} modelOptions
 */
function runDelegatingResearcher(modelFor, modelOptions) {
  const analyst = defineAgent({
    id: "analyst",
    description: "Answers a question about the sales of the shops.",
    model: modelFor("analyst"),
    // It has nothing to call but its submit tool, and an accepted submit ends the turn.
    modelOptions: { ...modelOptions, toolChoice: { type: "required" } },
    instructions: "Answer the question from the table above by calling submit_figures.",
    reads: [salesTable],
    emits: [figuresPart],
  });
  const researcher = defineAgent({
    id: "researcher",
    description: "Answers a question about the shops.",
    model: modelFor("researcher"),
    modelOptions,
    instructions:
      "You know nothing about the shops yourself. Call run-analyst to find out, then answer in one plain sentence.",
    tools: [
      asTool(analyst, {
        input: question,
        brief: ({ question }) => question,
        budget: { steps: 4, timeMs: FOR_A_LOCAL_MODEL_MS },
        deliverable: { part: figuresPart, nudges: 2 },
        forward: { progress: true },
      }),
    ],
  });
  return asTool(researcher, {
    input: question,
    brief: ({ question }) => question,
    budget: { steps: 4, timeMs: 2 * FOR_A_LOCAL_MODEL_MS },
    forward: { progress: true },
  });
}

/** What the demo's agents say when no real model is given: one script each, with a pause before every step. */

import { delay, scriptedModel, text, toolCall } from "keel-native/testing";

/** @import { ScriptedModel, ScriptStep } from "keel-native/testing" */

/**
 * @param {number} paceMs
 * @returns {(agentId: string) => ScriptedModel}
 */
export function scriptedModels(paceMs) {
  return (agentId) => {
    const script = SCRIPTS[agentId];
    if (script === undefined) throw new Error(`the demo has no script for agent "${agentId}"`);
    return scriptedModel(
      script.map((step) => delay(paceMs, step)),
      { id: `script of ${agentId}` },
    );
  };
}

/** @type {Record<string, ScriptStep[]>} */
const SCRIPTS = {
  assistant: [
    toolCall("run-researcher", { brief: "Which shop had the worst year, and why?" }),
    text(
      "The harbour shop: its sales fell by 35 % over the year. The closed bridge is the likely reason, though our fact checker could not confirm it.",
    ),
  ],
  researcher: [
    [
      toolCall("run-analyst", { brief: "Which shop developed worst over the year?" }),
      toolCall("search-notes", { word: "harbour" }),
    ],
    toolCall("run-fact-checker", { brief: "The closed bridge is why the harbour shop sells less." }),
    toolCall("submit_findings", {
      shop: "harbour",
      finding:
        "Sales of the harbour shop fell by 35 % since the bridge was closed; that the bridge is the reason is not checked.",
    }),
  ],
  analyst: [
    [
      toolCall("query-sales", { shop: "north" }),
      toolCall("query-sales", { shop: "south" }),
      toolCall("query-sales", { shop: "harbour" }),
    ],
    // Not what the contract asks for: the answer names the field that is wrong.
    toolCall("submit_figures", { shop: "harbour", changePercent: "-35 %" }),
    // Prose in place of the deliverable: a nudge follows.
    text("The harbour shop developed worst: minus 35 percent."),
    toolCall("submit_figures", { shop: "harbour", changePercent: -35 }),
  ],
  "fact-checker": [toolCall("search-notes", { word: "bridge" })],
};

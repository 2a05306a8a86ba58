/** The demo's command line. */

import { parseArgs } from "node:util";

export const USAGE = `usage: npm run demo -- [options]

  --base-url URL   run on an OpenAI-compatible server, such as http://127.0.0.1:8080/v1
  --model NAME     the model's name on that server
  --api-key KEY    its key, if it wants one
  --levels 2|3     how deep the agents delegate there (default 3)
  --tools one|all  how many tools each agent has there: one is enough for small models (default one)
  --ask TEXT       another question
  --pace MS        how long each scripted step takes (default 250)
  --json           print every event as a line of JSON`;

const QUESTION = "Which shop had the worst year?";

/**
 * @param {string[]} args
 * @returns {DemoOptions | string} options, or what is wrong with the command line
 *
 * @typedef {object} DemoOptions
 * @property {{ baseURL: string, model: string, apiKey: string | undefined, levels: 2 | 3, tools: string } | undefined} server
 * @property {string} question
 * @property {number} paceMs
 * @property {boolean} json
 * @property {boolean} help
 */
export function readOptions(args) {
  let given;
  try {
    given = parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
  const paceMs = Number(given.pace ?? 250);
  if (!(paceMs >= 0 && paceMs <= 60_000)) return `--pace: expected milliseconds, found "${given.pace}"`;
  const server = readServer(given);
  if (typeof server === "string") return server;
  return {
    server,
    question: given.ask ?? QUESTION,
    paceMs,
    json: given.json ?? false,
    help: given.help ?? false,
  };
}

const OPTIONS = /** @type {const} */ ({
  "base-url": { type: "string" },
  model: { type: "string" },
  "api-key": { type: "string" },
  levels: { type: "string" },
  tools: { type: "string" },
  ask: { type: "string" },
  pace: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean" },
});

/**
 * @param {Record<string, string | boolean | undefined>} given
 * @returns {DemoOptions["server"] | string}
 */
function readServer(given) {
  const {
    "base-url": baseURL,
    model,
    "api-key": apiKey,
    levels = "3",
    tools = "one",
  } = /** @type {Record<string, string | undefined>} */ (given);
  if (baseURL === undefined) {
    const alone = ["model", "api-key", "levels", "tools", "ask"].find((name) => given[name] !== undefined);
    return alone === undefined
      ? undefined
      : `--${alone} needs --base-url; without a server the demo follows its script`;
  }
  if (!URL.canParse(baseURL)) return `--base-url: expected a URL, found "${baseURL}"`;
  if (model === undefined) return "--base-url needs --model";
  if (levels !== "2" && levels !== "3") return `--levels: expected 2 or 3, found "${levels}"`;
  if (tools !== "one" && tools !== "all") return `--tools: expected one or all, found "${tools}"`;
  if (tools === "all" && levels === "2") return "--levels 2 has one tool for each agent: it goes with --tools one";
  return { baseURL, model, apiKey, levels: levels === "2" ? 2 : 3, tools };
}

/** What stands around a model call in a turn, for tests that call a model without a kernel. */

import { loopbackProvider } from "./loopback-provider.js";

/** Runs a test with a model of `entry` and the provider it talks to. */
export async function withModel(entry, test) {
  const provider = await loopbackProvider();
  try {
    await test(await entry.create(provider.url), provider);
  } finally {
    await provider.close();
  }
}

/** The assistant message that a reply becomes in the transcript: arguments parsed, all of it frozen, through JSON. */
export function assistantMessage(reply) {
  const { content } = JSON.parse(JSON.stringify(reply));
  return deepFreeze({
    role: "assistant",
    content: content.map((part) => (part.type === "tool-call" ? { ...part, input: JSON.parse(part.input) } : part)),
  });
}

/** The tool message that answers a reply's calls. */
export function toolMessage(reply, outputs) {
  const calls = reply.content.filter((part) => part.type === "tool-call");
  return deepFreeze({
    role: "tool",
    content: calls.map(({ toolCallId, toolName }, index) => ({
      type: "tool-result",
      toolCallId,
      toolName,
      output: outputs[index],
    })),
  });
}

export const tools = deepFreeze([
  {
    type: "function",
    name: "search",
    description: "Searches",
    inputSchema: {
      type: "object",
      properties: { q: { type: "string" } },
      required: ["q"],
      additionalProperties: false,
    },
  },
  { type: "function", name: "weather", inputSchema: { type: "object", properties: { city: { type: "string" } } } },
]);

export const question = deepFreeze([
  { role: "system", content: "Be brief." },
  { role: "user", content: "Rust and Ulm?" },
]);

/** Call options, with the controller behind their signal. */
export function callOptions({ stream = false } = {}) {
  const controller = new AbortController();
  return { signal: controller.signal, stream, controller };
}

export function deepFreeze(value) {
  if (value !== null && typeof value === "object") Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

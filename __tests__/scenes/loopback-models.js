/** The real provider packages, each pointed at a loopback server, for every specification version that they implement. */

const nodeMajor = Number(process.versions.node.split(".")[0]);

// The providers of specification v4 declare Node 22 as their minimum.
const v4Skip = nodeMajor < 22 ? `providers of specification v4 need Node 22, this is ${process.version}` : false;

const settings = (url, path = "/v1") => ({ baseURL: `${url}${path}`, apiKey: "loopback-key" });

async function createOpenAI(load, url) {
  const { createOpenAI } = await load();
  return createOpenAI(settings(url));
}

async function createCompatible(load, url) {
  const { createOpenAICompatible } = await load();
  return createOpenAICompatible({ name: "loopback", includeUsage: true, ...settings(url) })("some-model");
}

async function createAnthropic(load, url) {
  const { createAnthropic } = await load();
  return createAnthropic(settings(url))("claude-sonnet-4-5");
}

const versions = [
  {
    version: "v2",
    openai: () => import("ai-openai-v2"),
    anthropic: () => import("ai-anthropic-v2"),
    compatible: () => import("ai-compatible-v2"),
    skip: false,
  },
  {
    version: "v3",
    openai: () => import("ai-openai-v3"),
    anthropic: () => import("ai-anthropic-v3"),
    compatible: () => import("ai-compatible-v3"),
    skip: false,
  },
  {
    version: "v4",
    openai: () => import("@ai-sdk/openai"),
    anthropic: () => import("@ai-sdk/anthropic"),
    compatible: () => import("@ai-sdk/openai-compatible"),
    skip: v4Skip,
  },
];

/** Models that speak OpenAI's chat completions. */
export const chatModels = versions.flatMap(({ version, openai, compatible, skip }) => [
  {
    name: `openai.chat ${version}`,
    version,
    skip,
    create: async (url) => (await createOpenAI(openai, url)).chat("gpt-4.1"),
  },
  { name: `openai-compatible ${version}`, version, skip, create: (url) => createCompatible(compatible, url) },
]);

/** Models that speak OpenAI's responses. */
export const responsesModels = versions.map(({ version, openai, skip }) => ({
  name: `openai.responses ${version}`,
  version,
  skip,
  create: async (url) => (await createOpenAI(openai, url)).responses("gpt-5-mini"),
}));

/** Models that speak Anthropic's messages. */
export const anthropicModels = versions.map(({ version, anthropic, skip }) => ({
  name: `anthropic ${version}`,
  version,
  skip,
  create: (url) => createAnthropic(anthropic, url),
}));

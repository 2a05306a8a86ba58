/** A model on any OpenAI-compatible server, through the AI SDK's provider. */

/**
 * @param {{ baseURL: string, model: string, apiKey: string | undefined }} options
 * @returns {Promise<import("keel-native").LanguageModel>}
 */
export async function modelAt({ baseURL, model, apiKey }) {
  const { createOpenAICompatible } = await importProvider();
  const provider = createOpenAICompatible({
    name: "server",
    baseURL,
    includeUsage: true,
    ...(apiKey !== undefined && { apiKey }),
  });
  return provider(model);
}

async function importProvider() {
  try {
    return await import("@ai-sdk/openai-compatible");
  } catch (cause) {
    throw new Error("--base-url needs the provider package: npm install @ai-sdk/openai-compatible", { cause });
  }
}

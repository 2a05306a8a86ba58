export { defineAgent } from "./agent.js";
export { asTool } from "./as-tool.js";
export { KeelError } from "./error.js";
export { createKeel, run, stream } from "./keel.js";
export { definePart } from "./part.js";
export { defineSource } from "./source.js";
export { toolError, toolResult } from "./tool-result.js";
export { defineTool } from "./tool.js";

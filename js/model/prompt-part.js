/** One part of a message → one part of a prompt message, for each specification version. */

import { KeelError } from "../error.js";
import { toFileData } from "./file-data.js";
import { toToolOutput } from "./tool-output.js";

/**
 * @param {any} part
 * @param {"user" | "assistant" | "tool"} role
 * @param {import("./prompt.js").SpecificationVersion} version
 * @returns {any} undefined for a part that prompts of this version have no place for
 */
export function toPromptPart(part, role, version) {
  const options = part.providerOptions === undefined ? {} : { providerOptions: part.providerOptions };
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text, ...options };
    case "image":
      return { type: "file", ...toFileData(part.image, part.mediaType ?? "image/*", version), ...options };
    case "file":
      return {
        type: "file",
        ...toFileData(part.data, part.mediaType, version),
        ...(part.filename === undefined ? {} : { filename: part.filename }),
        ...options,
      };
    case "tool-call":
      return {
        type: "tool-call",
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        input: toolInput(part.input),
        ...(part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted }),
        ...options,
      };
    case "tool-result":
      return {
        type: "tool-result",
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        output: toToolOutput(part, version),
        ...options,
      };
    case "reasoning-file":
      return version === "v4"
        ? { type: part.type, ...toFileData(part.data, part.mediaType, version), ...options }
        : undefined;
    case "custom":
      return version === "v4" ? { type: part.type, kind: part.kind, ...options } : undefined;
    case "tool-approval-response":
      return version === "v2" ? undefined : part;
    default:
      // What a reply brought beyond these (sources, approval requests) is for the reader, not for the next prompt.
      if (role === "assistant") return undefined;
      throw new KeelError(
        "MODEL_ERROR",
        `message of role ${role}: a part of type ${String(part.type)} cannot be sent to a model`,
      );
  }
}

// Arguments that were not a JSON object have been answered as such. Sent back as they were, several providers and chat
// templates refuse the whole request.
/** @param {unknown} input */
function toolInput(input) {
  return input !== null && typeof input === "object" && !Array.isArray(input) ? input : {};
}

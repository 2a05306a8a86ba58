/** What a tool answered, as each specification version writes it into the prompt. */

import { toFileData } from "./file-data.js";

/**
 * @param {any} part a tool-result part of a message, or of a reply whose provider ran the tool itself
 * @param {import("./prompt.js").SpecificationVersion} version
 * @returns {any}
 */
export function toToolOutput(part, version) {
  const { output } = part;
  if (output === undefined) return { type: part.isError ? "error-json" : "json", value: part.result ?? null };
  if (output.type === "json" || output.type === "error-json") return { ...output, value: output.value ?? null };
  if (output.type === "content") {
    return { ...output, value: output.value.map((/** @type {any} */ item) => toContentItem(item, version)) };
  }
  if (output.type === "execution-denied" && version === "v2") {
    return { type: "error-text", value: output.reason ?? "the call was denied" };
  }
  return output;
}

/**
 * Files within a result have another shape in every version; any of them is taken.
 *
 * @param {any} item
 * @param {import("./prompt.js").SpecificationVersion} version
 */
function toContentItem(item, version) {
  const given = item.type === "media" || item.type === "file" ? item.data : (item.data ?? item.url);
  if (item.type === "text" || given === undefined) return item;
  const isImage = item.type.startsWith("image");
  const { data, mediaType } = toFileData(given, item.mediaType ?? (isImage ? "image/*" : undefined), "v4");
  const rest = {
    ...(item.filename === undefined ? {} : { filename: item.filename }),
    ...(item.providerOptions === undefined ? {} : { providerOptions: item.providerOptions }),
  };
  if (version === "v4") return { type: "file", data, mediaType, ...rest };
  if (data.type === "url") {
    return version === "v3"
      ? { type: mediaType.startsWith("image/") ? "image-url" : "file-url", url: data.url.href, ...rest }
      : { type: "text", text: data.url.href };
  }
  if (data.type !== "data") return { type: "text", text: data.text ?? JSON.stringify(data.reference) };
  const base64 = typeof data.data === "string" ? data.data : Buffer.from(data.data).toString("base64");
  if (version === "v2") return { type: "media", data: base64, mediaType };
  return { type: mediaType.startsWith("image/") ? "image-data" : "file-data", data: base64, mediaType, ...rest };
}

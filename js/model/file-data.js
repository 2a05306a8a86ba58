/** The content of a file part, in the forms that users write and in the form that each specification version wants. */

import { KeelError } from "../error.js";

/**
 * Nothing is downloaded: a URL is the provider's to fetch or to refuse.
 *
 * @param {any} given bytes, base64 text, a URL, a data URL, or the tagged form of specification v4
 * @param {string | undefined} mediaType
 * @param {import("./prompt.js").SpecificationVersion} version
 * @returns {{ data: any, mediaType: string }}
 */
export function toFileData(given, mediaType, version) {
  const { data, mediaType: found } = tagged(given);
  const type = found !== undefined && (mediaType === undefined || mediaType.endsWith("/*")) ? found : mediaType;
  return { data: version === "v4" ? data : untagged(data), mediaType: type ?? "application/octet-stream" };
}

/**
 * @param {any} given
 * @returns {{ data: any, mediaType?: string }}
 */
function tagged(given) {
  if (typeof given === "string") return taggedText(given);
  if (ArrayBuffer.isView(given)) return { data: { type: "data", data: given } };
  if (typeof given?.byteLength === "number") return { data: { type: "data", data: new Uint8Array(given) } };
  if (typeof given?.href === "string") return taggedText(given.href);
  switch (given?.type) {
    case "data":
    case "url":
      return tagged(given[given.type]);
    case "reference":
    case "text":
      return { data: given };
    default:
      throw new KeelError("MODEL_ERROR", "file part: expected bytes, base64 text or a URL as its data");
  }
}

/**
 * @param {string} text
 * @returns {{ data: any, mediaType?: string }}
 */
function taggedText(text) {
  const dataUrl = /^data:([^;,]+)?[^,]*?(;base64)?,/i.exec(text);
  if (dataUrl) {
    const body = text.slice(dataUrl[0].length);
    const data = dataUrl[2] ? body : new TextEncoder().encode(decodeURIComponent(body));
    return { data: { type: "data", data }, mediaType: dataUrl[1] ?? "text/plain" };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { data: { type: "url", url: new URL(text) } };
  return { data: { type: "data", data: text } };
}

/** @param {any} data */
function untagged(data) {
  switch (data.type) {
    case "data":
      return data.data;
    case "url":
      return data.url;
    case "text":
      return new TextEncoder().encode(data.text);
    default:
      throw new KeelError("MODEL_ERROR", "file part: a provider's file reference needs a model of specification v4");
  }
}

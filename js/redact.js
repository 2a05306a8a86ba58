/**
 * `capture.redact`, applied wherever a captured payload is read (D-24); what the kernel keeps stays as it was. A redaction
 * that throws hides the payload: it fails closed.
 */

const HIDDEN = "[redact() threw]";

/**
 * @param {any} event
 * @param {any} capture
 */
export function redactEvent(event, capture) {
  if (!capture?.redact) return event;
  const redacted = { ...event };
  if ("input" in event) redacted.input = apply(capture, "toolInput", event.toolId, event.input);
  if ("output" in event) redacted.output = apply(capture, "toolOutput", event.toolId, event.output);
  if ("reply" in event) redacted.reply = apply(capture, "modelReply", undefined, event.reply);
  return redacted;
}

/**
 * @param {any} record
 * @param {any} capture
 */
export function redactRecord(record, capture) {
  if (!capture?.redact) return record;
  const redacted = { ...record, transcript: redactTranscript(record.transcript, capture) };
  const { submits } = record;
  if (!submits?.rejected) return redacted;
  const rejected = submits.rejected.map((/** @type {any} */ one) => ({ ...one, payload: apply(capture, "submit", undefined, one.payload) }));
  return { ...redacted, submits: { ...submits, rejected } };
}

/**
 * @param {readonly any[]} messages
 * @param {any} capture
 */
export function redactTranscript(messages, capture) {
  if (!capture?.redact) return messages;
  return messages.map((message) => (Array.isArray(message.content) ? { ...message, content: message.content.map(redactPart) } : message));

  /** @param {any} part */
  function redactPart(part) {
    if (part.type === "tool-call") return { ...part, input: apply(capture, "toolInput", part.toolName, part.input) };
    if (part.type !== "tool-result") return part;
    return { ...part, output: { ...part.output, value: apply(capture, "toolOutput", part.toolName, part.output.value) } };
  }
}

/**
 * @param {any} capture
 * @param {string} kind
 * @param {string | undefined} toolId
 * @param {unknown} value
 */
function apply(capture, kind, toolId, value) {
  try {
    return capture.redact(kind, toolId, value);
  } catch {
    return HIDDEN;
  }
}

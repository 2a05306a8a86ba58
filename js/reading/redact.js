/**
 * `capture.redact`, applied wherever a captured payload is read (D-24); what the kernel keeps stays as it was. A redaction
 * that throws hides the payload: it fails closed.
 */

const HIDDEN = "[redact() threw]";
const TOO_LONG = "[too long for redact()]";

/**
 * @param {any} event
 * @param {any} capture
 */
export function redactEvent(event, capture) {
  if (!capture?.redact) return event;
  const redacted = { ...event };
  if ("input" in event) redacted.input = apply(capture, "toolInput", event.toolId, event.input);
  if ("output" in event) redacted.output = apply(capture, "toolOutput", event.toolId, event.output);
  // What a tool reports as its failure is its output as text.
  if (typeof event.error === "string") redacted.error = asText(apply(capture, "toolOutput", event.toolId, event.error));
  if ("reply" in event) redacted.reply = apply(capture, "modelReply", undefined, event.reply);
  if ("pending" in event) redacted.pending = redactPending(event.pending, capture);
  if (Array.isArray(event.metadata?.nested_calls)) redacted.metadata = redactSummary(event.metadata, capture);
  return redacted;
}

/**
 * Whoever decides is shown the arguments; whoever reads events is not.
 *
 * @param {any} pending one call that waits for a human, or several
 * @param {any} capture
 * @returns {any}
 */
function redactPending(pending, capture) {
  if (Array.isArray(pending)) return pending.map((one) => redactPending(one, capture));
  return { ...pending, args: apply(capture, "toolInput", pending.toolId, pending.args) };
}

/**
 * @param {any} metadata of a call that made nested ones
 * @param {any} capture
 */
function redactSummary(metadata, capture) {
  const calls = metadata.nested_calls.map((/** @type {any} */ call) => {
    const shown = { ...call };
    if (typeof call?.args === "string") shown.args = redactText(call.args, call.name, capture);
    if (typeof call?.error === "string" && call.status !== "abandoned") {
      shown.error = asText(apply(capture, "toolOutput", call.name, call.error));
    }
    return shown;
  });
  return { ...metadata, nested_calls: calls };
}

/**
 * Arguments that were cut are JSON no longer, and what is secret in them cannot be found: they are hidden.
 *
 * @param {string} text
 * @param {string} toolId
 * @param {any} capture
 */
function redactText(text, toolId, capture) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return TOO_LONG;
  }
  return asText(apply(capture, "toolInput", toolId, value));
}

/** @param {unknown} shown */
function asText(shown) {
  if (typeof shown === "string") return shown;
  try {
    return JSON.stringify(shown) ?? "";
  } catch {
    return HIDDEN;
  }
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
  const rejected = submits.rejected.map((/** @type {any} */ one) => ({
    ...one,
    payload: apply(capture, "submit", undefined, one.payload),
  }));
  return { ...redacted, submits: { ...submits, rejected } };
}

/**
 * @param {readonly any[]} messages
 * @param {any} capture
 */
export function redactTranscript(messages, capture) {
  if (!capture?.redact) return messages;
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: message.content.map(redactPart) } : message,
  );

  /** @param {any} part */
  function redactPart(part) {
    if (part.type === "tool-call") return { ...part, input: apply(capture, "toolInput", part.toolName, part.input) };
    if (part.type !== "tool-result") return part;
    return {
      ...part,
      output: { ...part.output, value: apply(capture, "toolOutput", part.toolName, part.output.value) },
    };
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

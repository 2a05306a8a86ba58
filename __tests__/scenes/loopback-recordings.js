/** Responses as the providers' servers send them: whole, and as the events of a stream. */

const created = 1_764_500_000;

const chatUsage = {
  prompt_tokens: 82,
  completion_tokens: 41,
  total_tokens: 123,
  prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 8,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

const chatCall = (id, name, args) => ({ id, type: "function", function: { name, arguments: args } });

export const chat = {
  reply: (message, finish_reason = "stop", usage = chatUsage) => ({
    id: "chatcmpl-CgQ2x",
    object: "chat.completion",
    created,
    model: "gpt-4.1-2025-04-14",
    choices: [
      {
        index: 0,
        message: { role: "assistant", refusal: null, annotations: [], ...message },
        logprobs: null,
        finish_reason,
      },
    ],
    usage,
    service_tier: "default",
    system_fingerprint: "fp_51e1070cf2",
  }),

  chunks: (deltas, finish_reason = "stop", usage = chatUsage) => [
    ...deltas.map((delta) => chatChunk([{ index: 0, delta, logprobs: null, finish_reason: null }])),
    ...(finish_reason === null ? [] : [chatChunk([{ index: 0, delta: {}, logprobs: null, finish_reason }])]),
    ...(usage === null ? [] : [{ ...chatChunk([]), usage }, "[DONE]"]),
  ],

  twoCalls: {
    content: "Looking both up.",
    tool_calls: [chatCall("call_a1", "search", '{"q":"rust"}'), chatCall("call_b2", "weather", '{"city":"Ulm"}')],
  },

  twoCallsDeltas: [
    { role: "assistant", content: "", refusal: null },
    { content: "Looking " },
    { content: "both up." },
    { tool_calls: [{ index: 0, ...chatCall("call_a1", "search", "") }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"q":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '"rust"}' } }] },
    { tool_calls: [{ index: 1, ...chatCall("call_b2", "weather", "") }] },
    { tool_calls: [{ index: 1, function: { arguments: '{"city":"Ulm"}' } }] },
  ],
};

function chatChunk(choices) {
  return {
    id: "chatcmpl-CgQ2x",
    object: "chat.completion.chunk",
    created,
    model: "gpt-4.1-2025-04-14",
    service_tier: "default",
    system_fingerprint: "fp_51e1070cf2",
    choices,
  };
}

const responsesUsage = {
  input_tokens: 82,
  input_tokens_details: { cached_tokens: 64 },
  output_tokens: 41,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 123,
};

const reasoningItem = { id: "rs_68af", type: "reasoning", summary: [{ type: "summary_text", text: "Two lookups." }] };
const messageItem = {
  id: "msg_68b0",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", annotations: [], logprobs: [], text: "Looking both up." }],
};
const callItem = (id, call_id, name, args) => ({
  id,
  type: "function_call",
  status: "completed",
  arguments: args,
  call_id,
  name,
});

export const responses = {
  items: [
    reasoningItem,
    messageItem,
    callItem("fc_68b1", "call_a1", "search", '{"q":"rust"}'),
    callItem("fc_68b2", "call_b2", "weather", '{"city":"Ulm"}'),
  ],

  reply: (output, ending = { status: "completed", incomplete_details: null }) => ({
    id: "resp_68ae",
    object: "response",
    created_at: created,
    error: null,
    instructions: null,
    model: "gpt-5-mini-2025-08-07",
    output,
    parallel_tool_calls: true,
    service_tier: "default",
    usage: responsesUsage,
    ...ending,
  }),

  events(items) {
    const opened = { ...this.reply([]), status: "in_progress", usage: null };
    const events = [
      { type: "response.created", response: opened },
      { type: "response.in_progress", response: opened },
      ...items.flatMap(itemEvents),
      { type: "response.completed", response: this.reply(items) },
    ];
    // These events have no `object` of their own; the type is also their event name.
    return events.map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

function itemEvents(item, output_index) {
  const at = { item_id: item.id, output_index };
  const around = (open, between) => [
    { type: "response.output_item.added", output_index, item: open },
    ...between,
    { type: "response.output_item.done", output_index, item },
  ];
  if (item.type === "function_call") {
    const half = Math.ceil(item.arguments.length / 2);
    return around({ ...item, arguments: "", status: "in_progress" }, [
      { type: "response.function_call_arguments.delta", ...at, delta: item.arguments.slice(0, half) },
      { type: "response.function_call_arguments.delta", ...at, delta: item.arguments.slice(half) },
      { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
    ]);
  }
  if (item.type === "reasoning") {
    const [part] = item.summary;
    const summary = { ...at, summary_index: 0 };
    return around({ ...item, summary: [] }, [
      { type: "response.reasoning_summary_part.added", ...summary, part: { type: "summary_text", text: "" } },
      { type: "response.reasoning_summary_text.delta", ...summary, delta: "Two " },
      { type: "response.reasoning_summary_text.delta", ...summary, delta: "lookups." },
      { type: "response.reasoning_summary_text.done", ...summary, text: part.text },
      { type: "response.reasoning_summary_part.done", ...summary, part },
    ]);
  }
  const [part] = item.content;
  const content = { ...at, content_index: 0 };
  return around({ ...item, status: "in_progress", content: [] }, [
    { type: "response.content_part.added", ...content, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...content, delta: "Looking ", logprobs: [] },
    { type: "response.output_text.delta", ...content, delta: "both up.", logprobs: [] },
    { type: "response.output_text.done", ...content, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...content, part },
  ]);
}

const anthropicUsage = {
  input_tokens: 18,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 64,
  output_tokens: 41,
};

export const anthropic = {
  blocks: [
    { type: "thinking", thinking: "Two lookups.", signature: "EqQBCkYIBRgCKkD" },
    { type: "text", text: "Looking both up." },
    { type: "tool_use", id: "toolu_a1", name: "search", input: { q: "rust" } },
    { type: "tool_use", id: "toolu_b2", name: "weather", input: { city: "Ulm" } },
  ],

  reply: (content, stop_reason = "end_turn") => ({
    id: "msg_01Xy",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5-20250929",
    content,
    stop_reason,
    stop_sequence: null,
    usage: anthropicUsage,
  }),

  events(blocks, stop_reason = "end_turn") {
    const message = { ...this.reply([], null), usage: { ...anthropicUsage, output_tokens: 2 } };
    return [
      { type: "message_start", message },
      { type: "ping" },
      ...blocks.flatMap(blockEvents),
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: anthropicUsage },
      { type: "message_stop" },
    ];
  },
};

function blockEvents(block, index) {
  const around = (content_block, deltas) => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  switch (block.type) {
    case "thinking":
      return around({ type: "thinking", thinking: "", signature: "" }, [
        { type: "thinking_delta", thinking: "Two " },
        { type: "thinking_delta", thinking: "lookups." },
        { type: "signature_delta", signature: block.signature },
      ]);
    case "text":
      return around({ type: "text", text: "" }, [
        { type: "text_delta", text: block.text.slice(0, 8) },
        { type: "text_delta", text: block.text.slice(8) },
      ]);
    default:
      return around({ ...block, input: {} }, [
        { type: "input_json_delta", partial_json: "" },
        { type: "input_json_delta", partial_json: JSON.stringify(block.input).slice(0, 6) },
        { type: "input_json_delta", partial_json: JSON.stringify(block.input).slice(6) },
      ]);
  }
}

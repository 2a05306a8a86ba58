/** An HTTP server on the loopback interface that plays a provider: it answers from a queue and keeps what it was sent. */

import { createServer } from "node:http";

export async function loopbackProvider() {
  const requests = [];
  const answers = [];
  const waiting = [];
  const open = new Set();
  let hungUp;
  const disconnected = new Promise((resolve) => {
    hungUp = resolve;
  });

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    requests.push({ path: request.url, headers: request.headers, body: body === "" ? undefined : JSON.parse(body) });
    open.add(response);
    response.on("close", () => {
      open.delete(response);
      if (!response.writableFinished) hungUp();
    });
    const answer = answers.shift();
    if (answer) await answer(response);
    else response.writeHead(500).end("the queue of answers is empty");
    waiting.shift()?.();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    /** Resolves once a client hangs up before its answer is complete. */
    disconnected,
    /** Queues answers, one for each request. */
    answer(...given) {
      answers.push(...given);
    },
    /** Resolves when the next answer has been written as far as it goes. */
    answered() {
      return new Promise((resolve) => waiting.push(resolve));
    },
    /** Breaks every connection that waits for the rest of its answer. */
    cut() {
      for (const response of open) response.socket.destroy();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A whole JSON body. */
export function json(body, { status = 200, headers = {} } = {}) {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Server-sent events: `data:` lines, with an `event:` line where the protocol has one. */
export function sse(events) {
  return async (response) => {
    await writeEvents(response, events);
    response.end();
  };
}

/** A JSON body whose connection breaks in the middle. */
export function cutJson(body) {
  return async (response) => {
    const text = JSON.stringify(body);
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    await write(response, text.slice(0, text.length / 2));
    response.socket.destroy();
  };
}

/** The connection breaks before there is any answer. */
export function refuse() {
  return (response) => {
    response.socket.destroy();
  };
}

/** These events, and then nothing more: the connection stays open. */
export function stall(events = []) {
  return async (response) => {
    await writeEvents(response, events);
  };
}

async function writeEvents(response, events) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  for (const event of events) {
    const name = event.type && event.object === undefined ? `event: ${event.type}\n` : "";
    await write(response, `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
  }
}

function write(response, text) {
  return new Promise((resolve) => response.write(text, resolve));
}

/** An HTTP server that answers with the text of a turn as server-sent events, and a client that reads them. */

import { createServer } from "node:http";

import { createKeel, defineAgent } from "keel-native";
import { scriptedModel, text } from "keel-native/testing";

const poet = defineAgent({
  id: "poet",
  model: scriptedModel(() => text("Rain on the harbour."), { chunks: 4 }),
});
const keel = createKeel();

const server = createServer(async (request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const stream = keel.stream(poet, "Say something about the weather.");
  // Whoever hangs up no longer pays for the rest.
  response.on("close", () => void stream.stop("the client left"));
  for await (const piece of stream.textStream) response.write(`data: ${JSON.stringify(piece)}\n\n`);
  const { outcome } = await stream.result;
  response.end(`event: end\ndata: ${JSON.stringify(outcome)}\n\n`);
});

await new Promise((resolve) => {
  server.listen(0, "127.0.0.1", () => resolve(undefined));
});
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } });
console.log((await answer.text()).trim());

server.close();
await keel.close();

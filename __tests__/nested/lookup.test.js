import assert from "node:assert/strict";
import { test } from "node:test";

import { createKeel, defineTool } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { callerOf, callsIn, leafOf, nestedRun, ONE_CALL, rejection } from "../scenes/nested-runs.js";
import { agentOf, anything, deferred, toolOf } from "../scenes/small-agents.js";

const notFound = (name) => ({ code: "TOOL_NOT_FOUND", message: `tool not found: ${name}` });

/** How one nested call of `name` ends under the given options. */
async function endOf(name, given) {
  const { leaf, seen } = leafOf(() => "ran", given.leaf);
  let end;
  const caller = callerOf(async ({ callTool }) => {
    end = await callTool(name, {}).then(
      ({ text }) => text,
      ({ code, message }) => ({ code, message }),
    );
  });
  const { result, agent } = await nestedRun({ tools: [caller, leaf], ...given.run });
  assert.equal(result.outcome.status, "completed");
  return { end, ran: seen.length, offered: agent.model.requests[0].tools.map((tool) => tool.name) };
}

test("NC-25 a stopped turn refuses the next nested call as cancelled", async () => {
  const { leaf, seen } = leafOf();
  let refused;
  const keel = createKeel({ limits: { maxNestedDepth: 1 } });
  const finished = deferred();
  const caller = callerOf(async (context) => {
    await keel.stop(context.turnId, { reason: "enough" });
    refused = await rejection(context.callTool("leaf", {}));
    finished.resolve();
  });
  const result = await keel.run(agentOf(ONE_CALL, { tools: [caller, leaf] }), "go");
  await finished.promise;
  assert.equal(refused.code, "CANCELLED");
  assert.match(refused.message, /'p1' of 'caller' already settled/);
  assert.deepEqual(seen, []);
  assert.deepEqual(result.outcome, { status: "stopped", reason: "enough" });
  const events = await keel.records.events(result.turnId);
  assert.deepEqual(callsIn(events, "tool.started", "tool.refused"), ["p1"]);
});

test("NC-26 D-13 an unknown name is not found, by that name", async () => {
  assert.deepEqual((await endOf("ghost", {})).end, notFound("ghost"));
});

test("NC-26 D-21 a hidden tool is not found, though a deferred one runs and is not offered to the model", async () => {
  assert.deepEqual(await endOf("leaf", { leaf: { exposure: "hidden" } }), {
    end: notFound("leaf"),
    ran: 0,
    offered: ["caller"],
  });
  assert.deepEqual(await endOf("leaf", { leaf: { exposure: "deferred" } }), {
    end: "ran",
    ran: 1,
    offered: ["caller"],
  });
  assert.deepEqual(await endOf("leaf", { leaf: { exposure: "direct" } }), {
    end: "ran",
    ran: 1,
    offered: ["caller", "leaf"],
  });
});

test("NC-27 a host's list binds nested calls: what it lacks is not found", async () => {
  const under = async (security) => (await endOf("leaf", { run: { security } })).end;
  assert.deepEqual(await under({ allowTools: ["caller"] }), notFound("leaf"));
  assert.equal(await under({ allowTools: ["caller", "leaf"] }), "ran");
  assert.equal(await under({}), "ran");
  assert.equal(await under({ allowTools: [], failClosed: false }), "ran");
});

test("NC-27 D-17 an empty list allows nothing, the model's calls included", async () => {
  const { leaf, seen } = leafOf();
  let entered = 0;
  const caller = callerOf(() => void (entered += 1));
  const { outputs } = await nestedRun({ tools: [caller, leaf], security: { allowTools: [] } });
  assert.equal(entered + seen.length, 0);
  assert.match(outputs[0].value, /^tool not found: caller/);
});

test("D-21 a tool object stands for itself: it has to be that very definition among the agent's tools", async () => {
  const { leaf } = leafOf(() => "the agent's own");
  const double = toolOf("leaf", () => "another");
  const stranger = toolOf("stranger", () => "another");
  const ends = [];
  const caller = callerOf(async ({ callTool }) => {
    ends.push((await callTool(leaf, {})).text);
    ends.push((await rejection(callTool(double, {}))).code);
    ends.push((await rejection(callTool(stranger, {}))).code);
  });
  await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual(ends, ["the agent's own", "TOOL_NOT_FOUND", "TOOL_NOT_FOUND"]);
});

test("D-21 what is neither a tool nor an id is misuse, and is told as such", async () => {
  const codes = [];
  const caller = callerOf(async ({ callTool }) => {
    for (const given of [undefined, null, 7, {}, () => {}]) codes.push((await rejection(callTool(given, {}))).code);
    codes.push((await rejection(callTool("caller", {}, { signal: {} }))).code);
  });
  const { events } = await nestedRun({ tools: [caller] });
  assert.deepEqual(codes, Array(6).fill("OPTION_INVALID"));
  assert.deepEqual(callsIn(events, "tool.refused"), []);
});

test("NC-26 names that look like something else are only names", async () => {
  const names = ["", "__proto__", "constructor", "toString", "p1", "leaf ", "LEAF", "submit_x", "é".repeat(200)];
  const codes = [];
  const { leaf, seen } = leafOf();
  for (const name of names) {
    const caller = callerOf(async ({ callTool }) => {
      codes.push(await rejection(callTool(name, {})));
    });
    await nestedRun({ tools: [caller, leaf] });
  }
  assert.deepEqual(codes, names.map(notFound));
  assert.deepEqual(seen, []);
});

test("maxUses counts nested and model-issued uses together, and a refused call is no use", async () => {
  const { leaf, seen } = leafOf(() => "ran", { maxUses: 2 });
  const ends = [];
  const caller = callerOf(async ({ callTool }) => {
    ends.push((await rejection(callTool("leaf", 7))).code);
    ends.push((await callTool("leaf", {})).text);
    ends.push((await callTool("leaf", {})).text);
    ends.push(await rejection(callTool("leaf", {})));
  });
  const script = [toolCall("caller", {}, { id: "p1" }), toolCall("leaf", {}, { id: "p2" }), text("done")];
  const { outputs, result } = await nestedRun({ tools: [caller, leaf], script });
  const message = "tool 'leaf' may be used at most 2 times in a turn";
  assert.deepEqual(ends, ["TOOL_FAILED", "ran", "ran", { code: "LIMIT_EXCEEDED", message }]);
  assert.equal(seen.length, 2);
  assert.equal(outputs[1].value, message);
  assert.equal(result.outcome.status, "completed");
});

test("maxUses holds for calls that are admitted at once", async () => {
  const { leaf, seen } = leafOf(() => "ran", { maxUses: 2 });
  const caller = callerOf(async ({ callTool }) => {
    await Promise.allSettled([1, 2, 3, 4].map(() => callTool("leaf", {})));
  });
  const slow = { authorizeTool: () => new Promise((resolve) => setImmediate(() => resolve(true))) };
  await nestedRun({ tools: [caller, leaf], security: slow });
  assert.equal(seen.length, 2);
});

test("access rules bind nested calls: public, authenticated, scopes and predicates", async () => {
  const asked = [];
  const rules = {
    public: "public",
    authenticated: "authenticated",
    read: { scopes: ["read"] },
    write: { scopes: ["write"] },
    yes: (who) => asked.push(who.identity?.id) > 0,
    truthy: () => "yes",
    throws: () => {
      throw new Error("no");
    },
  };
  const ran = [];
  const tools = Object.entries(rules).map(([id, access]) =>
    defineTool({ id, input: anything, access, concurrency: "shared", execute: () => void ran.push(id) }),
  );
  const refused = [];
  const caller = callerOf(async ({ callTool }) => {
    for (const id of Object.keys(rules))
      await callTool(id, {}).catch(({ code, message }) => refused.push([id, code, message]));
  });
  const agent = { grants: ["read", "write"] };
  await nestedRun({ tools: [caller, ...tools], agent, run: { identity: { id: "u1", scopes: ["read"] } } });
  assert.deepEqual(ran, ["public", "authenticated", "read", "yes"]);
  assert.deepEqual(asked, ["u1"]);
  assert.deepEqual(
    refused,
    ["write", "truthy", "throws"].map((id) => [id, "ACCESS_DENIED", `access to tool '${id}' is denied`]),
  );

  ran.length = 0;
  await nestedRun({ tools: [caller, ...tools], agent });
  assert.deepEqual(ran, ["public", "yes"]);
});

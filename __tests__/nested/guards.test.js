import assert from "node:assert/strict";
import { test } from "node:test";

import {
  asTool,
  createKeel,
  defineMiddleware,
  humanApproval,
  KeelError,
  planMode,
  repeatGuard,
  toolAllowlist,
  toolPolicy,
} from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { callerOf, leafOf, nestedRun, ONE_CALL, rejection } from "../scenes/nested-runs.js";
import { agentOf } from "../scenes/small-agents.js";

const admit = () => {};
const unguarded = defineMiddleware({ name: "vetoes", beforeTool: admit });
const fine = [
  defineMiddleware({ name: "both", beforeTool: admit, checkNestedTool: admit }),
  defineMiddleware({ name: "exempt", nested: "exempt", beforeTool: admit }),
  defineMiddleware({ name: "other", afterTool: admit, beforeModel: admit }),
  toolAllowlist(["leaf"]),
  toolPolicy({}),
  humanApproval({ tools: [] }),
  planMode({ mode: "build" }),
  repeatGuard({ max: 1 }),
];
const on = { maxNestedDepth: 1 };

const isUnguarded = (where) => (error) => {
  assert.ok(KeelError.isInstance(error));
  assert.equal(error.code, "NESTED_UNGUARDED");
  assert.match(error.message, /middleware "vetoes" has beforeTool and no checkNestedTool/);
  assert.match(error.message, /nested: "exempt"/);
  assert.match(error.message, where);
  return true;
};

test("NESTED_UNGUARDED from createKeel: nested calls on, and a keel's middleware that they would pass by", () => {
  assert.throws(() => createKeel({ limits: on, middleware: [unguarded] }), isUnguarded(/^createKeel: /));
  createKeel({ limits: { maxNestedDepth: 0 }, middleware: [unguarded] });
  createKeel({ middleware: [unguarded] });
  createKeel({ limits: on, middleware: fine });
});

test("NESTED_UNGUARDED from run and stream: the run's middleware, or the run that turns nested calls on over the keel's", async () => {
  const agent = agentOf([text("done"), text("done")], {});
  const keel = createKeel({ limits: on });
  await assert.rejects(keel.run(agent, "go", { middleware: [unguarded] }), isUnguarded(/^run of agent "agent": /));
  assert.throws(() => keel.stream(agent, "go", { middleware: [unguarded] }), isUnguarded(/^run of agent "agent": /));
  await assert.rejects(
    createKeel({ middleware: [unguarded] }).run(agent, "go", { limits: on }),
    isUnguarded(/^run of agent "agent": /),
  );
  assert.equal(agent.model.requests.length, 0);
  assert.equal((await keel.run(agent, "go", { middleware: fine })).outcome.status, "completed");
  const off = await createKeel({ middleware: [unguarded] }).run(agent, "go", { limits: { maxNestedDepth: 0 } });
  assert.equal(off.outcome.status, "completed");
});

test("NESTED_UNGUARDED D-16 is checked for every agent that can be reached from the root, in cycles too", async () => {
  const grandchild = agentOf([text("done")], { id: "grandchild", middleware: [unguarded] });
  const agents = [];
  const child = agentOf([text("done")], {
    id: "child",
    tools: () => [asTool(grandchild), ...agents.map((one) => asTool(one))],
  });
  const root = agentOf([text("done")], { id: "root", tools: [asTool(child)] });
  agents.push(root);
  await assert.rejects(createKeel({ limits: on }).run(root, "go"), isUnguarded(/^agent "grandchild": /));
  assert.equal((await createKeel().run(root, "go")).outcome.status, "completed");
});

test("NESTED_UNGUARDED an agent's own limit turns nothing off that its middleware would need: it is told all the same", async () => {
  const root = agentOf([text("done")], { id: "root", middleware: [unguarded], limits: { maxNestedDepth: 1 } });
  await assert.rejects(createKeel().run(root, "go"), isUnguarded(/^agent "root": /));
});

test("NESTED_UNGUARDED exempt middleware is really not asked about nested calls, and guarding one is", async () => {
  const asked = [];
  const note =
    (name, stage) =>
    (_context, { callId }) =>
      void asked.push(`${name} ${stage} ${callId}`);
  const exempt = defineMiddleware({ name: "exempt", nested: "exempt", beforeTool: note("exempt", "before") });
  const guarding = defineMiddleware({
    name: "guarding",
    beforeTool: note("guarding", "before"),
    checkNestedTool: note("guarding", "check"),
  });
  const { leaf } = leafOf();
  await nestedRun({ tools: [callerOf(({ callTool }) => callTool("leaf", {})), leaf], middleware: [exempt, guarding] });
  assert.deepEqual(asked, ["exempt before p1", "guarding before p1", "guarding check p1/1"]);
});

test("D-16 the middleware of keel, run and agent all bind nested calls, outermost first", async () => {
  const asked = [];
  const checking = (name) => defineMiddleware({ name, checkNestedTool: () => void asked.push(name) });
  const { leaf } = leafOf();
  const caller = callerOf(({ callTool }) => callTool("leaf", {}));
  await nestedRun({
    tools: [caller, leaf],
    middleware: [checking("keel")],
    run: { middleware: [checking("run")] },
    agent: { middleware: [checking("agent")] },
  });
  assert.deepEqual(asked, ["keel", "run", "agent"]);
});

test("D-18 the middleware of the root's keel and run binds nested calls of child turns; an agent's binds its own", async () => {
  const asked = [];
  const checking = (name) =>
    defineMiddleware({ name, checkNestedTool: (_context, { agentId }) => void asked.push(`${name} of ${agentId}`) });
  const { leaf } = leafOf();
  const caller = callerOf(async ({ callTool }) => {
    await callTool("leaf", {});
  });
  const child = agentOf(ONE_CALL, { id: "child", tools: [caller, leaf], middleware: [checking("child's")] });
  await nestedRun({
    tools: [asTool(child)],
    script: [toolCall("run-child", { brief: "x" }), text("done")],
    middleware: [checking("keel's")],
    run: { middleware: [checking("run's")] },
    agent: { id: "root", middleware: [checking("root's")] },
  });
  assert.deepEqual(asked, ["keel's of child", "run's of child", "child's of child"]);
});

test("a refusal of the first hook keeps the later ones and the host's gate from being asked", async () => {
  const asked = [];
  const first = defineMiddleware({ name: "first", checkNestedTool: () => ({ deny: "not now" }) });
  const second = defineMiddleware({ name: "second", checkNestedTool: () => void asked.push("second") });
  const { leaf } = leafOf();
  let refused;
  const caller = callerOf(async ({ callTool }) => {
    refused = await rejection(callTool("leaf", {}));
  });
  const security = { authorizeTool: ({ callId }) => asked.push(callId) > 0 };
  await nestedRun({ tools: [caller, leaf], middleware: [first, second], security });
  assert.deepEqual(refused, { code: "TOOL_FAILED", message: "not now" });
  assert.deepEqual(asked, ["p1"]);
});

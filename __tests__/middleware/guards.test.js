import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, humanApproval, planMode, repeatGuard, toolAllowlist, toolPolicy } from "../../js/index.js";
import { text } from "../../js/testing/index.js";
import { calling, issue, leafOf, refusal } from "../scenes/calling.js";
import { agentOf, ofType, toolOf } from "../scenes/small-agents.js";

/** What one nested call to `leaf` comes to with a middleware around it. */
async function guarded(middleware, keel = {}) {
  const { tool, runs } = leafOf();
  const outcome = async (context) =>
    context.callTool("leaf", {}).then(
      (result) => result.text,
      ({ code, message }) => [code, message],
    );
  const { returned, result, events } = await calling(outcome, [tool], { keel: { middleware: [middleware], ...keel } });
  assert.equal(result.outcome.status, "completed");
  assert.equal(runs.length, returned === "leaf-out" ? 1 : 0);
  assert.equal(ofType(events, "approval.requested", "turn.suspended").length, 0);
  return returned;
}

const refused = (why) => ["TOOL_FAILED", `nested call 'leaf' refused: ${why}`];
const needsApproval = ["TOOL_FAILED", "nested call 'leaf' requires approval; nested calls cannot be deferred"];

describe("the repeat guard", () => {
  test("NC-37 never counts nested calls", async () => {
    const { tool, runs } = leafOf();
    const body = async ({ callTool }) => {
      for (let n = 0; n < 8; n += 1) await callTool("leaf", { same: true });
    };
    const { result } = await calling(body, [tool], { keel: { middleware: [repeatGuard({ max: 1 })] } });
    assert.deepEqual([runs.length, result.outcome.status], [8, "completed"]);
  });

  test("D-16 fails the turn at the model's max-th repeat, and not before", async () => {
    for (const [repeats, status] of [
      [1, "completed"],
      [2, "failed"],
    ]) {
      const { tool, runs } = leafOf();
      const script = [...Array.from({ length: repeats + 1 }, () => issue("leaf", { n: 1 })), text("done")];
      const { result } = await calling(() => {}, [tool], { script, keel: { middleware: [repeatGuard({ max: 2 })] } });
      assert.deepEqual([result.outcome.status, runs.length], [status, 2]);
      if (status === "failed") assert.equal(result.outcome.cause.code, "REPEATED_CALL");
    }
  });

  test("D-16 counts calls with other arguments apart", async () => {
    const { tool, runs } = leafOf();
    const script = [issue("leaf", { n: 1 }), issue("leaf", { n: 2 }), issue("leaf", { n: 3 }), text("done")];
    const { result } = await calling(() => {}, [tool], { script, keel: { middleware: [repeatGuard({ max: 1 })] } });
    assert.deepEqual([result.outcome.status, runs.length], ["completed", 3]);
  });
});

describe("the allowlist", () => {
  test("NC-38 binds nested calls", async () => {
    assert.deepEqual(await guarded(toolAllowlist(["caller"])), refused("tool `leaf` is not on the allowlist"));
    assert.equal(await guarded(toolAllowlist(["caller", "leaf"])), "leaf-out");
  });

  test("BL-072 shows the model only what it may call, and refuses a forced call", async () => {
    const { tool, runs } = leafOf();
    const script = [issue("leaf"), text("done")];
    const { agent, outputs } = await calling(() => {}, [tool], {
      script,
      keel: { middleware: [toolAllowlist(["caller"])] },
    });
    assert.deepEqual(
      agent.model.requests[0].tools.map(({ name }) => name),
      ["caller"],
    );
    assert.match(outputs[0].value, /not on the allowlist/);
    assert.equal(runs.length, 0);
  });
});

describe("tool policies", () => {
  const caller = { readOnly: true };

  test("NC-39 a denied side effect refuses, whichever it is", async () => {
    for (const effect of [
      "writesFiles",
      "network",
      "installsDependencies",
      "destructive",
      "externalService",
      "payment",
    ]) {
      const policy = toolPolicy({ caller, leaf: { [effect]: true } }, { deny: [effect] });
      assert.deepEqual(await guarded(policy), refused("tool `leaf` declares a denied side effect"));
      assert.equal(await guarded(toolPolicy({ caller, leaf: { [effect]: false } }, { deny: [effect] })), "leaf-out");
    }
    assert.equal(await guarded(toolPolicy({ leaf: { network: true } }, { deny: ["destructive"] })), "leaf-out");
  });

  test("NC-40 strict refuses what is not classified, and what destroys or pays", async () => {
    const strict = { strict: true };
    assert.deepEqual(await guarded(toolPolicy({ caller }, strict)), refused("tool `leaf` has no declared policy"));
    assert.deepEqual(await guarded(toolPolicy({ caller, leaf: {} }, strict)), refused("tool `leaf` is unclassified"));
    for (const effect of ["destructive", "payment"]) {
      const policy = toolPolicy({ caller, leaf: { [effect]: true } }, strict);
      assert.deepEqual(await guarded(policy), refused("tool `leaf` declares a denied side effect"));
    }
    assert.equal(await guarded(toolPolicy({ caller, leaf: { network: true } }, strict)), "leaf-out");
    assert.equal(await guarded(toolPolicy({})), "leaf-out", "permissive without it");
  });

  test("NC-41 a sandbox that is required has to be there", async () => {
    const policy = () => toolPolicy({ leaf: { sandbox: "required" } }, { requireSandbox: true });
    const missing = refused("tool `leaf` requires a sandbox but the run has none");
    assert.deepEqual(await guarded(policy()), missing);
    assert.deepEqual(await guarded(policy(), { workspace: { sandbox: "disabled" } }), missing);
    assert.equal(await guarded(policy(), { workspace: { sandbox: "required" } }), "leaf-out");
    assert.equal(await guarded(toolPolicy({ leaf: { sandbox: "inherit" } }, { requireSandbox: true })), "leaf-out");
  });

  test("NC-42 an approval that the policy asks for is granted by name", async () => {
    const policy = (granted) => toolPolicy({ leaf: { approval: "required" } }, { requireApproval: granted });
    assert.deepEqual(await guarded(policy([])), refused("tool `leaf` requires approval that was not granted"));
    assert.equal(await guarded(policy(["leaf"])), "leaf-out");
    assert.equal(await guarded(toolPolicy({ leaf: { approval: "required" } })), "leaf-out");
  });

  test("a policy may ask for tools that are safe in the background", async () => {
    const rules = { requireBackgroundSafe: true };
    const fault = refused("tool `leaf` is not safe to run in the background");
    assert.deepEqual(await guarded(toolPolicy({ caller: { backgroundSafe: true }, leaf: {} }, rules)), fault);
    assert.equal(await guarded(toolPolicy({ leaf: { backgroundSafe: true } }, rules)), "leaf-out");
  });
});

describe("human approval", () => {
  test("NC-43 without a callback refuses a flagged nested call, and suspends nothing", async () => {
    assert.deepEqual(await guarded(humanApproval({ tools: ["leaf"] })), needsApproval);
    assert.equal(await guarded(humanApproval({ tools: ["other"] })), "leaf-out");
  });

  test("NC-44 asks its callback", async () => {
    const with_ = (verdict) => humanApproval({ tools: ["leaf"], approve: () => verdict });
    assert.equal(await guarded(with_("allow")), "leaf-out");
    assert.equal(await guarded(with_(true)), "leaf-out");
    assert.deepEqual(await guarded(with_({ deny: "no" })), ["TOOL_FAILED", "no"]);
    for (const verdict of ["defer", false, undefined]) assert.deepEqual(await guarded(with_(verdict)), needsApproval);
  });

  test("BL-075 its callback sees the inner call, not the outer one", async () => {
    const asked = [];
    const approve = (call) => (asked.push(call), "allow");
    const { tool } = leafOf();
    const body = ({ callTool }) => callTool("leaf", { amount: 7 });
    await calling(body, [tool], { keel: { middleware: [humanApproval({ tools: ["caller", "leaf"], approve })] } });
    assert.deepEqual(
      asked.map(({ toolId, callId, parentCallId, args }) => [toolId, callId, parentCallId, args]),
      [
        ["caller", "p1", undefined, {}],
        ["leaf", "p1/1", "p1", { amount: 7 }],
      ],
    );
  });

  test("NC-45 BL-075 what was approved for the model's call covers none of its nested calls", async () => {
    const { tool, runs } = leafOf();
    const caller = toolOf("caller", (_input, { callTool }) => refusal(callTool("leaf", {})));
    const agent = agentOf([issue(), text("done")], { tools: [caller, tool] });
    const keel = createKeel({
      limits: { maxNestedDepth: 1 },
      middleware: [humanApproval({ tools: ["caller", "leaf"] })],
    });
    const suspended = await keel.run(agent, "go");
    const [pending] = suspended.outcome.pending;
    assert.deepEqual([pending.callId, pending.toolId], ["p1", "caller"]);
    const { outcome } = await keel.resume(suspended.turnId, { approvals: { [pending.id]: "allow" } });
    assert.equal(outcome.status, "completed");
    assert.deepEqual(agent.model.requests.at(-1).messages.at(-1).content[0].output.value, needsApproval);
    assert.equal(runs.length, 0);
  });
});

describe("plan mode", () => {
  const plan = (rest) => planMode({ mode: "plan", allow: ["caller"], ...rest });

  test("NC-46 refuses what has side effects, or might", async () => {
    const unavailable = refused("tool `leaf` is side-effecting and unavailable in plan mode");
    assert.deepEqual(await guarded(plan({ policies: { leaf: { writesFiles: true } } })), unavailable);
    assert.deepEqual(await guarded(plan()), unavailable);
    assert.deepEqual(await guarded(plan({ policies: { leaf: {} } })), unavailable);
    assert.equal(await guarded(plan({ policies: { leaf: { readOnly: true } } })), "leaf-out");
    assert.equal(await guarded(plan({ allow: ["caller", "leaf"] })), "leaf-out");
    assert.equal(await guarded(planMode({ mode: "build", policies: { leaf: { writesFiles: true } } })), "leaf-out");
  });

  test("NC-46 the mode may change while a turn runs", async () => {
    const mode = { current: "plan" };
    const { tool, runs } = leafOf();
    const body = async ({ callTool }) => {
      const first = await refusal(callTool("leaf"));
      mode.current = "build";
      await callTool("leaf");
      mode.current = "neither";
      return [first, await refusal(callTool("leaf"))];
    };
    const { returned } = await calling(body, [tool], { keel: { middleware: [planMode({ mode, allow: ["caller"] })] } });
    assert.deepEqual([runs.length, returned[0]], [1, returned[1]]);
  });
});

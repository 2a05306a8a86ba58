import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, defineAgent, defineTool } from "keel-native";
import { scriptedModel, text, toolCall } from "keel-native/testing";

const input = { type: "object", properties: { amount: { type: "string" } } };

describe("a tool whose needs cannot be met does not run", () => {
  for (const [name, needs] of /** @type {const} */ ([
    ["an approval", { approval: "required" }],
    ["an argument of the host's", { injects: [{ name: "amount", from: "host" }] }],
    ["the host to perform it", { external: true }],
  ])) {
    test(`NT-30 D-31 ${name}: its call is answered with a failure that says so, and the turn goes on`, async () => {
      let ran = 0;
      const execute = () => {
        ran += 1;
      };
      const body = "external" in needs ? {} : { execute };
      const pay = defineTool(/** @type {any} */ ({ id: "pay", access: "public", input, ...needs, ...body }));
      const model = scriptedModel([toolCall("pay", { amount: "all of it" }), text("It was not paid.")]);
      const { outcome, record } = await createKeel().run(defineAgent({ id: "clerk", model, tools: [pay] }), "Pay.");
      assert.equal(outcome.status, "completed");
      assert.equal(ran, 0);
      const answered = record.transcript.find(({ role }) => role === "tool");
      const [{ output }] = /** @type {any} */ (answered).content;
      assert.equal(output.type, "error-text");
      assert.match(output.value, /^tool 'pay' (needs|is performed)/);
    });
  }
});

// Loads the addon three times in one process, as a test runner does that empties the module cache between files.

const load = "../../../js/binding/load.cjs";
const { platform, arch } = process;

async function main() {
  const { targetsFor } = await import("../../../js/binding/targets.js");
  const { runningLibc } = await import("../../../js/binding/running-libc.js");
  const [target] = targetsFor({ platform, arch, libc: runningLibc() });
  let loads = 0;
  for (let round = 0; round < 3; round += 1) {
    for (const file of Object.keys(require.cache)) delete require.cache[file];
    const { Schema } = require(load)(target, []);
    const schema = new Schema('{ "type": "string" }');
    if (schema.validate('"text"') === null && schema.validate("1") !== null) loads += 1;
  }
  console.log(`${loads} loads`);
}

main();

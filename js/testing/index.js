/** `keel-native/testing`: models that follow a script, a clock that a test moves, and a context for calling a tool by itself. */

export { scriptedModel } from "./scripted-model.js";
export { cut, delay, fail, hang, reply, text, toolCall } from "./script-step.js";
export { toolContext } from "./tool-context.js";
export { virtualClock } from "./virtual-clock.js";

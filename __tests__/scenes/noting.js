/** The scene of the budget tests: an agent that takes notes, and a tool that takes its time. */

import { text, toolCall } from "../../js/testing/index.js";
import { toolOf } from "./small-agents.js";

export const note = () => toolOf("note");

/** A script that calls a tool this many times and then says so. */
export const working = (times) => [...Array.from({ length: times }, () => toolCall("note")), text(`after ${times}`)];

export const waiting = (clock) => (ms) => new Promise((resolve) => clock.setTimer(clock.now() + ms, resolve));

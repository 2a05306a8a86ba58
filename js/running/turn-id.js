/**
 * Ids of root turns: unique, and in the order in which they were made when sorted as text (UUID version 7, with the
 * random bits behind the time as a counter within one millisecond). The ids of descendants are the kernel's, "<parent>.<n>".
 */

import { randomUUID } from "node:crypto";

/** The counter has twelve bits. */
const COUNT_MAX = 2 ** 12 - 1;

/** @returns {(wallMs: number) => string} */
export function turnIds() {
  let lastMs = 0;
  let count = 0;
  let time = "";
  return (wallMs) => {
    const nowMs = Math.trunc(wallMs);
    if (nowMs <= lastMs && count < COUNT_MAX) {
      count += 1;
    } else {
      lastMs = Math.max(nowMs, lastMs + 1);
      count = 0;
      const digits = lastMs.toString(16).padStart(12, "0").slice(-12);
      time = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
    }
    const counter = (count + COUNT_MAX + 1).toString(16).slice(1);
    return `${time}${counter}${randomUUID().slice(18)}`;
  };
}

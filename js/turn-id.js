/**
 * Ids of root turns: unique, and in the order of time when sorted as text (UUID version 7). The ids of descendants are
 * the kernel's, "<parent>.<n>".
 */

import { randomUUID } from "node:crypto";

/** @param {number} wallMs */
export function newTurnId(wallMs) {
  const time = Math.max(0, Math.trunc(wallMs)).toString(16).padStart(12, "0").slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

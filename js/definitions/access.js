/**
 * Access rules of tools and sources: who may use them.
 */

import { KeelError } from "../error.js";
import { checkOptions, checkStrings, optionInvalid } from "./options.js";

/**
 * @typedef {"public" | "authenticated" | { readonly scopes: readonly string[] } | ((who: any) => boolean | Promise<boolean>)} AccessRule
 */

/**
 * @param {any} access
 * @param {string} where names the tool or source in messages
 * @returns {AccessRule}
 */
export function checkAccess(access, where) {
  const rules = '"public", "authenticated", { scopes } or a function';
  if (access === undefined || access === null) {
    throw new KeelError("ACCESS_MISSING", `${where}: expected an access rule (${rules}), found none`);
  }
  if (access === "public" || access === "authenticated" || typeof access === "function") return access;
  if (typeof access !== "object" || Array.isArray(access)) throw optionInvalid(`${where}: access`, rules, access);
  checkOptions(access, ["scopes"], `${where}: access`);
  const scopes = checkStrings(access.scopes, `${where}: access.scopes`);
  // An empty list reads as "nothing is needed", which "public" and "authenticated" say without a doubt.
  if (scopes.length === 0) throw optionInvalid(`${where}: access.scopes`, "at least one scope", access.scopes);
  return Object.freeze({ scopes });
}

/**
 * Refuses what an agent could never use: it needs scopes that the agent is not granted.
 *
 * @param {AccessRule} access
 * @param {readonly string[]} grants
 * @param {string} what
 * @param {string} where
 */
export function checkGranted(access, grants, what, where) {
  if (typeof access !== "object") return;
  const missing = access.scopes.filter((scope) => !grants.includes(scope));
  if (missing.length === 0) return;
  const granted = grants.length === 0 ? "none" : grants.map((scope) => `"${scope}"`).join(", ");
  throw new KeelError(
    "GRANT_MISSING",
    `${where}: ${what} needs ${missing.map((scope) => `"${scope}"`).join(", ")}, but the agent's grants are: ${granted}`,
  );
}

/**
 * Makes a checkout ready to run: its npm packages, then the addon, each only when missing or stale. It needs nothing but
 * Node and Rust, so that every command can start with it.
 */

import { ensureAddon } from "./addon.js";
import { ensureDependencies } from "./dependencies.js";

ensureDependencies();
ensureAddon();

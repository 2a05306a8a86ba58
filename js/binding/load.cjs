// @ts-nocheck: each module exists on its own platform only.

// Every path is written out, so that a bundler and a single-file executable find the binary; only CommonJS can require
// one. A file beside the package comes first: it is what a checkout has built.

/**
 * @param {string} target
 * @param {unknown[]} errors receives why each place failed
 * @returns {any} the addon, or undefined
 */
// prettier-ignore
module.exports = function load(target, errors) {
  switch (target) {
    case "linux-x64-gnu":
      try { return require("../keel-native.linux-x64-gnu.node"); } catch (error) { errors.push(error); }
      try { return require("keel-native-linux-x64-gnu"); } catch (error) { errors.push(error); }
      return undefined;
    case "linux-x64-musl":
      try { return require("../keel-native.linux-x64-musl.node"); } catch (error) { errors.push(error); }
      try { return require("keel-native-linux-x64-musl"); } catch (error) { errors.push(error); }
      return undefined;
    case "linux-arm64-gnu":
      try { return require("../keel-native.linux-arm64-gnu.node"); } catch (error) { errors.push(error); }
      try { return require("keel-native-linux-arm64-gnu"); } catch (error) { errors.push(error); }
      return undefined;
    case "linux-arm64-musl":
      try { return require("../keel-native.linux-arm64-musl.node"); } catch (error) { errors.push(error); }
      try { return require("keel-native-linux-arm64-musl"); } catch (error) { errors.push(error); }
      return undefined;
    case "darwin-x64":
      try { return require("../keel-native.darwin-x64.node"); } catch (error) { errors.push(error); }
      try { return require("keel-native-darwin-x64"); } catch (error) { errors.push(error); }
      return undefined;
    case "darwin-arm64":
      try { return require("../keel-native.darwin-arm64.node"); } catch (error) { errors.push(error); }
      try { return require("keel-native-darwin-arm64"); } catch (error) { errors.push(error); }
      return undefined;
    case "win32-x64-msvc":
      try { return require("../keel-native.win32-x64-msvc.node"); } catch (error) { errors.push(error); }
      try { return require("keel-native-win32-x64-msvc"); } catch (error) { errors.push(error); }
      return undefined;
    case "win32-arm64-msvc":
      try { return require("../keel-native.win32-arm64-msvc.node"); } catch (error) { errors.push(error); }
      try { return require("keel-native-win32-arm64-msvc"); } catch (error) { errors.push(error); }
      return undefined;
    default:
      return undefined;
  }
};

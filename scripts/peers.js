/**
 * The packages that the benchmark compares us with, at fixed versions, in an ignored folder: nobody needs them but the
 * benchmark, which goes without. As a command (`npm run bench:peers`) it installs those that are missing.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { ROOT } from "./command.js";
import { installApart } from "./install-apart.js";

/** `benches/pi.js` imports them from here. */
const FOLDER = join(ROOT, ".peers", "pi");

const PI = Object.freeze({ "@mariozechner/pi-agent-core": "0.73.1", "@mariozechner/pi-ai": "0.73.1" });

/** What the benchmark says that it compares with. */
export const PI_TITLE = `pi-agent-core ${PI["@mariozechner/pi-agent-core"]}`;

export function isPiInstalled() {
  return Object.entries(PI).every(([name, version]) => {
    const manifest = join(FOLDER, "node_modules", name, "package.json");
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version;
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  if (isPiInstalled()) {
    console.log(`${PI_TITLE} is installed`);
  } else {
    console.log(`installing ${PI_TITLE}`);
    const complaints = installApart(
      FOLDER,
      Object.entries(PI).map(([name, version]) => `${name}@${version}`),
    );
    if (!isPiInstalled()) {
      console.error(`it could not be installed: ${complaints}`);
      process.exitCode = 1;
    }
  }
}

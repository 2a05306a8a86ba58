/**
 * Fails when a Linux binary needs a newer glibc than the floor: one built on a newer image loads on the machine that built
 * it and nowhere older.
 *
 *   node scripts/glibc-floor.js <floor, such as 2.17> <file.node>…
 */

import { readFileSync } from "node:fs";

const [floor = "", ...files] = process.argv.slice(2);
if (!/^\d+\.\d+$/.test(floor) || files.length === 0) {
  console.error("usage: node scripts/glibc-floor.js <floor> <file.node>…");
  process.exit(2);
}

for (const file of files) {
  const needed = neededGlibc(readFileSync(file, "latin1"));
  const isFine = needed !== undefined && minorOf(needed) <= minorOf(floor);
  console.log(
    `${isFine ? "ok" : "TOO NEW"}: ${file} needs glibc ${needed ?? "(none named: is it a glibc binary?)"}, the floor is ${floor}`,
  );
  if (!isFine) process.exitCode = 1;
}

/**
 * The newest version an ELF file asks for; each one it uses is a string in its dynamic string table.
 *
 * @param {string} elf
 */
function neededGlibc(elf) {
  const versions = [...elf.matchAll(/\0GLIBC_(2\.\d+)/g)].map(([, version]) => version ?? "");
  return versions.toSorted((a, b) => minorOf(b) - minorOf(a))[0];
}

/** @param {string} version `2.x` */
function minorOf(version) {
  return Number(version.split(".")[1]);
}

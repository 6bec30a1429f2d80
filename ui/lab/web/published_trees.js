/* Trees that other systems ship, as lists of paths: "02" is the third child of the root's first
   child. */

const MEDUSA =
  "0 00 1 01 2 000 10 02 3 03 4 04 20 05 001 5 06 6 07 010 11 7 08 002 30 09 8 9 100 020 12 003 40 21 004 005 0000 011 006 030 50 13 007 008 009 60 040 14 70 012 200 31 22 80 050 15 101 021 90 060 0001 16 070";
const EAGLE =
  "0 1 2 3 00 01 02 10 11 20 21 30 000 001 002 010 011 020 021 100 0000 0001 0002 00000 00001";

/** @typedef {{label: string, paths: string, parents: number[]}} PublishedTree */

/** @type {Record<string, PublishedTree>} */
export const PUBLISHED_TREES = {
  medusa: { label: "Medusa", paths: MEDUSA, parents: parentsOf(MEDUSA) },
  eagle: { label: "EAGLE", paths: EAGLE, parents: parentsOf(EAGLE) },
};

// The parents of the tree with these paths. Each path comes after that of its parent.
function parentsOf(paths) {
  const all = ["", ...paths.split(" ")];
  return all.map((path) => (path ? all.indexOf(path.slice(0, -1)) : -1));
}

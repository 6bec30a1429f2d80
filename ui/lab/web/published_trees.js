/* Trees that other systems ship or report, as lists of ways: "02" is the third child of the first child. Data; where each is from. */

export const PUBLISHED_TREES = {
  medusa: {
    label: "Medusa",
    ways: "0 00 1 01 2 000 10 02 3 03 4 04 20 05 001 5 06 6 07 010 11 7 08 002 30 09 8 9 100 020 12 003 40 21 004 005 0000 011 006 030 50 13 007 008 009 60 040 14 70 012 200 31 22 80 050 15 101 021 90 060 0001 16 070",
  },
  eagle: {
    label: "EAGLE",
    ways: "0 1 2 3 00 01 02 10 11 20 21 30 000 001 002 010 011 020 021 100 0000 0001 0002 00000 00001",
  },
};

/** `ways` as parents: every way comes after its beginning, and siblings in their order. */
function parentsOf(ways) {
  const place = new Map([["", 0]]);
  return [
    -1,
    ...ways.split(" ").map((way, i) => (place.set(way, i + 1), place.get(way.slice(0, -1)))),
  ];
}

for (const one of Object.values(PUBLISHED_TREES)) one.parents = parentsOf(one.ways);

// The state of a race at a given time: sums, ratios, intervals, places.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LaneTotals,
  lanePlaces,
  leadingLane,
  placeInWords,
  placesByPrompt,
  referenceLane,
  speedInterval,
  speedRatio,
} from "../../ui/race/web/lane_totals.js";

/** A lane whose steps take `seconds` and give one token each. finished: whether the lane ended. */
function lane(seconds, finished = true) {
  const totals = new LaneTotals();
  seconds.forEach((verify, k) => {
    const last = finished && k === seconds.length - 1;
    totals.add({ text: ["x"], finish: last ? "length" : null, seconds: { verify } }, 1);
  });
  return totals;
}

const even = (each, count = 32) => lane(new Array(count).fill(each));

/** Random numbers from 0 to 1, the same in every run of the tests (mulberry32). */
function dice(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("steps add up, phase by phase", () => {
  const totals = new LaneTotals();
  const seconds = { draft: 1, verify: 2, overhead: 0.5 };
  totals.add({ text: ["a", "b", "c"], drafted: 2, seconds }, 8);
  totals.add({ text: ["d"], drafted: 5, finish: "eos", seconds: { verify: 1 } }, 4);
  const sum = totals.at(4.5);
  assert.equal(totals.clock, 4.5);
  assert.equal(totals.finish, "eos");
  assert.deepEqual([sum.steps, sum.tokens, sum.drafted, sum.nodes], [2, 4, 3, 12]);
  assert.deepEqual([sum.draft, sum.verify, sum.overhead], [1, 3, 0.5]);
});

test("times that are missing, negative or not a number count as zero", () => {
  const totals = new LaneTotals();
  totals.add({ text: ["a"], seconds: { draft: -1, verify: NaN, overhead: "2" } }, 1);
  totals.add({ text: null }, 1);
  assert.equal(totals.clock, 0);
  assert.equal(totals.at(0).tokens, 1);
});

test("a step counts from the moment it is over", () => {
  const totals = lane([1, 1, 1]);
  assert.deepEqual(
    [-1, 0, 0.99, 1, 2.5, 9].map((t) => totals.at(t).tokens),
    [0, 0, 0, 1, 2, 3],
  );
});

test("the ratio is that of tokens per second", () => {
  assert.equal(speedRatio(even(0.5), even(1), 16), 2);
  assert.ok(Number.isNaN(speedRatio(even(1), even(1), 0)));
});

test("lanes without any variation have an interval of no width", () => {
  const found = speedInterval(even(0.5), even(1), 32);
  assert.equal(found.verdict, "faster");
  assert.ok(Math.abs(found.least - 2) < 1e-12);
  assert.ok(Math.abs(found.most - 2) < 1e-12);
});

test("the interval is the jackknife's over eight segments, with Student's t", () => {
  const slow = lane([...new Array(28).fill(1), 3, 3, 3, 3]); // the last of eight segments is slow
  const found = speedInterval(even(1), slow, 100);
  // A segment has 4 tokens. Without one of the seven fast segments, 28 tokens take 36 seconds.
  // Without the slow segment, they take 28 seconds.
  const parts = [...new Array(7).fill(Math.log(36 / 28)), 0];
  const mean = parts.reduce((a, b) => a + b) / 8;
  const error = Math.sqrt((7 / 8) * parts.reduce((sum, x) => sum + (x - mean) ** 2, 0));
  const ratio = Math.log(40 / 32);
  assert.ok(Math.abs(Math.log(found.least) - (ratio - 2.365 * error)) < 1e-9);
  assert.ok(Math.abs(Math.log(found.most) - (ratio + 2.365 * error)) < 1e-9);
  assert.equal(found.verdict, "even");
});

test("two segments are too few for an interval", () => {
  assert.equal(speedInterval(even(1, 2), even(1, 2), 9), null);
  assert.notEqual(speedInterval(even(1, 3), even(1, 3), 9), null);
});

test("lanes are compared with the plain lane or, if there is none, with the slowest", () => {
  const totals = [even(1), even(2), even(0.5)];
  assert.equal(referenceLane([{}, {}, { plain: true }], totals, 8), 2);
  assert.equal(referenceLane([{}, {}, {}], totals, 8), 1);
  assert.equal(referenceLane([{}, {}], [lane([]), lane([])], 8), -1);
});

test("places follow the order of finish", () => {
  const totals = [even(2), even(1), even(3)];
  assert.deepEqual(lanePlaces(totals, 96, true), [
    { place: 2, tied: false },
    { place: 1, tied: false },
    { place: 3, tied: false },
  ]);
});

test("a lane has no place before it has finished", () => {
  assert.deepEqual(lanePlaces([even(1), even(2)], 40, false), [{ place: 1, tied: false }, null]);
});

test("a finished lane has no place while another lane may still finish in less time", () => {
  const ahead = even(2);
  assert.deepEqual(lanePlaces([ahead, lane([1, 1], false)], 64, false), [null, null]);
  assert.deepEqual(lanePlaces([ahead, lane([1, 1], false)], 64, true)[0], {
    place: 1,
    tied: false,
  });
});

test("in random races, no lane has a better place than one that finished earlier", () => {
  const next = dice(11);
  let shared = 0;
  for (let round = 0; round < 300; round++) {
    const totals = wavering(next);
    const places = lanePlaces(totals, Infinity, true);
    const order = totals.map((_, i) => i).sort((a, b) => totals[a].clock - totals[b].clock);
    const numbers = order.map((i) => places[i].place);
    assert.equal(numbers[0], 1);
    numbers.forEach((number, i) => assert.ok(number <= i + 1 && number >= (numbers[i - 1] ?? 1)));
    for (const { place, tied } of places)
      assert.equal(tied, numbers.filter((number) => number === place).length > 1);
    shared += places.some((place) => place.tied) ? 1 : 0;
  }
  assert.ok(shared > 0 && shared < 300);
});

/** Two to four lanes of about the same pace, some of which waver. */
function wavering(next) {
  return Array.from({ length: 2 + Math.floor(next() * 3) }, () => {
    const waver = [0, 0.2, 0.6][Math.floor(next() * 3)];
    const each = 1 + next() / 10;
    return lane(Array.from({ length: 32 }, () => each * (1 + waver * (2 * next() - 1))));
  });
}

/** The places of lanes on one prompt, in words. Lanes with the same place are tied. */
function inWords(...taken) {
  const places = taken.map((place) => ({
    place,
    tied: taken.filter((p) => p === place).length > 1,
  }));
  const lanes = /** @type {Lane[]} */ (taken.map(() => ({})));
  return taken.map((_place, i) => placeInWords(i, lanes, places));
}

test("places have English ordinal endings", () => {
  assert.deepEqual(inWords(1, 2, 3, 4), ["1st", "2nd", "3rd", "4th"]);
});

test("a place is a range if only some of the lanes before it are clearly faster", () => {
  const tied = "tied for 1st";
  assert.deepEqual(inWords(1, 1, 2), [tied, tied, "2nd or 3rd"]);
  assert.deepEqual(inWords(1, 1, 3), [tied, tied, "3rd"]);
  assert.deepEqual(inWords(1, 1, 1, 2), [tied, tied, tied, "2nd to 4th"]);
});

test("places in words count only the lanes on the same prompt", () => {
  const lanes = /** @type {Lane[]} */ ([{ on: "a" }, { on: "a" }, { on: "b" }, { on: "b" }]);
  const first = { place: 1, tied: true };
  const places = [first, first, { place: 1, tied: false }, { place: 2, tied: false }];
  assert.equal(placeInWords(3, lanes, places), "2nd");
  assert.equal(placeInWords(2, lanes, [first, first, null, null]), "");
});

test("the lane with the most tokens leads; among equals, the lane that had them first", () => {
  const lanes = [lane([1, 1, 1]), lane([0.9, 1.1, 0.5]), lane([2, 0.1, 0.1])];
  const at = (t) => leadingLane(lanes, t);
  assert.equal(leadingLane([], 1), -1);
  assert.deepEqual([0, 0.95, 1.5, 2.05, 2.5, 3, 9].map(at), [-1, 1, 1, 0, 2, 2, 2]);
});

test("in a race of two prompts, each has its own reference and its own places", () => {
  const lanes = [{ plain: true, on: "a" }, { on: "a" }, { plain: true, on: "b" }, { on: "b" }];
  const totals = [even(4), even(1), even(3), even(2)];
  assert.deepEqual(
    lanes.map((_, i) => referenceLane(lanes, totals, 9e9, i)),
    [0, 0, 2, 2],
  );
  const places = placesByPrompt(lanes, totals, Infinity, true);
  assert.deepEqual(
    places.map(({ place }) => place),
    [2, 1, 2, 1],
  );
});

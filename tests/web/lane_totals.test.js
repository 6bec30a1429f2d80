// The state of a race at a given time: sums, ratios, places in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LaneTotals,
  leadingLane,
  placeInWords,
  referenceLane,
  speedRatio,
} from "../../ui/race/web/lane_totals.js";
import { aStep } from "./a_step.js";

const step = (text, verify, more = {}) =>
  aStep({ emitted: text, text, seconds: { draft: 0, verify, overhead: 0 }, ...more });

/** A lane whose steps take `seconds` and give one token each. finished: whether the lane ended. */
function lane(seconds, finished = true) {
  const totals = new LaneTotals();
  seconds.forEach((verify, k) => {
    const last = finished && k === seconds.length - 1;
    totals.add(step(["x"], verify, { finish: last ? "length" : null }), 1);
  });
  return totals;
}

const even = (each, count = 32) => lane(new Array(count).fill(each));

test("steps add up, phase by phase", () => {
  const totals = new LaneTotals();
  const seconds = { draft: 1, verify: 2, overhead: 0.5 };
  totals.add(step(["a", "b", "c"], 2, { path: [0, 1, 4], seconds }), 8);
  totals.add(step(["d"], 1, { path: [0, 1, 2], finish: "eos" }), 4);
  const sum = totals.at(4.5);
  assert.equal(totals.clock, 4.5);
  assert.equal(totals.finish, "eos");
  assert.deepEqual([sum.steps, sum.tokens, sum.drafted, sum.nodes], [2, 4, 3, 12]);
  assert.deepEqual([sum.draft, sum.verify, sum.overhead], [1, 3, 0.5]);
  assert.equal(totals.best, 0);
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

test("lanes are compared with the plain lane or, if there is none, with the slowest", () => {
  const totals = [even(1), even(2), even(0.5)];
  assert.equal(referenceLane([{}, {}, { plain: true }], totals, 8), 2);
  assert.equal(referenceLane([{}, {}, {}], totals, 8), 1);
  assert.equal(referenceLane([{}, {}], [lane([]), lane([])], 8), -1);
});

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
  const lanes = /** @type {Lane[]} */ ([
    { prompt_name: "a" },
    { prompt_name: "a" },
    { prompt_name: "b" },
    { prompt_name: "b" },
  ]);
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
  // the last one's text is short, but it took the least time for each token
  assert.equal(leadingLane([...lanes, lane([0.5])], 9, true), 3);
});

test("in a race of two prompts, each has its own reference", () => {
  const lanes = [
    { plain: true, prompt_name: "a" },
    { prompt_name: "a" },
    { plain: true, prompt_name: "b" },
    { prompt_name: "b" },
  ];
  const totals = [even(4), even(1), even(3), even(2)];
  assert.deepEqual(
    lanes.map((_, i) => referenceLane(lanes, totals, 9e9, i)),
    [0, 0, 2, 2],
  );
});

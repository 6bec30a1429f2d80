// What is counted of a lane, and how the lanes of a run compare at a given time: sums, ratios,
// places in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  baseOf,
  goalOf,
  placeInWords,
  referenceLane,
  speedRatio,
} from "../../ui/run/web/lane_places.js";
import { LaneRun } from "../../ui/run/web/lane_run.js";
import { topology } from "../../ui/shared/web/tree_layout.js";
import { aStep } from "./a_step.js";

const step = (emitted, verify, more = {}) =>
  aStep({ tree: 0, emitted, seconds: { draft: 0, verify, overhead: 0 }, ...more });
const chain = (n) => topology(Array.from({ length: n }, (_, node) => node - 1));

/** A lane whose steps take `seconds` and give one token each. */
function lane(seconds, about = {}) {
  const made = new LaneRun(about);
  for (const verify of seconds) made.add(step([7], verify), chain(1));
  return made;
}

const even = (each, about) => lane(new Array(32).fill(each), about);
const lanesOf = (...abouts) => /** @type {any} */ (abouts.map((about) => ({ about })));

test("steps add up, phase by phase", () => {
  const made = new LaneRun();
  const seconds = { draft: 1, verify: 2, overhead: 0.5 };
  made.add(step([1, 2, 3], 2, { path: [0, 1, 4], seconds }), chain(8));
  made.add(step([4], 1, { path: [0, 1, 2], finish: "eos" }), chain(4));
  const sum = made.sumAt(4.5);
  assert.equal(made.seconds, 4.5);
  assert.equal(made.finish, "eos");
  assert.deepEqual([sum.steps, sum.tokens, sum.drafted, sum.nodes], [2, 4, 3, 12]);
  assert.deepEqual([sum.draft, sum.verify, sum.overhead], [1, 3, 0.5]);
});

test("a step counts from the moment it is over", () => {
  const made = lane([1, 1, 1]);
  assert.deepEqual(
    [0, 0.99, 1, 2.5, 9].map((time) => made.sumAt(time).tokens),
    [0, 0, 1, 2, 3],
  );
});

test("a slot's share is that of the steps with its tree", () => {
  const made = new LaneRun();
  const both = topology([-1, 0, 0]);
  for (const node of [1, 2, 1]) made.add(step([1], 1, { path: [0, node] }), both);
  made.add(step([1], 1, { tree: 1 }), chain(1));
  assert.deepEqual(made.slots.counts(0, 1), [2, 3]);
  assert.equal(made.slots.share(0, 2), 1 / 3);
  assert.equal(made.slots.share(7, 2), 0);
});

test("the ratio is that of tokens per second", () => {
  assert.equal(speedRatio(even(0.5), even(1), 16), 2);
  assert.ok(Number.isNaN(speedRatio(even(1), even(1), 0)));
});

test("lanes are compared with the plain lane or, if there is none, with the slowest", () => {
  const three = (about) => [even(1), even(2), even(0.5, about)];
  assert.equal(referenceLane(three({ plain: true }), 8), 2);
  assert.equal(referenceLane(three(), 8), 1);
  assert.equal(referenceLane([lane([]), lane([])], 8), -1);
  const store = /** @type {any} */ ({ lanes: three(), time: 8, verdict: null });
  assert.equal(baseOf(store, 0), 1);
  assert.equal(baseOf({ ...store, verdict: { speedups: [{ over: 2 }, null] } }, 0), 2);
});

test("the finish line is the token limit, or the most tokens of any lane", () => {
  const store = /** @type {any} */ ({ meta: {}, lanes: [lane([1, 1]), lane([1])] });
  assert.equal(goalOf(store), 2);
  assert.equal(goalOf({ ...store, meta: { params: { max_new_tokens: 9 } } }), 9);
});

/** The places of lanes on one prompt, in words. Lanes with the same place are tied. */
function inWords(...taken) {
  const places = taken.map((place) => ({
    place,
    tied: taken.filter((p) => p === place).length > 1,
  }));
  const lanes = lanesOf(...taken.map(() => ({})));
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
  const lanes = lanesOf(...["a", "a", "b", "b"].map((name) => ({ prompt_name: name })));
  const first = { place: 1, tied: true };
  const places = [first, first, { place: 1, tied: false }, { place: 2, tied: false }];
  assert.equal(placeInWords(3, lanes, places), "2nd");
  assert.equal(placeInWords(2, lanes, [first, first, null, null]), "");
});

test("in a run of two prompts, each has its own reference", () => {
  const lanes = [
    even(4, { plain: true, prompt_name: "a" }),
    even(1, { prompt_name: "a" }),
    even(3, { plain: true, prompt_name: "b" }),
    even(2, { prompt_name: "b" }),
  ];
  assert.deepEqual(
    lanes.map((_, i) => referenceLane(lanes, 9e9, i)),
    [0, 0, 2, 2],
  );
});

// The race in a saved page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { raceData } from "../../ui/race/web/race_data.js";

const RUNS = [0, 1, 2].map((seed) => ({ prompt: "def f", seed, seconds: [0.02, 0.01] }));
const RACE = {
  meta: { label: "measured" },
  lanes: [{ about: { name: "Plain", how: "plain decoding" } }],
  trees: [{ parents: [-1] }],
  pieces: new Map([["7", " a"]]),
  arrived: [{ tree: 0 }],
  stepLanes: [0],
  stopped: false,
  notes: [],
  results: [],
  analysis: [],
  verdict: null,
  pool: null,
};
const saved = (changes) => raceData(/** @type {any} */ ({ ...RACE, ...changes }));

test("a saved race keeps its further runs but cannot make more", () => {
  const pool = { runs: RUNS, more: 4, most: 20, kind: "code", seeds: true, planned: 7 };
  const found = saved({ pool, verdict: { sentence: "A tie." } });
  assert.deepEqual(found.pool, { ...pool, more: 0, planned: null });
  assert.deepEqual(found.verdict, { sentence: "A tie." });
});

test("a saved race has its steps as a message has them", () => {
  const { trees, pieces, steps, step_lanes: lanes } = saved({});
  assert.deepEqual([trees, pieces, steps, lanes], [[[-1]], { 7: " a" }, [{ tree: 0 }], [0]]);
});

test("a race with no verdict and no further runs is saved without these fields", () => {
  assert.ok(!("pool" in saved({})) && !("verdict" in saved({})));
});

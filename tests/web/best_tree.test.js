// The best trees: those that bestFirst grows and those from DpTable, compared with all trees of up
// to 7 nodes. Also the other functions of the planner, such as smoothing and step times.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DpTable } from "../../ui/lab/web/dp/dp_table.js";
import {
  bestFirst,
  bestPlan,
  canonical,
  checked,
  depthsOf,
  expectedTokens,
  isMonotone,
  predict,
  scores,
  smooth,
  sum,
  widths,
} from "../../ui/shared/web/planner.js";

const VECTORS = [
  [0.6, 0.2, 0.1],
  [0.35, 0.2, 0.12, 0.08],
  [0.9, 0.04],
  [0.25, 0.25, 0.25, 0.25],
  [0.5],
];
const NOT_FALLING = [
  [0.1, 0.6, 0.2],
  [0, 0.5],
  [0.3, 0.1, 0.4],
];

const near = (a, b, off = 1e-12) => assert.ok(Math.abs(a - b) <= off, `${a} is not ${b}`);

/** Every list of `n` parents that never decreases. Every shape of tree is among them. */
function* trees(n, parents = [-1]) {
  if (parents.length === n) yield parents;
  else
    for (let parent = Math.max(parents[parents.length - 1], 0); parent < parents.length; parent++)
      yield* trees(n, [...parents, parent]);
}

/** The most expected tokens of any tree with `n` nodes and at most `levels` levels. */
function most(rates, n, levels) {
  let found = -Infinity;
  for (const parents of trees(n))
    if (Math.max(...depthsOf(parents)) < levels)
      found = Math.max(found, expectedTokens(parents, rates));
  return found;
}

test("bestFirst finds the best tree of every size and level cap", () => {
  for (const rates of VECTORS)
    for (const levels of [2, 3, 7]) {
      const growth = bestFirst(rates, 7, levels);
      for (let n = 2; n <= 7; n++) {
        near(growth.totals[n - 1], most(rates, n, levels));
        near(expectedTokens(growth.parents.slice(0, n), rates), growth.totals[n - 1]);
      }
    }
});

test("DpTable finds the best tree for any vector, even one that rises", () => {
  for (const rates of [...VECTORS, ...NOT_FALLING]) {
    const table = new DpTable(rates, 7);
    for (const levels of [2, 3, 7])
      for (let n = 2; n <= 7; n++) near(table.best(n, levels).value, most(rates, n, levels));
  }
});

test("scores are products of the rates along the path from the root", () => {
  const found = scores([-1, 0, 0, 1, 2, 0, 0], [0.5, 0.2, 0.1]);
  [1, 0.5, 0.2, 0.25, 0.1, 0.1, 0].forEach((one, i) => near(found[i], one));
});

test("widths count the nodes with children, level by level", () => {
  assert.deepEqual(widths([-1, 0, 0, 1, 2, 2]), [1, 2]);
  assert.deepEqual(widths([-1]), []);
});

test("a tree is numbered breadth first", () => {
  assert.deepEqual(canonical([-1, 0, 1, 0, 3]), [-1, 0, 0, 1, 2]);
});

test("invalid rates are refused, and the message names the wrong value", () => {
  assert.throws(() => checked("0.5"), RangeError);
  assert.throws(() => checked([]), /0 rates/);
  assert.throws(() => checked([0.5, 1.5]), /rates\[1\] = 1\.5/);
  assert.throws(() => checked([NaN]), /rates\[0\] = NaN/);
  assert.throws(() => checked([0.6, 0.6]), /1\.2/);
  assert.deepEqual(checked([0.6, 0.4]), [0.6, 0.4]);
});

test("smoothing averages neighbours that rise, and keeps the sum", () => {
  assert.deepEqual(smooth([0.5, 0.1, 0.3]), [0.5, 0.2, 0.2]);
  assert.deepEqual(smooth([0, 0, 0.3]).length, 3);
  for (const rates of NOT_FALLING) {
    assert.equal(isMonotone(rates), false);
    assert.equal(isMonotone(smooth(rates)), true);
    near(sum(smooth(rates)), sum(rates));
  }
});

test("bestFirst refuses a vector that rises, and more than one node on 1 level", () => {
  assert.throws(() => bestFirst([0.1, 0.2], 4, null), /never increase/);
  assert.throws(() => bestFirst([0.2, 0.1], 4, 1), /1 level/);
});

test("sum keeps what rounding would lose", () => {
  assert.equal(sum([1, 1e100, 1, -1e100]), 2);
});

// -- time ----------------------------------------------------------------------------------------

const line = (first, each) => [1, 16, 64].map((n) => [n, first + each * n, 0]);
const PROFILE = {
  target_seconds: line(0.02, 0.0001),
  draft_seconds: line(0.002, 0.00001),
  overhead_seconds: line(0.0005, 0),
  level_overhead: 0.0002,
};

test("the plan is within 2% of the fastest of all trees with up to 7 nodes", () => {
  for (const rates of VECTORS) {
    const plan = bestPlan(rates, PROFILE, 7);
    let fastest = 1;
    for (let n = 1; n <= 7; n++)
      for (const parents of trees(n))
        fastest = Math.max(fastest, predict(parents, rates, PROFILE).speedup);
    assert.ok(plan.speedup <= fastest + 1e-9);
    assert.ok(plan.speedup >= fastest * 0.98, `${plan.speedup} of ${fastest}`);
  }
});

test("if no tree is faster than plain decoding, the plan is plain decoding", () => {
  const plan = bestPlan([0.01], PROFILE, 16);
  assert.deepEqual([plan.parents, plan.speedup], [[-1], 1]);
});

// The best trees: those that bestFirst grows and those from DpTable, compared with all trees of up
// to 7 nodes. Also the other functions of the planner, such as smoothing and step times.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DpTable } from "../../ui/lab/web/dp/dp_table.js";
import { PAPER } from "../../ui/lab/web/acceptance_vectors.js";
import {
  bestFirst,
  bestPlan,
  canonical,
  checked,
  depthsOf,
  expectedTokens,
  isMonotone,
  plainSeconds,
  powerLaw,
  predict,
  scores,
  secondsAt,
  smooth,
  stepSeconds,
  sum,
  widths,
} from "../../ui/shared/web/planner.js";

// Expected tokens per step of the best trees for the paper's vector, computed in Python: [nodes,
// level cap, tokens].
const KNOWN = [
  [64, null, 5.917],
  [128, null, 6.607],
  [256, null, 7.289],
  [512, null, 7.968],
  [768, 18, 8.337],
  [1024, 18, 8.609],
];

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
  for (const rates of [...VECTORS, ...NOT_FALLING])
    for (const levels of [2, 3, 7]) {
      const table = DpTable.whole(rates, 7, levels);
      for (let n = 2; n <= 7; n++) near(table.best(n, levels).value, most(rates, n, levels));
    }
});

test("a tree traced from a cell has as many expected tokens as the cell says", () => {
  for (const rates of [...VECTORS, ...NOT_FALLING]) {
    const table = DpTable.whole(rates, 12, 5);
    for (let b = 0; b < 5; b++) {
      const traced = table.trace(12, 5, b);
      if (!traced) continue;
      assert.equal(traced.parents.filter((parent) => parent === 0).length, b);
      near(expectedTokens(traced.parents, rates), table.value(12, 5, b));
    }
  }
});

test("a table without a level cap agrees with bestFirst", () => {
  for (const rates of VECTORS) {
    const table = DpTable.whole(rates, 40);
    const { totals } = bestFirst(rates, 40, null);
    for (let n = 1; n <= 40; n++) near(table.best(n, n).value, totals[n - 1], 1e-9);
  }
});

test("with the paper's vector, the table has the expected tokens that Python computed", () => {
  const free = DpTable.whole(PAPER, 512);
  const capped = DpTable.whole(PAPER, 1024, 18);
  for (const [nodes, levels, tokens] of KNOWN) {
    const table = levels ? capped : free;
    near(table.best(nodes, levels ?? nodes).value, tokens, 6e-4);
  }
});

test("a table of impossible size is refused, and the message names the size", () => {
  assert.throws(() => DpTable.whole([0.5], 0), /nodes = 0/);
  assert.throws(() => DpTable.whole([0.5], 2000), /nodes = 2000/);
  assert.throws(() => DpTable.whole([0.5], 4, 1.5), /levels = 1\.5/);
});

test("a split gives the values that a cell is computed from", () => {
  const table = DpTable.whole([0.6, 0.2, 0.1], 6, 4);
  const split = table.split(6, 4, 2);
  near(split.rest + split.rate * split.below, table.value(6, 4, 2));
  assert.equal(split.rate, 0.2);
  assert.equal(table.split(6, 4, 0), null);
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

test("sum keeps what rounding would lose, and powerLaw falls with the rank", () => {
  assert.equal(sum([1, 1e100, 1, -1e100]), 2);
  near(powerLaw(1, 0.5, 3)[2], 0.5 / 3);
});

// -- time ----------------------------------------------------------------------------------------

const line = (first, each) => [1, 16, 64].map((n) => [n, first + each * n, 0]);
const PROFILE = {
  target_seconds: line(0.02, 0.0001),
  draft_seconds: line(0.002, 0.00001),
  overhead_seconds: line(0.0005, 0),
  level_overhead: 0.0002,
};

test("times are interpolated between the points and extrapolated after the last", () => {
  const points = [
    [1, 1, 0],
    [3, 2, 0],
    [5, 6, 0],
  ];
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((n) => secondsAt(points, n)),
    [1, 1.5, 2, 4, 6, 8],
  );
  assert.equal(secondsAt([[4, 1, 0]], 100), 1);
});

test("a larger pass is never assumed to be faster", () => {
  const points = [
    [1, 2, 0],
    [2, 1, 0],
    [3, 4, 0],
  ];
  assert.deepEqual(
    [1, 2, 3].map((n) => secondsAt(points, n)),
    [1.5, 1.5, 4],
  );
});

test("a step takes a target pass, a draft pass for each level but the last, and overhead", () => {
  const draft = (width) => 0.002 + 0.00001 * width + 0.0002;
  near(stepSeconds([-1, 0, 0, 1, 2], PROFILE), 0.02 + 0.0005 + 0.0005 + draft(1) + draft(2));
  near(plainSeconds(PROFILE), 0.0206);
});

test("the plan is within 2% of the fastest of all trees with up to 7 nodes", () => {
  for (const rates of VECTORS) {
    const plan = bestPlan(rates, PROFILE, 7, 7);
    let fastest = 1;
    for (let n = 1; n <= 7; n++)
      for (const parents of trees(n))
        fastest = Math.max(fastest, predict(parents, rates, PROFILE).speedup);
    assert.ok(plan.speedup <= fastest + 1e-9);
    assert.ok(plan.speedup >= fastest * 0.98, `${plan.speedup} of ${fastest}`);
  }
});

test("with 1% slack, the plan has at least as many tokens and is at most 1% slower", () => {
  const exact = bestPlan([0.6, 0.2, 0.1], PROFILE, 64, 16, 0);
  const roomy = bestPlan([0.6, 0.2, 0.1], PROFILE, 64);
  assert.ok(roomy.tokens >= exact.tokens);
  assert.ok(roomy.speedup >= exact.speedup * 0.99 - 1e-9);
});

test("if no tree is faster than plain decoding, the plan is plain decoding", () => {
  const plan = bestPlan([0.01], PROFILE, 16);
  assert.deepEqual([plan.parents, plan.speedup], [[-1], 1]);
});

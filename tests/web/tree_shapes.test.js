// Named shapes of exactly n nodes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { branchingOf } from "../../ui/lab/web/export_tree.js";
import { depthsOf, expectedTokens, widths } from "../../ui/shared/web/planner.js";
import { PUBLISHED_TREES } from "../../ui/lab/web/published_trees.js";
import {
  bestK,
  branching,
  chain,
  filled,
  kary,
  label,
  limit,
  sequences,
} from "../../ui/lab/web/tree_shapes.js";

const MAKERS = [
  chain,
  (n) => sequences(n, 3),
  (n) => kary(n, 3),
  (n) => branching(n, [4, 2, 2]),
  (n) => filled(n, PUBLISHED_TREES.medusa.parents),
  (n) => filled(n, PUBLISHED_TREES.eagle.parents),
];
const levels = (parents) => Math.max(...depthsOf(parents)) + 1;

test("every shape has exactly n nodes, parents first", () => {
  for (const make of MAKERS)
    for (const n of [1, 2, 3, 7, 31, 100, 333]) {
      const parents = make(n);
      assert.equal(parents.length, n);
      assert.equal(parents[0], -1);
      for (let node = 1; node < n; node++)
        assert.ok(parents[node] >= 0 && parents[node] < node, `${parents[node]} of ${node}`);
    }
});

test("a shape with a complete tree of n nodes is neither cut nor extended", () => {
  assert.deepEqual(chain(4), [-1, 0, 1, 2]);
  assert.deepEqual(sequences(7, 3), [-1, 0, 0, 0, 1, 2, 3]);
  assert.deepEqual(branchingOf(kary(15, 2)), [2, 2, 2]);
  assert.deepEqual(branchingOf(branching(29, [4, 2, 2])), [4, 2, 2]);
  assert.deepEqual(widths(sequences(21, 4)), [1, 4, 4, 4, 4]);
});

test("the published trees have their published sizes", () => {
  const { medusa, eagle } = PUBLISHED_TREES;
  assert.deepEqual([medusa.parents.length, levels(medusa.parents)], [64, 5]);
  assert.deepEqual([eagle.parents.length, levels(eagle.parents)], [26, 6]);
});

test("expected tokens of large shapes come near their limit and never exceed it", () => {
  const rates = [0.6, 0.1, 0.05];
  for (const [name, k, parents, off] of [
    ["chain", null, chain(200), 1e-9],
    ["sequences", 3, sequences(601, 3), 1e-9],
    ["kary", 2, kary(1023, 2), 0.15],
  ]) {
    const most = limit(name, k, rates);
    const reached = expectedTokens(parents, rates);
    assert.ok(reached < most + 1e-9, name);
    assert.ok(reached > most - off, `${name}: ${reached} of ${most}`);
  }
  assert.equal(limit("chain", null, [1]), Infinity);
});

test("no other k has more expected tokens than the best k", () => {
  const rates = [0.35, 0.2, 0.12, 0.08];
  const worth = (k) => expectedTokens(kary(64, k), rates);
  const best = bestK(kary, 64, rates, 2);
  for (const k of [2, 3, 4, 5, 6, 8, 16]) assert.ok(worth(best) >= worth(k) - 1e-12);
});

test("the label of the fastest tree says how many levels it has", () => {
  const labelOf = (fastest) => label("fitted", 1, /** @type {any} */ ({ fastest }));
  const labels = [labelOf({ levels: 1 }), labelOf({ levels: 2 })];
  assert.deepEqual(labels, ["Sequoia, fastest (1 level)", "Sequoia, fastest (2 levels)"]);
});

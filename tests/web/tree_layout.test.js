// Where the nodes of a tree go, and the ticks of an axis.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ticks, topology } from "../../ui/shared/web/tree_layout.js";

const SMALL = [-1, 0, 0, 1, 1, 2];

test("topology follows from the parents", () => {
  const topo = topology(SMALL);
  assert.equal(topo.n, 6);
  assert.equal(topo.levels, 3);
  assert.deepEqual(topo.children, [[1, 2], [3, 4], [5], [], [], []]);
  assert.deepEqual(topo.depth, [0, 1, 1, 2, 2, 2]);
  assert.deepEqual(topo.rank, [0, 0, 1, 0, 1, 0]);
  assert.deepEqual(topo.size, [6, 3, 2, 1, 1, 1]);
});

test("a first child is on its parent's row, and no two leaves share a row", () => {
  const topo = topology(SMALL);
  assert.deepEqual(topo.row, [0, 0, 2, 0, 1, 2]);
  assert.equal(topo.rows, 3);
});

test("a tree of one node and an empty tree have a layout", () => {
  assert.deepEqual(topology([-1]).row, [0]);
  assert.equal(topology([-1]).levels, 1);
  assert.equal(topology([]).levels, 0);
  assert.equal(topology([]).rows, 1);
});

test("no two nodes of a tree share a cell", () => {
  for (let shape = 1; shape < 40; shape++) {
    const random = Array.from({ length: 199 }, (_, i) => (shape * 7919) % (i + 1));
    const parents = [-1, ...random.sort((one, other) => one - other)];
    const { depth, row } = topology(parents);
    const cells = parents.map((_, node) => `${depth[node]},${row[node]}`);
    assert.equal(new Set(cells).size, cells.length);
  }
});

test("ticks are round and reach the largest value", () => {
  assert.deepEqual(ticks(10, 5), { distance: 2, count: 5 });
  assert.deepEqual(ticks(7, 4), { distance: 2, count: 4 });
  assert.deepEqual(ticks(0.23, 4), { distance: 0.1, count: 3 });
  assert.deepEqual(ticks(1000, 4), { distance: 250, count: 4 });
  for (const most of [0.003, 0.7, 1, 12, 99, 4321]) {
    const { distance, count } = ticks(most, 5);
    assert.ok(distance * count >= most - 1e-9);
    assert.ok(distance * (count - 1) < most);
  }
});

// The cells of a drawn tree, the way from the root to a node, and the dot nearest the pointer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { allCells, keyOf, nodeOf, topology } from "../../ui/shared/web/tree_layout.js";
import { nearestDot, wayTo } from "../../ui/shared/web/tree_way.js";

test("every node has a cell, after its parent's", () => {
  const topo = topology([-1, 0, 0, 1, 1, 2]);
  const cells = allCells(topo);
  assert.equal(cells.length, 6);
  assert.equal(cells[0].parent, null);
  assert.equal(cells[5].parent, cells[2]);
  for (const [i, { key, col, row }] of cells.entries())
    assert.deepEqual([key, col, row], ["n" + i, topo.depth[i], topo.row[i]]);
  const ends = cells.filter(({ end }) => end).map(({ key }) => key);
  assert.deepEqual(ends, ["n3", "n4", "n5"]);
});

test("nodeOf returns the node of a cell's key, or null if the cell has no node", () => {
  for (const node of [0, 17, "bonus"]) assert.equal(nodeOf(keyOf(node)), node);
  assert.equal(nodeOf("g3:untried"), null);
  assert.equal(nodeOf(null), null);
});

test("the way from the root to a node is that node and its ancestors", () => {
  const topo = topology([-1, 0, 0, 1, 1, 2]);
  const cells = allCells(topo);
  const looks = topo.parents.map(() => ({ state: "never" }));
  const way = (key) => wayTo({ cells, looks, rows: 3, cols: 3 }, key).map((cell) => cell.key);
  assert.deepEqual(way("n4"), ["n4", "n1", "n0"]);
  assert.deepEqual(way("n0"), ["n0"]);
  for (const none of [null, "n99", "bonus"]) assert.deepEqual(way(none), []);
  looks[4].state = "hidden";
  assert.deepEqual(way("n4"), []);
});

test("the pointer is at the nearest dot, or at none if all are far away", () => {
  const cells = allCells(topology([-1, 0, 0]));
  const frame = /** @type {any} */ ({ x: (col) => 20 + 60 * col, y: (row) => 20 + 40 * row });
  assert.equal(nearestDot(cells, frame, { x: 84, y: 24 }), "n1");
  assert.equal(nearestDot(cells, frame, { x: 78, y: 55 }), "n2");
  assert.equal(nearestDot(cells, frame, { x: 50, y: 40 }), null);
});

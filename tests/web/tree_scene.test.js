// The cells of a scene.
import assert from "node:assert/strict";
import { test } from "node:test";
import { topology } from "../../ui/shared/web/tree_layout.js";
import { allCells, keyOf, nodeOf } from "../../ui/shared/web/tree_scene.js";

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

test("a cell's key says which node it is, if it is one", () => {
  for (const node of [0, 17, "bonus"]) assert.equal(nodeOf(keyOf(node)), node);
  assert.equal(nodeOf("g3:untried"), null);
  assert.equal(nodeOf(null), null);
});

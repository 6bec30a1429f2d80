// Trees as text for other programs.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  branchingOf,
  formatShare,
  nodeLink,
  nodesCsv,
  paths,
  treeJson,
} from "../../ui/lab/web/export_tree.js";
import { parse as parseVector } from "../../ui/lab/web/acceptance_vectors.js";

const DEPTH_FIRST = [-1, 0, 1, 0, 3];
const BREADTH_FIRST = [-1, 0, 0, 1, 2];

test("the project's own format lists the nodes breadth first", () => {
  const wanted = { format: "sequoia-tree", version: 1, parents: BREADTH_FIRST };
  assert.deepEqual(JSON.parse(treeJson(DEPTH_FIRST)), wanted);
});

test("networkx gets nodes with depth and rank, and edges from parent to child", () => {
  const found = JSON.parse(nodeLink(DEPTH_FIRST));
  assert.equal(found.directed, true);
  assert.deepEqual(found.nodes[4], { depth: 2, rank: 0, id: 4 });
  assert.deepEqual(found.edges, [
    { source: 0, target: 1 },
    { source: 0, target: 2 },
    { source: 1, target: 3 },
    { source: 2, target: 4 },
  ]);
});

test("Medusa gets the ranks on the way from the root to every other node", () => {
  assert.deepEqual(JSON.parse(paths(DEPTH_FIRST)), [[0], [1], [0, 0], [1, 0]]);
});

test("a branching list exists only if all nodes of each level have equally many children", () => {
  assert.deepEqual(branchingOf(DEPTH_FIRST), [2, 1]);
  assert.deepEqual(branchingOf([-1]), []);
  assert.equal(branchingOf([-1, 0, 0, 1]), null);
});

test("the CSV table has a line for each node, with its probability of being accepted", () => {
  const rows = nodesCsv([-1, 0, 0], [0.5, 0.25]).trimEnd().split("\r\n");
  assert.equal(rows.length, 4);
  assert.equal(rows[0].split(",").length, 5);
  assert.deepEqual(rows.slice(1), ["0,-1,1,1,1", "1,0,2,1,0.5", "2,0,2,2,0.25"]);
});

test("probabilities are written in few characters", () => {
  const values = [0, 1, 0.9999, 0.7732, 0.0456, 0.0003];
  assert.deepEqual(values.map(formatShare), ["0", "1", "1", ".773", ".046", "3e-4"]);
  assert.deepEqual(parseVector(values.slice(3).map(formatShare).join(" ")), [0.773, 0.046, 0.0003]);
});

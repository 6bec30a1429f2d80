// Trees as text for other programs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { branchingOf, formatShare } from "../../ui/lab/web/export_tree.js";
import { parse as parseVector } from "../../ui/lab/web/acceptance_vectors.js";

const DEPTH_FIRST = [-1, 0, 1, 0, 3];

test("a branching list exists only if all nodes of each level have equally many children", () => {
  assert.deepEqual(branchingOf(DEPTH_FIRST), [2, 1]);
  assert.deepEqual(branchingOf([-1]), []);
  assert.equal(branchingOf([-1, 0, 0, 1]), null);
});

test("probabilities are written in few characters", () => {
  const values = [0, 1, 0.9999, 0.7732, 0.0456, 0.0003];
  assert.deepEqual(values.map(formatShare), ["0", "1", "1", ".773", ".046", "3e-4"]);
  assert.deepEqual(parseVector(values.slice(3).map(formatShare).join(" ")), [0.773, 0.046, 0.0003]);
});

// What the tree of a step hands to its view.
import assert from "node:assert/strict";
import { test } from "node:test";
import { made } from "./fake_page.js";
import { StepTree } from "../../ui/shared/web/step_tree.js";
import { viewStep } from "./a_step.js";
import { topology } from "../../ui/shared/web/tree_layout.js";

// The root x has the children a and c; a has the child b. The target adds t.
const TREE = topology([-1, 0, 0, 1]);
const PIECES = new Map([..."xacbt"].map((piece, id) => [String(id), piece]));

/** A step of `tree` with the accepted `path`. `more`: fields of the step. */
function stepOf(tree, path, more = {}) {
  const tokens = [...tree.parents.keys()];
  const emitted = [...path.slice(1), 4];
  const step = { i: 0, tree: 0, tokens, trials: [], path, bonus: 4, emitted, ...more };
  return viewStep(/** @type {any} */ (step), tree, PIECES, {});
}

/** What is drawn for a step: the headings, the cells by their `key`, and whether the key to the
    colours is shown. */
function drawn(step, look) {
  let scene;
  const size = { w: 600, h: 300 };
  const view = { size, draw: (given) => (scene = given), isOver: () => false };
  const motion = { step, shown: null, tried: null, stateOf: step.stateOf };
  const key = { hidden: false };
  const unneeded = { resize() {}, overview() {}, follow() {}, layout() {} };
  const frame = { x: () => 200 };
  const tree = made(StepTree, { motion, key, view: { ...view, frame, clear() {} }, ...unneeded });
  tree.root = { classList: { toggle() {} } };
  tree.paint(look);
  return {
    heads: scene.columns.map(({ names }) => names[0]),
    cells: new Map(scene.cells.map((cell) => [cell.key, cell])),
    hasKey: !key.hidden,
  };
}

test("in a tree with fewer levels than its grid, only one column is headed “large model”", () => {
  const { heads, cells } = drawn(stepOf(TREE, [0, 1]), { room: { rows: 1, levels: 6 } });
  assert.deepEqual(heads, ["text so far", "guess 1", "2", "large model", "", "", ""]);
  assert.equal(heads[cells.get("bonus").col], "large model");
});

test("if the target adds no token, no column is headed “large model”", () => {
  const step = stepOf(TREE, [0, 1], { emitted: [1], finish: "length" });
  assert.deepEqual(drawn(step, {}).heads, ["text so far", "guess 1", "2", ""]);
});

const nameOf = (col) => ["text so far", "guess 1"][col] ?? String(col);

test("in the focus layout the token from the target is below its heading", () => {
  for (const path of [[0], [0, 1], [0, 1, 3], [0, 2]])
    for (const opened of [new Set(), new Set(["n1"])]) {
      const { heads, cells } = drawn(stepOf(TREE, path), { isFocused: true, opened });
      assert.equal(heads.indexOf("large model"), cells.get("bonus").col);
      assert.equal(heads.at(-1), "large model");
      const others = [...cells.values()].filter((cell) => cell.key !== "bonus");
      assert.ok(others.every(({ col }) => heads[col] === nameOf(col)));
    }
});

test("the key to the colours is hidden if shades show how often nodes are accepted", () => {
  const step = stepOf(topology([-1, 0, 0, 0, 0]), [0]);
  assert.ok(drawn(step, {}).hasKey);
  assert.equal(drawn(step, { share: () => 0.5 }).hasKey, false);
});

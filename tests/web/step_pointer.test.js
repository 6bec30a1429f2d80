// A press on a node in the minimap scrolls the tree to that node. If the focus layout, which shows
// only part of a large tree, hides the node, it is drawn first.
import assert from "node:assert/strict";
import { test } from "node:test";
import { allCells, focusLayout, topology } from "../../ui/shared/web/tree_layout.js";
import { StepPointer } from "../../ui/shared/web/step_pointer.js";
import { StepTree } from "../../ui/shared/web/step_tree.js";

// a root with 20 children, of which the last has a child (21), which has a child (22)
const TOPO = topology([-1, ...new Array(20).fill(0), 20, 21]);
const STEP = { topo: TOPO, path: [0], state: new Array(TOPO.n).fill("untried") };

/** A stage whose tree shows `STEP`. `tree.full` still has the cells of an earlier, smaller tree.
 * Scrolling must not use these. */
function stageOf(cellsOf) {
  const shown = [];
  const view = { scene: null, reveal: (cell) => shown.push(cell) };
  const tree = Object.assign(Object.create(StepTree.prototype), { view });
  tree.full = { topo: topology([-1, 0]), cells: allCells(topology([-1, 0])) };
  const stage = { step: STEP, tree, events: [], emit: (name) => stage.events.push(name) };
  stage.paint = () => (view.scene = { cells: cellsOf(stage.pointer.opened) });
  stage.pointer = new StepPointer(/** @type {any} */ (stage));
  stage.paint();
  return { stage, shown };
}

/** A tree that is painted with a new grid whenever `shape` is given; `shown` lists the keys of the
 * cells that it scrolled to. */
function followingTree() {
  const shown = [];
  const scroll = (cell) => shown.push(cell.key);
  const view = { size: { w: 600, h: 300 }, shape: "3 rows", reveal: scroll };
  const tree = Object.assign(Object.create(StepTree.prototype), { view, followed: "", next: null });
  const paint = (isFocused, shape = view.shape) => {
    view.shape = shape;
    const cells = focusLayout(TOPO, /** @type {any} */ (STEP), new Set(), false).items;
    tree.follow(STEP, { cells }, { reveal: { node: 0, key: "step" } }, tree.layout(isFocused));
    tree.drawn = STEP;
    tree.settle();
  };
  return { tree, paint, shown };
}

test("a change of the grid scrolls to the `reveal` node again, but not in the focus layout", () => {
  const { paint, shown } = followingTree();
  paint(true);
  paint(true, "21 rows");
  assert.deepEqual(shown, ["n0"]);
  paint(false);
  paint(false, "30 rows");
  assert.deepEqual(shown, ["n0", "n0", "n0"]);
});

for (const isFocused of [true, false])
  test(`a node given to revealNext is scrolled to once, focus layout: ${isFocused}`, () => {
    const { tree, paint, shown } = followingTree();
    paint(isFocused);
    tree.revealNext(1);
    paint(isFocused);
    paint(isFocused);
    assert.deepEqual(shown, ["n0", "n1"]);
  });

const LAYOUTS = {
  focus: (opened) => focusLayout(TOPO, STEP, opened, false).items,
  all: () => allCells(TOPO),
};

for (const [name, cellsOf] of Object.entries(LAYOUTS))
  test(`a node picked in the minimap is drawn and scrolled into view: ${name}`, () => {
    const { stage, shown } = stageOf(cellsOf);
    for (const node of [22, 22, 10, 0]) stage.pointer.pick(node);
    assert.deepEqual(
      shown.map(({ key }) => key),
      ["n22", "n22", "n10", "n0"],
    );
    assert.equal(stage.events.filter((event) => event === "press").length, 4);
    assert.equal(stage.pointer.node, 0);
  });

test("a node is not scrolled to if it is not drawn, or if nothing is drawn yet", () => {
  const { stage, shown } = stageOf(LAYOUTS.focus);
  stage.tree.reveal(22);
  stage.tree.view.scene = null;
  stage.tree.reveal(0);
  assert.deepEqual(shown, []);
});

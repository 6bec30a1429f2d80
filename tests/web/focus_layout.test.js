// The focus layout: the part of a large tree that matters in one step.
import assert from "node:assert/strict";
import { test } from "node:test";
import { allCells, focusLayout, hidesNodes, topology } from "../../ui/shared/web/tree_layout.js";

const SMALL = [-1, 0, 0, 1, 1, 2];

/** A root with `count` leaves below it. */
const star = (count) => topology([-1, ...new Array(count).fill(0)]);
const keys = (drawn) => drawn.items.map((item) => item.key);
/** A step whose accepted path is only the root. Every node has the state `state`. */
const stepOf = (topo, state) => ({ path: [0], state: new Array(topo.n).fill(state) });

test("only the accepted path and the children of its nodes are drawn", () => {
  const topo = topology(SMALL);
  const view = { path: [0, 1], state: ["accepted", "accepted", "rejected", "", "", ""] };
  const drawn = focusLayout(topo, view, new Set(), false);
  assert.deepEqual(keys(drawn), ["n0", "n1", "n3", "n4", "n2"]);
  const closed = drawn.items.find((item) => item.key === "n2");
  assert.equal(closed.folded, 1);
  assert.equal(drawn.cols, 3);
  assert.equal(drawn.rows, 3);
});

test("a node that was opened shows its children", () => {
  const topo = topology(SMALL);
  const drawn = focusLayout(topo, stepOf(topo, "untried"), new Set(["n2"]), false);
  assert.deepEqual(keys(drawn), ["n0", "n1", "n2", "n5"]);
  assert.equal(drawn.items[2].folded, 0);
});

test("the bonus token follows the end of the path", () => {
  const topo = topology([-1, 0]);
  const view = { path: [0, 1], state: ["accepted", "accepted"] };
  const { items } = focusLayout(topo, view, new Set(), true);
  const bonus = items[items.length - 1];
  assert.deepEqual([bonus.key, bonus.col, bonus.row], ["bonus", 2, 0]);
  assert.equal(bonus.parent.key, "n1");
});

test("the bonus token is in the column after the deepest node that is drawn", () => {
  const topo = topology(SMALL);
  const view = { path: [0], state: ["accepted", "rejected", "rejected", "", "", ""] };
  const { items, cols } = focusLayout(topo, view, new Set(["n2"]), true);
  const bonus = items.find(({ key }) => key === "bonus");
  assert.deepEqual([bonus.col, cols], [3, 4]);
  assert.equal(items.filter(({ row }) => row === bonus.row).length, 1);
});

test("of many untried children, all but the first two form one group, which can be opened", () => {
  const topo = star(20);
  const view = stepOf(topo, "untried");
  const closed = focusLayout(topo, view, new Set(), false);
  assert.deepEqual(keys(closed), ["n0", "n1", "n2", "g0:untried"]);
  assert.equal(closed.items[3].count, 18);
  const open = focusLayout(topo, view, new Set(["g0:untried"]), false);
  assert.equal(open.items.length, 21);
});

test("of many rejected children, all but the first nine and the last three form one group", () => {
  const topo = star(20);
  const { items } = focusLayout(topo, stepOf(topo, "rejected"), new Set(), false);
  const group = items.find((item) => item.count);
  assert.equal(items.length, 1 + 9 + 1 + 3);
  assert.deepEqual([group.key, group.count, group.nodes], ["g0:rejected", 8, 8]);
});

test("hidesNodes says whether any node is hidden", () => {
  const topo = topology(SMALL);
  const hides = (tree, state, ...opened) =>
    hidesNodes(focusLayout(tree, stepOf(tree, state), new Set(opened), false).items);
  assert.ok(hides(topo, "untried"));
  assert.ok(hides(topo, "untried", "n1"));
  assert.equal(hides(topo, "untried", "n1", "n2"), false);
  assert.ok(hides(star(20), "rejected"));
  assert.equal(hides(star(20), "rejected", "g0:rejected"), false);
  assert.equal(hidesNodes(allCells(topo)), false);
});

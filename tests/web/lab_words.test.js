// The texts of the Lab about its tree, its measurements, its machine and its shapes.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { AcceptanceCounting } from "../../ui/lab/web/acceptance_counting.js";
import { AcceptanceCounts } from "../../ui/lab/web/acceptance_counts.js";
import { hypothetical } from "../../ui/lab/web/machine_panel.js";
import { LabTree } from "../../ui/lab/web/lab_tree.js";
import { hiddenWords, roomWords } from "../../ui/lab/web/lab_tree_caption.js";
import { bestNodes, planTree } from "../../ui/lab/web/lab_tree_plan.js";
import { LabTreePointer } from "../../ui/lab/web/lab_tree_pointer.js";
import { labelOf } from "../../ui/lab/web/dp/dp_tree.js";
import * as dpWords from "../../ui/lab/web/dp/dp_words.js";
import { ShapesTable } from "../../ui/lab/web/shapes_table.js";
import { topology } from "../../ui/shared/web/tree_layout.js";

test("searching for the number in a node's name finds that node", () => {
  const topo = topology([-1, 0, 0, 1]);
  const nameIn = (shown) => {
    const tree = made(LabTree, { topo, f: [1, 0.5, 0.3, 0.2], state: { shown }, query: "3" });
    return [new LabTreePointer(tree).name("n2").split(",")[0], tree.hits()];
  };
  assert.deepEqual(nameIn("best"), ["node 3", [2]]);
  assert.deepEqual(nameIn("chain"), ["node 2", [3]]);
});

test("nodes stay expanded if the tree keeps its name and its node numbers", () => {
  const openedAfter = (name, parents) => {
    const tree = made(LabTree, { name: "best", parents: [-1, 0, 1, 1], opened: new Set([1]) });
    tree.takeTree(name, parents);
    return [...tree.opened];
  };
  assert.deepEqual(openedAfter("best", [-1, 0, 1, 1, 0]), [1]); // the tree has grown
  assert.deepEqual(openedAfter("best", [-1, 0, 1]), [1]);
  assert.deepEqual(openedAfter("best", [-1, 0, 0, 1]), []);
  assert.deepEqual(openedAfter("chain", [-1, 0, 1]), []);
});

test("the label of a cell's tree counts nodes and levels, singular or plural", () => {
  assert.equal(labelOf(topology([-1])), "The cell's tree: 1 node on 1 level");
  assert.equal(labelOf(topology([-1, 0])), "The cell's tree: 2 nodes on 2 levels");
});

test("the words about a cell count the nodes of the last child's subtree and all others", () => {
  const meaning = (n, b, m, branches) => {
    const table = /** @type {any} */ ({ split: () => ({ m, branches }) });
    return dpWords.meaning(table, { n, levels: 4, b });
  };
  assert.equal(
    meaning(8, 2, 2, 1),
    "Child 2 and the nodes below it are m = 2 nodes; in the best shape, child 2 has 1 child. " +
      "The root and the subtree of child 1 have the other 6 nodes.",
  );
  assert.equal(
    meaning(6, 3, 1, 0),
    "Child 3 has no nodes below it, so m = 1. " +
      "The root and the subtrees of children 1 to 2 have the other 5 nodes.",
  );
  assert.match(meaning(3, 1, 2, 1), /The root is the other node\.$/);
});

test("if a measurement is not running, the given reason is shown unchanged", () => {
  const said = [];
  const refusal = { say: (words) => said.push(words) };
  const counting = made(AcceptanceCounting, { refusal, progress() {} });
  counting.take({ interrupted: "Not started: the server did not accept the request." });
  assert.deepEqual(said, ["Not started: the server did not accept the request."]);
});

test("the button “Use” puts the last measurement in use again", () => {
  let origin = null;
  const onUse = (_rates, used) => (origin = used);
  const counts = made(AcceptanceCounts, { counts: [], paint() {}, onUse });
  const counting = made(AcceptanceCounting, {
    status: new FakeNode(),
    editor: { take() {} },
    link: { count: (count) => counts.add(count) },
    progress() {},
  });
  counting.take({ result: { words: "code", rates: [0.5], accepted: [5], visited: 10 } });
  const statusWith = (now) => {
    counting.paint(now);
    return counting.status.textContent;
  };
  assert.equal(statusWith({ label: "paper" }), "Last measurement: code; no longer in use.");
  counts.use(counts.counts[0]);
  assert.equal(statusWith(origin), "Last measurement: code; in use above.");
  assert.equal(statusWith({ from: origin }), "Last measurement: code; edited by hand since.");
});

test("the nodes over the budget are counted", () => {
  assert.equal(roomWords(3, 8), "3 of 8 nodes left. ");
  assert.equal(roomWords(-1, 8), "1 node over the budget of 8. ");
  assert.equal(roomWords(-2, 8), "2 nodes over the budget of 8. ");
});

test("a node's hidden descendants include those below its drawn children", () => {
  const parents = [-1, 0, 1, ...new Array(200).fill(2)];
  const topo = topology(parents);
  const best = bestNodes(parents.map((_, node) => 1 / (node + 1)));
  const drawn = planTree(topo, { all: false, opened: new Set(), best, deepest: 9 });
  const byNode = new Map(drawn.items.map((item) => [item.node, item]));
  const words = (node, shown) =>
    hiddenWords(/** @type {any} */ ({ state: { shown }, drawn, byNode }), node);
  assert.equal(words(2, "best"), "; 93 descendants hidden: click to expand.");
  assert.equal(words(1, "best"), "; 93 descendants hidden: click a dashed node to expand.");
  assert.equal(words(1, "hand"), "; 93 descendants hidden: “All nodes” shows them.");
  assert.equal(words(3, "best"), ".");
});

test("a saved page does not mention runs started from the Lab", () => {
  const profile = /** @type {any} */ ({ device: "A100", source: "paper" });
  assert.match(hypothetical(profile, true), /A run started here is timed on this machine\.$/);
  assert.match(hypothetical(profile, false), /nothing was measured here\.$/);
});

test("a tree drawn by hand that is smaller or larger than the budget is not compared", () => {
  const table = made(ShapesTable, { state: { n: 64 } });
  assert.equal(table.notCompared({ nodes: 2 })[1], "2 of 64 nodes drawn: not compared");
  assert.equal(table.notCompared({ nodes: 80 })[1], "80 nodes drawn, budget 64: not compared");
});

test("a field that may stay empty shows “auto”, one that may not shows an example", () => {
  Object.assign(document, { createElement: () => new FakeNode() });
  const host = { appendChild() {} };
  const placeholder = (name) => {
    const row = { name, field: null };
    made(ShapesTable, {}).makeField(row, host, host);
    return row.field.getAttribute("placeholder");
  };
  const found = ["sequences", "kary", "branching"].map(placeholder);
  assert.deepEqual(found, ["auto", "auto", "such as 2, 1"]);
});

test("the CSV of the shapes has the rows of the table", () => {
  const figures = () => Array.from({ length: 9 }, (_, i) => ({ label: i, nodes: 1 }));
  const labelsWith = (profile) =>
    made(ShapesTable, { state: { profile }, figures })
      .csvRows()
      .map(([label]) => label);
  assert.deepEqual(labelsWith(null), [0, 2, 3, 4, 5, 6, 7, 8]); // without the fastest tree
  assert.deepEqual(labelsWith({}), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

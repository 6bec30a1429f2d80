// The texts of the Lab about its tree, its measurements, its machine and its shapes.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { AcceptanceCounting } from "../../ui/lab/web/acceptance_counting.js";
import { AcceptanceCounts } from "../../ui/lab/web/acceptance_counts.js";
import { LabTree } from "../../ui/lab/web/lab_tree.js";
import { ShapesTable } from "../../ui/lab/web/shapes_table.js";

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

test("a tree drawn by hand that is smaller or larger than the budget is not compared", () => {
  const table = made(ShapesTable, { state: { n: 64 } });
  assert.equal(table.notCompared({ nodes: 2 })[1], "2 of 64 nodes drawn: not compared");
  assert.equal(table.notCompared({ nodes: 80 })[1], "80 nodes drawn, budget 64: not compared");
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

/* The Lab reads every format that it exports, and refuses everything else with a message. */
import assert from "node:assert/strict";
import test from "node:test";
import { branchingOf, nodeLink, paths, treeJson } from "../../ui/lab/web/export_tree.js";
import { readTree } from "../../ui/lab/web/read_tree.js";
import { canonical } from "../../ui/shared/web/planner.js";

let seed = 7;
const random = (below) => {
  seed = (seed * 1103515245 + 12345) % 2 ** 31;
  return Math.floor((seed / 2 ** 31) * below);
};
const grown = (n) => Array.from({ length: n }, (_, node) => (node ? random(node) : -1));
const CHAIN = Array.from({ length: 1024 }, (_, node) => node - 1);
const TREES = [[-1], CHAIN, [-1, 0, 0, 1, 1, 2, 2], ...[2, 5, 17, 60, 200].map(grown)];

test("every exported format is read back as the same tree", () => {
  for (const parents of TREES) {
    const texts = [treeJson, nodeLink, paths, JSON.stringify, (tree) => tree.join(" ")];
    for (const write of texts) assert.deepEqual(readTree(write(parents)), canonical(parents));
    const branching = branchingOf(parents);
    if (branching) assert.deepEqual(readTree(JSON.stringify(branching)), canonical(parents));
  }
});

test("siblings in node-link form are in the order of their ranks", () => {
  const nodes = [{ id: "a", rank: 1 }, { id: "r" }, { id: "b", rank: 0 }, { id: "c" }];
  const edges = ["a", "b"].map((target) => ({ source: "r", target }));
  edges.push({ source: "a", target: "c" });
  assert.deepEqual(readTree(JSON.stringify({ nodes, edges })), [-1, 0, 0, 2]);
});

test("what is no tree is refused", () => {
  const wrong = [
    "",
    "  ",
    "[",
    "{}",
    "x",
    "-1 1",
    "-1 0 5",
    "[[]]",
    "[[0], [0]]",
    "[[1]]",
    "[null]",
  ];
  const graphs = [
    { nodes: [], edges: [] },
    { nodes: [{ id: 0 }, { id: 1 }], edges: [] },
    {
      nodes: [{ id: 0 }, { id: 1 }],
      edges: [
        { source: 0, target: 1 },
        { source: 1, target: 0 },
      ],
    },
    { nodes: [null, 1], edges: [{}] },
    { parents: [0] },
    { parents: [-1, 0.5] },
  ];
  const large = JSON.stringify([-1, ...new Array(2000).fill(0)]);
  for (const text of [...wrong, ...graphs.map((one) => JSON.stringify(one)), large, "[1024]"])
    assert.throws(() => readTree(text), RangeError, text);
});

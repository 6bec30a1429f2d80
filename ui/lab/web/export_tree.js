/* Trees as text and pictures for other programs. Ranks count from 0. */
import COLOURS from "../../../assets/colours.json" with { type: "json" };
import * as planner from "../../shared/web/planner.js";
import { svg } from "../../shared/web/dom.js";
import * as treeFrame from "../../shared/web/tree_frame.js";
import * as treeLayout from "../../shared/web/tree_layout.js";

const INK = COLOURS.pictures; // for white paper, the same in both themes

const HEAD = 24; // height of a picture's title, in px

/**
 * The project's own JSON format, as Tree.to_json writes it.
 * @param {number[]} parents
 * @returns {string}
 */
export const treeJson = (parents) =>
  JSON.stringify({ format: "sequoia-tree", version: 1, parents: planner.canonical(parents) });

const topologyOf = (parents) => treeLayout.topology(planner.canonical(parents));

/**
 * networkx's node-link format. Each node has its depth and rank, both from 0.
 * @param {number[]} parents
 * @returns {string}
 */
export function nodeLink(parents) {
  const { depth, rank, parents: up } = topologyOf(parents);
  const nodes = up.map((_, id) => ({ depth: depth[id], rank: rank[id], id }));
  const edges = up.map((source, target) => ({ source, target })).slice(1);
  return JSON.stringify({ directed: true, multigraph: false, graph: {}, nodes, edges });
}

/**
 * Medusa's format: for each node but the root, the list of the ranks on the path to it.
 * @param {number[]} parents
 * @returns {string}
 */
export function paths(parents) {
  const { n, rank, parents: up } = topologyOf(parents);
  const found = [[]];
  for (let node = 1; node < n; node++) found[node] = [...found[up[node]], rank[node]];
  return JSON.stringify(found.slice(1));
}

/**
 * SpecInfer's format: for each level but the last, how many children every node there has.
 * @param {number[]} parents
 * @returns {number[] | null} null if two nodes of one level have different numbers of children
 */
export function branchingOf(parents) {
  const { n, children, depth, levels } = topologyOf(parents);
  const list = new Array(levels - 1).fill(null);
  for (let node = 0; node < n; node++) {
    if (depth[node] === levels - 1) continue;
    const k = children[node].length;
    if (list[depth[node]] !== null && list[depth[node]] !== k) return null;
    list[depth[node]] = k;
  }
  return list;
}

/**
 * The whole tree as a separate picture, in colours for print.
 * @param {number[]} parents
 * @param {number[]} rates
 * @param {string} title
 * @returns {SVGSVGElement}
 */
export function treeSvg(parents, rates, title) {
  const topo = topologyOf(parents);
  const { rows, levels: cols } = topo;
  const size = { width: 28 + 66 * cols, height: 12 + 20 * rows };
  const frame = treeFrame.makeFrame({ rows, cols, ...size, focus: false });
  const root = sheet(frame, title);
  const edges = svg("g", { fill: "none", stroke: INK.edge }, root);
  const pills = svg("g", { stroke: INK.node, "stroke-opacity": 0.5 }, root);
  const labels = svg("g", { fill: INK.text, "text-anchor": "middle" }, root);
  const at = (node) => ({ col: topo.depth[node], row: topo.row[node] });
  planner.scores(topo.parents, rates).forEach((f, node) => {
    const x = frame.x(topo.depth[node]);
    const y = frame.y(topo.row[node]);
    if (node) svg("path", { d: treeFrame.edge(frame, at(topo.parents[node]), at(node)) }, edges);
    svg("rect", { x, y: y - 8, width: 48, height: 16, rx: 4, fill: tint(f) }, pills);
    svg("text", { x: x + 24, y: y + 4, text: node ? formatShare(f) : "root" }, labels);
  });
  return root;
}

function sheet({ width, height }, title) {
  const tall = height + HEAD;
  const face = { "font-family": "monospace", "font-size": 12 };
  const root = svg("svg", { width, height: tall, viewBox: `0 -${HEAD} ${width} ${tall}`, ...face });
  svg("title", { text: title }, root);
  svg("rect", { x: 0, y: -HEAD, width: "100%", height: "100%", fill: INK.paper }, root);
  svg("text", { x: 12, y: -6, fill: INK.text, text: title }, root);
  return root;
}

// A node's colour: the more often the node is accepted, the stronger.
function tint(f) {
  const strength = 0.04 + 0.5 * Math.sqrt(f);
  const inks = INK.node.match(/\w\w/g).map((hex) => parseInt(hex, 16));
  const mixed = inks.map((ink) => Math.round(255 + (ink - 255) * strength));
  return `rgb(${mixed.join(",")})`;
}

/**
 * A probability in few characters: .770, .046, 3e-4.
 * @param {number} value
 * @returns {string}
 */
export function formatShare(value) {
  if (value === 0) return "0";
  if (value >= 0.9995) return "1";
  if (value >= 0.1) return value.toFixed(3).replace(/^0/, "");
  if (value >= 0.001) return value.toPrecision(2).replace(/^0/, "");
  return value.toExponential(0);
}

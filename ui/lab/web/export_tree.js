/* Trees, vectors and tables as text for other programs; the same forms as sequoia/export.py and Tree.to_json. Pure but for `save`, which hands a file to the browser. */
import * as planner from "./planner.js";
import { csv } from "../../shared/web/save_file.js";
import * as treeFrame from "../../shared/web/tree_frame.js";
import * as treeLayout from "../../shared/web/tree_layout.js";

/** The project's own form. */
export const treeJson = (parents) =>
  JSON.stringify({ format: "sequoia-tree", version: 1, parents: planner.canonical(parents) });

function topologyOf(parents) {
  return treeLayout.topology(planner.canonical(parents));
}

/** networkx node-link form; nodes carry depth and rank. */
export function nodeLink(parents) {
  const { n, depth, rank, parents: up } = topologyOf(parents);
  const order = [];
  for (let node = 1; node < n; node++) order.push({ source: up[node], target: node });
  return JSON.stringify({
    directed: true,
    multigraph: false,
    graph: {},
    nodes: Array.from({ length: n }, (_, node) => ({
      depth: depth[node],
      rank: rank[node],
      id: node,
    })),
    edges: order,
  });
}

/** Medusa's form: for every node but the root, the ranks on the way to it. */
export function paths(parents) {
  const { n, rank, parents: up } = topologyOf(parents);
  const way = [[]];
  for (let node = 1; node < n; node++) way[node] = [...way[up[node]], rank[node]];
  return JSON.stringify(way.slice(1));
}

/** SpecInfer's form, children a node by level; null where nodes of one level differ. */
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

/** Every node with its place and worth. */
export function nodesCsv(parents, rates) {
  const { n, depth, rank, parents: up } = topologyOf(parents);
  const f = planner.scores(up, rates);
  return csv([
    ["node", "parent", "level", "rank", "chance_to_be_accepted"],
    ...Array.from({ length: n }, (_, node) => [
      node,
      up[node],
      depth[node] + 1,
      rank[node] + 1,
      f[node],
    ]),
  ]);
}

const escape = (text) =>
  String(text).replace(
    /[&<>"]/g,
    (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c],
  );

/** The whole tree as a picture of its own, in colours that print. */
export function treeSvg(parents, rates, title) {
  const topo = topologyOf(parents);
  const f = planner.scores(topo.parents, rates);
  const frame = picture(topo);
  const at = (node) => ({ col: topo.depth[node], row: topo.row[node] });
  const edges = [];
  const pills = [];
  for (let node = 0; node < topo.n; node++) {
    const x = frame.x(topo.depth[node]);
    const y = frame.y(topo.row[node]);
    const word = node ? formatShare(f[node]) : "root";
    if (node) edges.push(`<path d="${treeFrame.edge(frame, at(topo.parents[node]), at(node))}"/>`);
    pills.push(
      `<rect x="${x}" y="${y - 7.5}" width="44" height="15" rx="4" fill-opacity="${(0.04 + 0.5 * Math.sqrt(f[node])).toFixed(3)}"/>` +
        `<text x="${x + 22}" y="${y + 3.6}">${escape(word)}</text>`,
    );
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${frame.width}" height="${frame.height + 24}" viewBox="0 -24 ${frame.width} ${frame.height + 24}" font-family="monospace" font-size="10.5">` +
    `<title>${escape(title)}</title><rect x="0" y="-24" width="100%" height="100%" fill="#ffffff"/><text x="12" y="-6" fill="#1d2433" font-size="12">${escape(title)}</text>` +
    `<g fill="none" stroke="#9aa3b2">${edges.join("")}</g><g fill="#ffffff">${pills.map((pill) => pill.split("<text")[0].replace(/ fill-opacity="[^"]*"/, "")).join("")}</g>` +
    `<g fill="#6a3fc4" stroke="#6a3fc4" stroke-opacity="0.5" text-anchor="middle">${pills.join("").replace(/<text /g, '<text fill="#1d2433" stroke="none" ')}</g></svg>`
  );
}

function picture(topo) {
  const pitch = 19;
  const column = 62;
  const pad = 12;
  return {
    pitch,
    column,
    gutter: 13,
    pill: 15,
    size: 10.5,
    width: topo.levels * column + pad,
    height: topo.rows * pitch + pad,
    x: (col) => pad + col * column,
    y: (row) => pad / 2 + row * pitch + pitch / 2,
  };
}

/** A chance in few characters: .77, .046, 3e-4. */
export const formatShare = (value) => {
  if (value === 0) return "0";
  if (value >= 0.9995) return "1";
  if (value >= 0.1) return value.toFixed(3).replace(/^0/, "");
  if (value >= 0.001) return value.toPrecision(2).replace(/^0/, "");
  return value.toExponential(0);
};

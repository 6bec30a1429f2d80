/* The text below the Lab's tree: what the tree shows, how a node's number is computed, how close a
   tree drawn by hand is to the best, and what was wrong with an input. */
import { formatShare } from "./export_tree.js";
import * as planner from "../../shared/web/planner.js";
import { Refusal } from "../../shared/web/refusal.js";
import { attr, el, show, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";

const ROOT =
  "The root is the last token of the text. It counts as 1: every step also emits one token from " +
  "the large model.";
const PILLS = "Each node: the probability that a step accepts it.";

/** @typedef {import("./lab_tree.js").LabTree} LabTree */

/** The caption. */
export class LabTreeCaption {
  /**
   * @param {HTMLElement} host
   * @param {HTMLElement} tree a refusal lies over its top, so that nothing moves
   */
  constructor(host, tree) {
    this.refusal = new Refusal(tree, "refused");
    this.box = el("div", { class: "sq-lab-caption sq-dim" }, host);
    const line = { class: "sq-lab-explain", "data-part": "explain", "aria-live": "polite" };
    this.line = el("p", line, this.box);
    this.gap = el("p", { class: "sq-lab-gap", "data-part": "gap", hidden: "" }, this.box);
  }

  /** @param {LabTree} tree */
  paint(tree) {
    const hand = tree.state.shown === "hand";
    text(this.line, sentence(tree));
    show(this.gap, hand);
    if (hand) this.compare(tree);
  }

  // How far the tree drawn by hand is from the best tree of its size. A tree that keeps to the
  // level cap is compared with the best tree under the cap.
  compare({ state, topo }) {
    const { n, growth, freeGrowth, cap } = state;
    const size = state.hand.length;
    const own = planner.expectedTokens(state.hand, state.even);
    const isWithin = cap === null || topo.levels <= cap;
    const best = (isWithin ? growth : freeGrowth).totals[size - 1];
    const optimal = best - own < 1e-9;
    const limit = isWithin && cap !== null ? ` on at most ${cap} levels` : "";
    const words =
      size === 1 && n > 1
        ? "Click the root to give it a child."
        : verdict(`${size} nodes${limit}`, own, best, optimal);
    text(this.gap, roomWords(n - size, n) + words);
    attr(this.gap, "data-verdict", size > 1 && optimal ? "best" : "short");
  }
}

/**
 * How much of the budget a tree drawn by hand leaves, in words.
 * @param {number} left nodes; negative if the tree is over the budget
 * @param {number} budget nodes
 * @returns {string}
 */
export function roomWords(left, budget) {
  if (left > 0) return `${left} of ${budget} nodes left. `;
  if (left < 0) return `${count(-left, "node")} over the budget of ${budget}. `;
  return `All ${count(budget, "node")} used; for more, raise “Nodes”. `;
}

function verdict(trees, own, best, optimal) {
  if (optimal) return `${own.toFixed(3)} tokens: no tree of ${trees} is better.`;
  const gap = `${(best - own).toFixed(3)} tokens (${((1 - own / best) * 100).toFixed(1)}%)`;
  return (
    `${own.toFixed(3)} tokens; the best tree of ${trees} has ${best.toFixed(3)}: you are ` +
    `${gap} short of the optimum.`
  );
}

// Explains the node under the pointer, else the node with the focus, else the whole tree. In a tree
// drawn by hand, the node that last had the focus stays explained instead of the whole tree.
function sentence(tree) {
  const hand = tree.state.shown === "hand";
  const focused = hand || tree.view.svg.contains(document.activeElement) ? tree.at : null;
  const node = tree.hover ?? focused;
  if (node === null || node >= tree.topo.n) return hand ? "" : overall(tree);
  return node === 0 ? ROOT : oneNode(tree, node);
}

function overall(tree) {
  const folded = tree.drawn.items.length < tree.topo.n;
  const hint = folded
    ? " A dashed node has hidden descendants; click it to show its children."
    : " Point at one for details.";
  return PILLS + newest(tree) + hint + visibleLevels(tree);
}

// What the frame around a node of the best tree means, if that node is drawn.
const newest = ({ state, topo, byNode }) =>
  state.shown === "best" && topo.n > 1 && byNode.has(topo.n - 1) ? " Framed: added last." : "";

// Which levels are visible, if not all are.
function visibleLevels({ view, drawn }) {
  const { frame, zoom, size, left } = view;
  const within = (col) =>
    frame.x(col) * zoom >= left && (frame.x(col + 1) - frame.gutter) * zoom <= left + size.w;
  const cols = Array.from({ length: drawn.cols }, (_, col) => col).filter(within);
  if (!cols.length || cols.length === drawn.cols) return "";
  return (
    ` Levels ${cols[0] + 1} to ${cols.at(-1) + 1} of the ${drawn.cols} drawn are visible; ` +
    "scroll for the rest."
  );
}

function oneNode(tree, node) {
  const { state, topo, f } = tree;
  const ranks = tree.path(node);
  const rates = ranks.map((rank) => formatShare(state.even[rank - 1] ?? 0));
  const product = rates.length > 8 ? [...rates.slice(0, 3), "…", ...rates.slice(-3)] : rates;
  const path = ranks.length > 12 ? ranks.slice(0, 12).join(".") + "…" : ranks.join(".");
  const order = state.shown === "best" ? " in order of growth" : "";
  const name = `Node ${tree.numberOf(node)}${order}`;
  const below = topo.size[node] - 1;
  return [
    `${name}, level ${ranks.length + 1}, path ${path}: `,
    `f = ${product.join(" × ")} = ${Number(f[node].toPrecision(4))}`,
    below ? `; with its ${count(below, "descendant")}: ${tree.worth[node].toFixed(3)} tokens` : "",
    hiddenWords(tree, node),
  ].join("");
}

/**
 * The end of a sentence: how many descendants of a node are not drawn, and how to see them.
 * @param {Pick<LabTree, "state" | "drawn" | "byNode">} tree
 * @param {number} node
 * @returns {string}
 */
export function hiddenWords({ state, drawn, byNode }, node) {
  const item = byNode.get(node);
  const inside = new Set(item && [item.key]);
  for (const { key, parent } of drawn.items) if (inside.has(parent?.key)) inside.add(key);
  const below = drawn.items.filter(({ key }) => inside.has(key));
  const hidden = below.reduce((sum, one) => sum + one.hidden, 0);
  if (!hidden) return ".";
  const words = `; ${count(hidden, "descendant")} hidden: `;
  if (state.shown === "hand") return words + "“All nodes” shows them.";
  return words + (item.hidden ? "click" : "click a dashed node") + " to expand.";
}

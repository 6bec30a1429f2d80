/* A small picture of a tree's shape, without tokens. */
import { svg } from "./dom.js";
import { count } from "./format.js";
import { topology } from "./tree_layout.js";

const EDGE = 3; // px between the picture's edge and the centres of the outermost dots
const LARGEST_DOT = 4; // px
const SMALLEST_DOT = 1.2;

/**
 * The SVG path of all dots, the path of all lines between them, and the size of a dot in px.
 * @typedef {{dots: string, lines: string, dot: number}} Thumbnail
 */

/**
 * Lay out a tree in a box of `width` by `height` px: one column per level, with the root on the
 * left.
 * @param {number[]} parents of the nodes; -1 for the root
 * @param {number} width
 * @param {number} height
 * @returns {Thumbnail}
 */
export function thumbnail(parents, width, height) {
  const { n, depth, row, levels, rows } = topology(parents);
  const column = levels > 1 ? (width - 2 * EDGE) / (levels - 1) : 0;
  const line = rows > 1 ? (height - 2 * EDGE) / (rows - 1) : 0;
  const left = levels > 1 ? EDGE : width / 2;
  const top = rows > 1 ? EDGE : height / 2;
  const place = (node) =>
    `${(left + column * depth[node]).toFixed(1)} ${(top + line * row[node]).toFixed(1)}`;
  const nodes = [...Array(n).keys()];
  const apart = Math.min(column || LARGEST_DOT * 2, line || LARGEST_DOT * 2);
  return {
    dots: nodes.map((node) => `M${place(node)}h0`).join(""),
    lines: nodes
      .slice(1)
      .map((node) => `M${place(parents[node])}L${place(node)}`)
      .join(""),
    dot: Math.max(SMALLEST_DOT, Math.min(LARGEST_DOT, apart * 0.6)),
  };
}

/**
 * Whether a tree is a chain of at least two nodes.
 * @param {number[]} parents
 * @returns {boolean}
 */
export const isChain = (parents) =>
  parents.length > 1 && parents.every((parent, node) => parent === node - 1);

/**
 * The size of a tree in words.
 * @param {number[]} parents
 * @returns {string}
 */
export function sizeInWords(parents) {
  const { n, levels } = topology(parents);
  if (isChain(parents)) return `a chain of ${n} nodes`;
  return `${count(n, "node")} on ${count(levels, "level")}`;
}

/** A thumbnail in an element. */
export class TreeThumbnail {
  /** @type {number[] | null} */
  #parents = null;

  /**
   * @param {Element} host
   * @param {number} width px
   * @param {number} height px
   */
  constructor(host, width, height) {
    this.width = width;
    this.height = height;
    const size = { width, height, viewBox: `0 0 ${width} ${height}` };
    this.root = svg("svg", { class: "sq-thumbnail", role: "img", ...size }, host);
    this.title = svg("title", {}, this.root);
    this.lines = svg("path", { class: "sq-thumbnail-lines" }, this.root);
    this.dots = svg("path", { class: "sq-thumbnail-dots" }, this.root);
    this.show(null);
  }

  /** @param {number[] | null} parents of the nodes; null: hide the picture */
  show(parents) {
    this.root.style.display = parents ? "" : "none";
    if (!parents || this.#parents === parents) return;
    this.#parents = parents;
    const { dots, lines, dot } = thumbnail(parents, this.width, this.height);
    this.title.textContent = `Tree: ${sizeInWords(parents)}`;
    this.lines.setAttribute("d", lines);
    this.dots.setAttribute("d", dots);
    this.dots.style.strokeWidth = `${dot}px`;
    this.lines.style.strokeWidth = `${Math.min(1, dot / 3)}px`;
  }
}

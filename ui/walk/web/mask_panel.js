/* The panel that draws the tree attention mask of a step. It has a row for each node, with filled
   cells for the tokens that the node may attend to. Pointing at a node highlights its row. */
import { attr, el, pool, show, svg, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";
import { makeChoices, makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { seenBy } from "../../shared/web/tree_layout.js";
import { positionWords, positionsOf } from "./positions.js";

/** @import { StepView } from "../../shared/web/step_view.js" */

const SIDE = 380; // px; width of all cells together, if CELL allows it
const CELL = [2, 22]; // px; smallest and largest cell
const NAMED = 29; // nodes; the rows of a larger tree are too low for names and positions
const NAME_WIDE = 84; // px; width of the names
const LETTERS = 9; // most characters of a name
const PREFIX = 2; // columns; width of the cell for the text before the tree
const PLACE_WIDE = 44; // px; width of the positions
const HINT =
  "Each row is a node; its filled cells are the tokens it may attend to. The wide first column " +
  "is the text before the tree.";

/** The panel "Tree attention mask". */
export class MaskPanel {
  /** @type {StepView | null} */
  step = null;
  /** @type {number | null} the node that is highlighted */
  node = null;
  byIndex = false; // whether to show positions by index, a bug that is shown on purpose
  isPointed = false; // whether the pointer has pointed at a row since it came onto the mask

  /**
   * @param {HTMLElement} host
   * @param {(node: number | null) => void} point called with the node of the row under the pointer;
   *   null when the pointer leaves the mask
   */
  constructor(host, point) {
    this.point = point;
    const about = { title: "Tree attention mask", term: "tree attention mask" };
    const panel = makePanel(host, { ...about, part: "mask", cls: "wk-mask" });
    this.makeSwitch(panel.tools);
    this.says = el("p", { class: "wk-sees sq-dim", "data-part": "sees" }, panel.body);
    const box = el("div", { class: "wk-mask-box" }, panel.body);
    this.svg = svg("svg", { role: "img" }, box);
    this.seen = svg("path", { class: "wk-cells" }, this.svg);
    this.lit = svg("path", { class: "wk-cells is-lit" }, this.svg);
    this.names = pool(() => ({ node: svg("text", { class: "wk-name" }, this.svg) }));
    this.places = pool(() => ({ node: svg("text", { class: "wk-place" }, this.svg) }));
    this.positions = el("p", { class: "sq-dim", "data-part": "positions" }, panel.body);
    this.svg.addEventListener("pointermove", (event) => this.pointed(event));
    this.svg.addEventListener("pointerdown", (event) => this.pointed(event));
    this.svg.addEventListener("pointerleave", () => this.leave());
  }

  makeSwitch(tools) {
    el("span", { class: "sq-word sq-dim", text: "Positions" }, tools);
    const choose = (byIndex) => () => {
      this.byIndex = byIndex;
      this.paint(this.step, this.node);
    };
    this.ways = makeChoices(tools, "Positions", [
      { text: "by depth", part: "by-depth", act: choose(false) },
      { text: "by index", part: "by-index", act: choose(true) },
    ]);
    rove(tools);
  }

  pointed({ clientY }) {
    if (!this.step) return;
    const { top, height } = this.svg.getBoundingClientRect();
    const { n } = this.step.topo;
    const row = Math.floor(((clientY - top) / height) * n);
    this.isPointed = true;
    this.point(Math.max(0, Math.min(n - 1, row)));
  }

  // If the pointer did not point at a row, the highlighted node was chosen in the tree and stays
  // highlighted.
  leave() {
    if (this.isPointed) this.point(null);
    this.isPointed = false;
  }

  /**
   * @param {StepView | null} step
   * @param {number | null} node to be highlighted
   */
  paint(step, node) {
    this.step = step;
    this.node = step && node !== null && node < step.topo.n ? node : null;
    this.ways.press(Number(this.byIndex));
    this.svg.style.display = step ? "" : "none";
    show(this.positions, Boolean(step));
    if (!step) text(this.says, "");
    if (!step) return;
    const { topo } = step;
    this.frame(topo.n);
    const cells = topo.parents.map((_, one) => seenBy(topo, one));
    attr(this.seen, "d", cells.map((seen, row) => this.rowPath(seen, row)).join(""));
    const lit = this.node === null ? "" : this.rowPath(cells[this.node], this.node);
    attr(this.lit, "d", lit);
    this.svg.classList.toggle("has-lit", this.node !== null);
    attr(
      this.svg,
      "aria-label",
      `Attention mask of ${count(topo.n, "node")}. ${this.sentence(step)}`,
    );
    text(this.says, this.sentence(step));
    this.paintTexts(step, cells);
    text(this.positions, positionWords(topo, this.byIndex, step.label));
  }

  frame(n) {
    const [least, most] = CELL;
    this.cell = Math.max(least, Math.min(most, SIDE / (n + PREFIX)));
    this.isNamed = n <= NAMED;
    this.left = this.isNamed ? NAME_WIDE : 0;
    const width = this.left + (n + PREFIX) * this.cell + (this.isNamed ? PLACE_WIDE : 0);
    attr(this.svg, "viewBox", `0 0 ${width} ${n * this.cell}`);
    attr(this.svg, "width", width);
  }

  // The cells of a row as a path: one for the text before the tree, then the nodes in `seen`.
  rowPath(seen, row) {
    const { cell, left } = this;
    const tall = cell > 6 ? cell - 1 : cell;
    const box = (column, columns) => {
      const wide = (columns - 1) * cell + tall;
      return `M${left + column * cell} ${row * cell}h${wide}v${tall}h${-wide}z`;
    };
    return box(0, PREFIX) + seen.map((column) => box(column + PREFIX, 1)).join("");
  }

  paintTexts(step, cells) {
    const named = this.isNamed ? step.topo.n : 0;
    const lit = new Set(this.node === null ? [] : cells[this.node]);
    const places = positionsOf(step.topo, this.byIndex);
    const names = this.names.take(named);
    const numbers = this.places.take(named);
    for (let node = 0; node < named; node++) {
      const y = (node + 0.5) * this.cell;
      const isWrong = this.byIndex && places[node] !== step.topo.depth[node];
      const x = this.left + (named + PREFIX) * this.cell + 6;
      this.put(names[node].node, shortened(step.label(node)), this.left - 6, y);
      this.put(numbers[node].node, `+${places[node]}${isWrong ? " ✗" : ""}`, x, y);
      names[node].node.classList.toggle("is-lit", lit.has(node));
      numbers[node].node.classList.toggle("is-wrong", isWrong);
    }
  }

  put(node, words, x, y) {
    text(node, words);
    attr(node, "x", x);
    attr(node, "y", y);
  }

  sentence({ topo, label }) {
    const { node } = this;
    if (node === null) return HINT;
    const above = seenBy(topo, node).slice(0, -1);
    const quoted = above.map((one) => `“${label(one)}”`).join(", ");
    const seen = ["all tokens before the tree", ...(quoted ? [quoted] : [])].join(", ");
    return `Node ${node}, “${label(node)}”, attends only to ${seen} and itself.`;
  }
}

const shortened = (label) => (label.length > LETTERS ? label.slice(0, LETTERS - 1) + "…" : label);

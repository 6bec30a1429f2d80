/* The tree of a step in presenter mode. The walked path is written in large type with q and p, one
   level below the other. All nodes are drawn beside or below it as dots, with the root on top. */
import { attr, el, pool, sized, svg, text } from "../../shared/web/dom.js";
import { known, short } from "../../shared/web/format.js";
import { isResidual } from "../../shared/web/step_words.js";
import { TreeDots } from "../../shared/web/tree_dots.js";
import { fit, widthOf } from "../../shared/web/tree_frame.js";
import { allCells, seenBy } from "../../shared/web/tree_layout.js";

/**
 * @import { StepMotion } from "../../shared/web/step_motion.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { Frame } from "../../shared/web/tree_frame.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 * @typedef {{label: string, numbers: string, state: string}} Line one level of the path
 * @typedef {{x: number, y: number, w: number, h: number}} Box px
 */

const STATES = ["never", "untested", "drafted", "checked", "rejected", "accepted", "root"];
// In units of the type size.
const ROW = 1.3; // least height of a line of the path
const MOST_ROW = 2.4;
const PILL = 1.22; // height of a pill
const INSIDE = 0.35; // between a pill's edge and its text
const GAP = 0.6; // between a pill and its numbers, and between the path and the dots
const LEAST_LABEL = 3; // a label has at least this width
const MOST_LABEL = 12;
const NARROW = 36; // in a narrower box the dots are below the path
const MOST_DOT = 0.6;
const MOST_PITCH = 5; // between columns of dots
const EDGE = 1; // px that the outline of a pill needs
const NUMBER = 8; // characters of a number with its name
const MOST_CHARACTERS = 8; // of a rejected guess
const MOST_REJECTED = 2;
const PATH_SHARE = 0.6; // of the height, for a path above the dots

/** The picture. */
export class PresenterTree {
  /** @type {any[]} what the picture depends on, as last drawn */
  drawn = [];
  family = ""; // typeface of the labels

  /**
   * @param {StepMotion} motion which determines the picture
   * @param {Element} host
   * @param {() => void} changed called when the size of the picture has changed
   */
  constructor(motion, host, changed) {
    this.motion = motion;
    this.box = el("div", { class: "sq-present-tree" }, host);
    this.root = svg("svg", { class: "sq-present-svg", role: "img" }, this.box);
    // rows and columns change places, so that the root is on top
    this.turned = svg("g", { transform: "matrix(0 1 1 0 0 0)" }, this.root);
    this.dots = new TreeDots(this.turned, STATES);
    this.lines = pool(() => makeLine(this.root));
    this.size = sized(this.box, changed);
  }

  /**
   * @param {StepView} step
   * @param {number} size of the type in px
   */
  paint(step, size) {
    const { w, h } = this.size;
    const key = [step, this.motion.picture, size, w, h];
    if (!w || !h || key.every((one, i) => one === this.drawn[i])) return;
    this.drawn = key;
    attr(this.root, "width", w);
    attr(this.root, "height", h);
    attr(this.root, "aria-label", "Token tree of this step");
    this.family ||= getComputedStyle(this.root).fontFamily;
    const isNarrow = w < NARROW * size;
    const all = walked(step, this.motion).map((node) => this.line(step, node, isNarrow));
    const levels = step.topo.levels + 1; // with that of the target's token
    const tall = isNarrow ? Math.min(h * PATH_SHARE, levels * ROW * size) : h;
    const row = Math.min(MOST_ROW * size, Math.max(ROW * size, tall / levels));
    const lines = lastLines(all, Math.floor(tall / row + 0.01)); // `row` may be rounded up
    const wide = this.write(lines, { row, size, most: w });
    const left = isNarrow ? 0 : wide + GAP * size;
    const top = isNarrow ? tall : 0;
    const edge = size / 4; // half of a large dot
    const rest = { w: w - left - 2 * edge, h: Math.min(h - top, levels * row) };
    this.draw(step, size, { x: left + edge, y: top, ...rest });
  }

  /** @type {(step: StepView, node: NodeId, isNarrow: boolean) => Line} */
  line(step, node, isNarrow) {
    const state = this.motion.stateOf(node);
    const label = step.label(node);
    if (node === "bonus") return { label, numbers: "large model" + insteadOf(step), state };
    const isJudged = ["accepted", "rejected"].includes(state);
    return { label, numbers: node ? numbersOf(step, node, { isJudged, isNarrow }) : "", state };
  }

  // Returns the width of the path in px.
  /** @type {(lines: Line[], room: {row: number, size: number, most: number}) => number} */
  write(lines, { row, size, most }) {
    const { family } = this;
    const around = 2 * INSIDE * size;
    const width = (words) => widthOf(words, family) * size;
    const notes = Math.max(...lines.map(({ numbers }) => width(numbers))) + GAP * size;
    const room = Math.max(LEAST_LABEL * size, Math.min(MOST_LABEL * size, most - notes - around));
    const words = lines.map(({ label }) => fit(label, room, size, family));
    const wide = Math.max(...words.map(([, px]) => px)) + around;
    const made = this.lines.take(lines.length);
    lines.forEach(({ numbers, state }, i) => {
      const y = (i + 0.5) * row;
      const spot = { y, up: i ? row : 0, size, around, wide, numbers, state };
      placeLine(made[i], words[i], spot);
    });
    return wide + notes;
  }

  /** @type {(step: StepView, size: number, box: Box) => void} */
  draw(step, size, box) {
    const isWanted = box.h > 2 * size && box.w > 2 * size && step.topo.n > 1;
    this.turned.style.display = isWanted ? "" : "none";
    if (!isWanted) return;
    const { topo } = step;
    const frame = frameOf(topo, size, box);
    const looks = topo.parents.map((_, node) => ({ state: this.motion.stateOf(node) }));
    const { rows, levels: cols } = topo;
    this.dots.draw({ cells: allCells(topo), looks, rows, cols }, frame);
    const dot = Math.min(MOST_DOT * size, frame.pitch * 0.7, frame.column * 0.5);
    this.turned.style.setProperty("--sq-dot", dot.toFixed(1) + "px");
    this.turned.style.setProperty("--sq-line", Math.min(2, frame.pitch / 4).toFixed(1) + "px");
  }
}

// The guesses after the accepted path that were rejected, first of all the last.
/** @type {(step: StepView) => string} */
function insteadOf(step) {
  const { topo, trials, path } = step;
  const isHere = ({ node, accepted }) => !accepted && topo.parents[node] === path.at(-1);
  const labels = trials
    .filter(isHere)
    .map(({ node }) => step.label(node).slice(0, MOST_CHARACTERS));
  const shown = labels.slice(-MOST_REJECTED).reverse().join(" ");
  return shown && `, not ${shown}${labels.length > MOST_REJECTED ? " …" : ""}`;
}

// q and p as its trial compared them, which may be residual ones. In a narrow window only the
// caption says so.
/** @type {(step: StepView, node: number, how: {isJudged: boolean, isNarrow: boolean}) => string} */
function numbersOf(step, node, { isJudged, isNarrow }) {
  const trial = isJudged && !step.fromLeaves ? step.trial(node) : undefined;
  const { q, p } = trial ?? { q: step.q(node), p: isJudged ? step.p(node) : null };
  const named = (name, value) => (known(value) ? `${name} ${short(value)}` : "").padEnd(NUMBER + 1);
  const source = trial && !isNarrow && isResidual(step, trial) ? "residual" : "";
  return (named("q", q) + named("p", p) + source).trimEnd();
}

// The nodes on the way to the one being tried. Without a trial: the accepted path and the target's
// token, or before the walk the draft's first guesses.
/** @type {(step: StepView, motion: StepMotion) => NodeId[]} */
function walked({ topo, path, kind }, motion) {
  const { tried, shown } = motion;
  if (tried !== null) return seenBy(topo, tried);
  if (shown === null || shown.hasBonus || shown.phase === "result")
    return kind === "none" ? path : [...path, "bonus"];
  const way = [0];
  const next = () => topo.children[way.at(-1)][0];
  while (next() !== undefined && motion.stateOf(next()) !== "hidden") way.push(next());
  return way;
}

/** @type {(lines: Line[], most: number) => Line[]} */
function lastLines(lines, most) {
  if (lines.length <= most) return lines;
  const kept = lines.slice(lines.length - Math.max(most - 1, 1));
  const numbers = `${lines.length - kept.length} more above`;
  return most > 1 ? [{ label: "…", numbers, state: "" }, ...kept] : kept;
}

/** @type {(topo: StepView["topo"], size: number, box: Box) => Frame} */
function frameOf({ rows, levels }, size, { x: left, y: top, w: width, h: height }) {
  const pitch = Math.min(MOST_PITCH * size, width / rows);
  const column = height / (levels + 1);
  const corner = Math.min(4, pitch / 2, column / 3);
  return {
    ...{ pitch, column, corner, width: height, height: width },
    ...{ pill: pitch, size: 0, roomy: false, least: column },
    gutter: column / 3 + corner,
    x: (col) => top + (col + 0.5) * column,
    text: () => column,
    y: (row) => left + (row + 0.5) * pitch,
  };
}

function makeLine(root) {
  const node = svg("g", { class: "sq-n" }, root);
  const way = svg("path", { class: "sq-present-way" }, node);
  const rect = svg("rect", {}, node);
  const label = svg("text", { class: "sq-n-text" }, node);
  const numbers = svg("text", { class: "sq-present-numbers" }, node);
  return { node, way, rect, label, numbers };
}

// `up`: the distance to the line above, 0 for the first line.
function placeLine(line, [words, px, isSqueezed], { y, up, size, around, wide, numbers, state }) {
  const tall = PILL * size;
  line.node.dataset.s = state;
  attr(line.way, "d", up ? `M${size} ${tall / 2 - up}V${-tall / 2}` : "");
  attr(line.node, "transform", `translate(${EDGE} ${y.toFixed(1)})`);
  attr(line.rect, "width", (px + around).toFixed(1));
  attr(line.rect, "height", tall.toFixed(1));
  attr(line.rect, "y", (-tall / 2).toFixed(1));
  attr(line.rect, "rx", (size / 4).toFixed(1));
  text(line.label, words);
  attr(line.label, "textLength", isSqueezed ? px.toFixed(1) : null);
  attr(line.label, "lengthAdjust", isSqueezed ? "spacingAndGlyphs" : null);
  text(line.numbers, numbers);
  attr(line.label, "x", (around / 2).toFixed(1));
  attr(line.numbers, "x", (wide + GAP * size).toFixed(1));
  for (const part of [line.label, line.numbers]) {
    attr(part, "font-size", size);
    attr(part, "y", (size * 0.345).toFixed(1));
  }
}

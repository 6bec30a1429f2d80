/* A picture of the step on screen, to save as a file. From top to bottom: what the step did, the
   facts of the run, a badge if its times are simulated, the legend, and the tree. */
import { el, svg } from "../../shared/web/dom.js";
import { hidesNodes } from "../../shared/web/tree_layout.js";
import { factLines, runFacts } from "../../shared/web/run_facts.js";
import { isSimulated, paintBadge } from "../../shared/web/run_words.js";
import * as pictures from "../../shared/web/save_picture.js";
import { columnNames } from "../../shared/web/tree_columns.js";
import * as stepWords from "../../shared/web/step_words.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { TreePanel } from "./tree_panel.js"
 */

const PAD = 14; // px; margin of the picture
const LINE = 17; // px; height of a line of text
const SIZE = 12; // px; font size
const FACE = "sans-serif"; // other programs do not have the page's font
const BADGE_PAD = 8; // px; left and right of the badge's words
const SAMPLE = 28; // px from the start of a sample in the legend to its words
const APART = 18; // px; between entries of the legend
const LEAST = 620; // px; smallest width of a picture
const LETTER = 6.5; // px; approximate width of a letter
const AIR = 5; // px; below the names of columns
// Attributes that mean nothing outside the page.
const PAGE_ONLY = /^(class|style|role|tabindex|(data|aria)-.*)$/;
// Classes that show the visitor's pointer, selection, search or zoom.
const MARKS = ["sq-dots", "sq-searching", "is-selected", "is-above", "is-pinned", "is-match"];
/** @type {Record<string, string>} usual values of style properties, which are not written */
const USUAL = {
  "stroke-width": "1px",
  "stroke-dasharray": "none",
  "stroke-linecap": "butt",
  opacity: "1",
};
const TYPE = ["font-family", "font-size", "font-weight"];

const pixel = el("canvas", { width: 1, height: 1 });
const pen = pixel.getContext("2d", { willReadFrequently: true });

// Width of words in the picture's font, in px.
function widthOf(words, weight, size) {
  pen.font = `${weight} ${size}px ${FACE}`;
  return pen.measureText(words).width;
}

// A function that converts any CSS colour to "#rrggbb", which every program can read. Transparent
// colours are mixed with the `ground` behind them.
function painter(ground) {
  const known = new Map([["none", "none"]]);
  return (colour) => {
    if (known.has(colour)) return known.get(colour);
    for (const layer of [ground, colour]) {
      pen.fillStyle = layer;
      pen.fillRect(0, 0, 1, 1);
    }
    const parts = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    known.set(colour, "#" + parts.map((part) => part.toString(16).padStart(2, "0")).join(""));
    return known.get(colour);
  };
}

// The look that the page's style sheets give `node`, as attributes: [name, value]. Text gets a
// fixed length, so that its width is the same in any font.
function looks(node, colour) {
  if (/^(g|svg)$/.test(node.localName)) return [];
  const style = getComputedStyle(node);
  const found = ["fill", "stroke"].map((name) => [name, colour(style[name])]);
  for (const [name, usual] of Object.entries(USUAL))
    if (style.getPropertyValue(name) !== usual) found.push([name, style.getPropertyValue(name)]);
  if (node.localName !== "text") return found;
  found.push(...TYPE.map((name) => [name, style.getPropertyValue(name)]));
  const wide = node.getComputedTextLength();
  if (wide) found.push(["textLength", wide.toFixed(1)], ["lengthAdjust", "spacingAndGlyphs"]);
  return found;
}

// A copy of the SVG element `node` that does not depend on the page, and the copy's bounding box.
// The copy lacks hidden parts, MARKS, the path to the tree node under the pointer (.sq-way), and
// the bars, because its numbers are written. It is first put into the page beside `node`,
// invisibly, because the style sheets apply only there.
function standalone(node, colour) {
  const copy = node.cloneNode(true);
  const { width, height } = node.viewBox.baseVal; // its size when it is not zoomed
  for (const part of copy.querySelectorAll("*"))
    if (part.style.display === "none" || part.matches(".sq-way, .sq-n-bar, .sq-n-track"))
      part.remove();
  const all = [copy, ...copy.querySelectorAll("*")];
  for (const one of all) one.classList.remove(...MARKS);
  copy.style.cssText = "position: absolute; left: -100000px; visibility: hidden";
  put(copy, Object.entries({ width, height }));
  node.after(copy);
  const box = copy.getBBox();
  const looked = all.map((one) => looks(one, colour));
  copy.remove();
  all.forEach((one, i) => {
    for (const { name } of [...one.attributes]) if (PAGE_ONLY.test(name)) one.removeAttribute(name);
    put(one, looked[i]);
    if (one.localName === "text")
      one.setAttributeNS("http://www.w3.org/XML/1998/namespace", "xml:space", "preserve");
  });
  return [copy, box];
}

function put(node, attributes) {
  for (const [name, value] of attributes) node.setAttribute(name, value);
}

/** A picture that grows downwards, part by part. */
class Sheet {
  constructor(panel) {
    const ground = pictures.ground(panel);
    this.colour = painter(ground);
    this.ink = this.colour(getComputedStyle(panel).color);
    this.root = svg("svg", {});
    svg("rect", { width: "100%", height: "100%", fill: this.colour(ground) }, this.root);
    this.width = LEAST;
    this.y = PAD / 2;
  }

  // Write words from `x` on; returns where they end.
  text(x, words, weight = "400", fill = this.ink) {
    const type = { "font-family": FACE, "font-size": SIZE, "font-weight": weight };
    const look = { x, y: this.y + LINE - 4, fill, ...type, text: words };
    svg("text", look, this.root);
    const end = x + widthOf(words, weight, SIZE);
    this.width = Math.max(this.width, end + PAD);
    return end;
  }

  // Write a title, and lines below it.
  lines(title, rest) {
    svg("title", { text: title }, this.root);
    this.text(PAD, title, "700");
    for (const line of rest) {
      this.y += LINE;
      this.text(PAD, line);
    }
    this.y += LINE + PAD / 2;
  }

  // The badge of a simulated run, in the colours that it has in `panel`. A picture of simulated
  // times must always say so.
  badge(panel, meta) {
    const badge = el("span", { class: "sq-badge" }, panel);
    paintBadge(badge, meta, true);
    const words = badge.textContent;
    const look = getComputedStyle(badge);
    const [fill, ink] = [look.backgroundColor, look.color].map(this.colour);
    badge.remove();
    const width = widthOf(words, "650", SIZE) + 2 * BADGE_PAD;
    const box = { x: PAD, y: this.y, width, height: LINE + 4, rx: (LINE + 4) / 2 };
    svg("rect", { ...box, fill }, this.root);
    this.y += 2;
    this.text(PAD + BADGE_PAD, words, "650", ink);
    this.y += LINE + PAD / 2;
  }

  // The samples of a legend with their words, in one row.
  key(legend) {
    let x = PAD;
    for (const entry of legend.children) {
      const sample = entry.querySelector(".sq-sample, .sq-shade");
      const words = [...entry.childNodes].map((part) => part.textContent).filter(Boolean);
      if (sample) this.sample(sample, x);
      x = this.text(x + (sample ? SAMPLE : 0), words.join(" ")) + APART;
    }
    this.y += LINE + PAD / 2;
  }

  sample(sample, x) {
    const spot = svg("g", { transform: `translate(${x} ${this.y + 3})` }, this.root);
    if (sample.localName === "svg")
      return spot.append(...standalone(sample, this.colour)[0].childNodes);
    svg(
      "rect",
      {
        width: 22,
        height: 10,
        rx: 3,
        fill: this.colour(getComputedStyle(sample).backgroundColor),
        stroke: this.ink,
        "stroke-width": 0.5,
      },
      spot,
    );
  }

  // The tree, at full size, below the names of its columns.
  tree(canvas, frame, names) {
    const [copy, box] = standalone(canvas, this.colour);
    const left = PAD - box.x;
    names.forEach((name, col) => this.text(left + frame.x(col) + 1, name));
    this.y += LINE + AIR;
    put(
      copy,
      Object.entries({
        x: PAD,
        y: this.y,
        width: box.width,
        height: box.height,
        viewBox: `${box.x} ${box.y} ${box.width} ${box.height}`,
        overflow: "visible",
      }),
    );
    this.root.append(copy);
    this.width = Math.max(this.width, box.width + 2 * PAD);
    this.y += box.height;
  }

  whole() {
    const width = Math.ceil(this.width);
    const height = Math.ceil(this.y + PAD);
    put(this.root, Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }));
    return this.root;
  }
}

const title = (view, word) =>
  `Step ${view.index + 1}${word ? ` (${word})` : ""}: ${stepWords.stepLine(view)}`;

const PARTLY =
  "Only part of the tree is drawn. “▸12” means 12 hidden descendants; “… 3 more” means 3 " +
  "hidden siblings.";

// The models and settings as lines, with a note if part of the tree is left out.
function about({ meta, lane }, cells, wide) {
  const lines = factLines(meta, runFacts(meta, lane), Math.floor(wide / LETTER));
  return hidesNodes(cells) ? [...lines, PARTLY] : lines;
}

/**
 * The picture of the step that `tree` has drawn.
 * @param {RunStore} store
 * @param {TreePanel} tree
 * @returns {SVGElement} not yet in the page
 */
export function treePicture(store, tree) {
  const { drawn, view } = tree;
  const { frame, scene } = view;
  const sheet = new Sheet(tree.panel.root);
  const wide = Math.max(frame.width, LEAST) - 2 * PAD;
  sheet.lines(title(drawn, store.word), about(store, scene.cells, wide));
  if (isSimulated(store.meta)) sheet.badge(tree.panel.root, store.meta);
  sheet.key(store.heat ? tree.tools.legend.heat : tree.tools.legend.states);
  sheet.tree(view.svg, frame, columnNames(scene.columns, view, 1));
  return sheet.whole();
}

/* The step on show as a picture that can leave the page: the tree as it is drawn, below what ran, what the step did, and the key. */
import { runFacts } from "./run_header.js";
import * as dom from "../../shared/web/dom.js";
import { svg } from "../../shared/web/dom.js";
import { factLines } from "../../shared/web/run_facts.js";
import * as pictures from "../../shared/web/save_picture.js";
import * as stepWords from "../../shared/web/step_words.js";

const PAD = 14;
const LINE = 17;
const SIZE = 11.5;
const SMALL = 10;
const FACE = "sans-serif"; // px around, of a line of text, of its type; the page's own face stays on the page
const SAMPLE = 28;
const APART = 18;
const LEAST = 620;
const LETTER = 6.2;
const AIR = 5; // px: of the key’s samples, between its entries, of a picture at least, of about one letter, below names
const PAGE_ONLY = /^(class|style|role|tabindex|(data|aria)-.*)$/; // attributes that mean nothing away from the page
const MARKS = ["sq-dots", "sq-searching", "is-selected", "is-pinned", "is-match"]; // what the page shows of its visitor, and its zoom
const USUAL = {
  "stroke-width": "1px",
  "stroke-dasharray": "none",
  "stroke-linecap": "butt",
  opacity: "1",
};
const TYPE = ["font-family", "font-size", "font-weight"];

const pen = dom
  .el("canvas", { width: 1, height: 1 })
  .getContext("2d", { willReadFrequently: true });

/** Px that `words` take in the picture's face. */
function widthOf(words, weight, size) {
  pen.font = `${weight} ${size}px ${FACE}`;
  return pen.measureText(words).width;
}

/** A function that writes any colour as every program reads it, mixed with the `ground` it stands on. */
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

/** What the page's style sheets give `node`, as attributes: [name, value]. Words keep their width in any other face. */
function looks(node, colour) {
  if (/^(g|svg)$/.test(node.localName)) return [];
  const style = getComputedStyle(node);
  const found = ["fill", "stroke"].map((name) => [name, colour(style[name])]);
  for (const [name, usual] of Object.entries(USUAL))
    if (style.getPropertyValue(name) !== usual) found.push([name, style.getPropertyValue(name)]);
  if (node.localName !== "text") return found;
  const wide = node.getComputedTextLength();
  return [
    ...found,
    ...TYPE.map((name) => [name, style.getPropertyValue(name)]),
    ...(wide
      ? [
          ["textLength", wide.toFixed(1)],
          ["lengthAdjust", "spacingAndGlyphs"],
        ]
      : []),
  ];
}

/** `node` as a drawing of its own, with nothing hidden or marked in it and nothing that depends on the page: [copy, its box]. It
      is laid out once beside `node`, out of sight, where the style sheets reach it and no pointer does. */
function standalone(node, colour) {
  const copy = node.cloneNode(true);
  const { width, height } = node.viewBox.baseVal; // its size when it is not zoomed
  for (const hidden of [...copy.querySelectorAll("*")].filter(
    ({ style }) => style.display === "none",
  ))
    hidden.remove();
  const all = [copy, ...copy.querySelectorAll("*")];
  for (const one of all) one.classList.remove(...MARKS);
  copy.style.cssText = "position: absolute; left: -100000px; visibility: hidden";
  put(copy, [
    ["width", width],
    ["height", height],
  ]);
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

  /** Write `words` from `x` on; answers where they end. */
  text(x, words, { weight = "400", size = SIZE } = {}) {
    svg(
      "text",
      {
        x,
        y: this.y + LINE - 4,
        fill: this.ink,
        "font-family": FACE,
        "font-size": size,
        "font-weight": weight,
        text: words,
      },
      this.root,
    );
    const end = x + widthOf(words, weight, size);
    this.width = Math.max(this.width, end + PAD);
    return end;
  }

  /** A title, and lines below it. */
  lines(title, rest) {
    svg("title", { text: title }, this.root);
    this.text(PAD, title, { weight: "700" });
    for (const line of rest) {
      this.y += LINE;
      this.text(PAD, line);
    }
    this.y += LINE + PAD / 2;
  }

  /** The samples of a `legend` with their words, in one row. */
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

  /** The tree below the names of its levels, its words shown however small the page shows it: all that is drawn and no more. */
  tree(canvas, frame, names) {
    const [copy, box] = standalone(canvas, this.colour);
    const left = PAD - box.x;
    names.forEach((name, col) => this.text(left + frame.x(col) + 1, name, { size: SMALL }));
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
  `Step ${view.i + 1}${word ? ` (${word})` : ""}: ${stepWords.step(view)}`;

/** The models, the settings, and what of the tree is not drawn. */
function about({ meta, focused }, wide) {
  const lines = factLines(meta, runFacts(meta), Math.floor(wide / LETTER));
  return focused
    ? [
        ...lines,
        "Only part of the tree is drawn: ▸12 means 12 nodes below that are not, “… 3 more” means siblings that are not.",
      ]
    : lines;
}

/** The step of `store` that `tree`, a TreeView, has drawn: an `svg` element of its own. */
export function treePicture(store, tree) {
  const { view, plan } = tree.drawn;
  const { frame } = tree;
  const sheet = new Sheet(tree.panel.root);
  sheet.lines(title(view, store.word), about(store, Math.max(frame.width, LEAST) - 2 * PAD));
  sheet.key(store.heat ? tree.legend.heat : tree.legend.states);
  sheet.tree(tree.canvas, frame, tree.columnNames(plan, 1));
  return sheet.whole();
}

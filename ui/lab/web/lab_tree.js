/* The tree on show, in the live view's comb: every pill says how often its node is accepted. Grows with the budget, or by hand. */
import { makePanel } from "../../shared/web/panel.js";
import { formatShare } from "./export_tree.js";
import { LabTreePanel } from "./lab_tree_panel.js";
import { LabTreePointer } from "./lab_tree_pointer.js";
import * as planner from "./planner.js";
import * as dom from "../../shared/web/dom.js";
import { attr, el, show, svg, text } from "../../shared/web/dom.js";
import * as treeFrame from "../../shared/web/tree_frame.js";
import * as treeLayout from "../../shared/web/tree_layout.js";
import { Nodes } from "../../shared/web/tree_nodes.js";

const { FOLD_ABOVE, DRAWN } = LabTreePanel;
const BEYOND = 12; // rows above and below the window whose pills are written too

export class LabTree extends LabTreePanel {
  constructor(host, state) {
    super();
    Object.assign(this, {
      state,
      hand: state.past,
      zoom: 1,
      left: 0,
      top: 0,
      pass: 0,
      opened: new Set(),
      all: false,
      hover: null,
      at: 0,
      query: "",
    });
    const panel = (this.panel = makePanel(host, {
      part: "lab-tree",
      title: "Tree",
      cls: "sq-lab-tree",
    }));
    this.word = el("span", { class: "sq-word" }, panel.titleBox);
    this.modes(panel.tools);
    this.budget(panel.body);
    this.says(panel.body);
    const box = el("div", { class: "sq-lab-box" }, panel.body);
    this.scroller = el("div", { class: "sq-lab-scroll" }, box);
    this.fades = el("div", { class: "sq-lab-fades" }, box);
    this.canvas = svg("svg", { class: "sq-tree-svg" }, this.scroller);
    this.nodes = new Nodes(this.canvas);
    this.pan = new LabTreePointer(this);
    this.size = dom.sized(this.scroller, () => state.changed());
    document.fonts?.ready.then(() => {
      this.family = null;
      this.shape = null;
      state.changed();
    });
  }

  // -- what a person asks for ---------------------------------------------------------------------------------------------

  /** Not done, because of `words`, which hold until something changes; `field`: where it was typed. */
  refuse(words, field) {
    this.refusedAt = this.state.version;
    this.refusal.say(words + ".", field);
    this.state.changed();
  }

  choose(name) {
    if (
      name === "hand" &&
      this.state.hand.length === 1 &&
      this.state.n > 1 &&
      !this.hand.past.length
    )
      this.at = 0;
    this.state.set({ shown: name });
  }

  start() {
    this.draw(this.hand.replace(this.state.hand, this.state.growth.parents.slice(0, this.state.n)));
  }
  undo() {
    this.draw(this.hand.undo(this.state.hand));
  }
  draw(parents) {
    this.at = Math.min(this.at, parents.length - 1);
    this.state.set({ hand: parents });
  }

  // -- what is drawn -----------------------------------------------------------------------------------------------------

  read() {
    const { state } = this;
    const key = state.version + "|" + state.shown;
    if (this.known === key) return;
    this.known = key;
    this.parents = state.parents;
    this.topo = treeLayout.topology(this.parents);
    this.f = planner.scores(this.parents, state.even);
    this.worth = this.f.slice();
    for (let node = this.parents.length - 1; node > 0; node--)
      this.worth[this.parents[node]] += this.worth[node];
    const order = this.f.map((_, node) => node).sort((a, b) => this.f[b] - this.f[a] || a - b);
    this.letters = this.f.reduce(
      (most, f, node) => Math.max(most, node ? formatShare(f).length : 4),
      4,
    ); // "root" has four
    this.best = new Set(order.slice(0, DRAWN));
    this.hover = null;
    this.at = Math.min(this.at, this.parents.length - 1);
  }

  /** Of a large tree the best nodes are drawn, of a deep one the levels that fit; a drawing by hand is drawn as it is. */
  limits() {
    const { topo, state } = this;
    const digit = treeFrame.widthOf("0", this.family);
    this.digit = digit;
    this.deepest =
      state.shown === "hand"
        ? Infinity
        : Math.max(treeFrame.columns(this.size.w, this.letters * digit, this.tail(topo.n)), 2);
    this.foldable = topo.n > FOLD_ABOVE || topo.levels > this.deepest;
  }

  /** Px that the count of `hidden` nodes takes behind a pill. */
  tail(hidden) {
    return hidden ? Math.ceil((String(hidden).length + 2) * this.digit * 13.5) : 0;
  }

  plan() {
    const { topo, deepest } = this;
    const items = [];
    const stack = [[0, null]];
    const large = topo.n > FOLD_ABOVE;
    let rows = 0;
    let cols = 0;
    const visible = (child) =>
      this.all ||
      this.opened.has(topo.parents[child]) ||
      ((!large || this.best.has(child)) && topo.depth[child] < deepest);
    while (stack.length) {
      const [node, parent] = stack.pop();
      const shown = topo.children[node].filter(visible);
      const hidden = topo.children[node]
        .filter((child) => !visible(child))
        .reduce((sum, child) => sum + topo.size[child], 0);
      const item = {
        key: "n" + node,
        node,
        parent,
        col: topo.depth[node],
        row: rows,
        hidden,
        end: !shown.length,
      };
      items.push(item);
      cols = Math.max(cols, item.col + 1);
      if (!shown.length) rows++;
      for (let i = shown.length - 1; i >= 0; i--) stack.push([shown[i], item]);
    }
    return { items, rows: Math.max(rows, 1), cols };
  }

  paint() {
    if (this.refusedAt !== this.state.version) this.refusal.say("");
    if (!this.size.w) return this.controls();
    this.read();
    this.family ||= getComputedStyle(this.canvas).fontFamily;
    this.limits();
    const plan = this.plan();
    const wish = this.wish(plan);
    const shape = [
      plan.rows,
      plan.cols,
      this.size.w,
      this.size.h,
      this.family,
      wish.word,
      wish.tail,
    ].join();
    if (shape !== this.shape) {
      this.shape = shape;
      this.frame = treeFrame.makeFrame({
        rows: plan.rows,
        cols: plan.cols,
        width: this.size.w,
        height: this.size.h,
        focus: false,
        ...wish,
      });
    }
    this.drawn = plan;
    this.controls();
    this.fit();
    this.pills(plan);
    this.byNode = new Map(plan.items.map((item) => [item.node, item]));
    this.marks();
    this.words();
  }

  /** What the pills want of the frame: the widest text of a cell, and the room that counts of folded nodes take behind the last. */
  wish({ items, cols }) {
    const last = items.filter(({ col, end }) => end && col === cols - 1);
    return {
      word: this.letters * this.digit,
      tail: Math.max(...last.map(({ hidden }) => this.tail(hidden))),
    };
  }

  fit() {
    const { frame, zoom } = this;
    attr(this.canvas, "viewBox", `0 0 ${frame.width} ${frame.height}`);
    this.scale();
    this.canvas.classList.toggle("sq-dots", frame.size * zoom < 6);
    this.edges();
  }

  scale() {
    attr(this.canvas, "width", Math.round(this.frame.width * this.zoom));
    attr(this.canvas, "height", Math.round(this.frame.height * this.zoom));
  }

  /** The picture fades where it goes on beyond its box. */
  edges() {
    const {
      frame,
      zoom,
      size,
      left,
      top,
      fades: { style },
    } = this;
    const more = (far) => (far > 2 ? "26px" : "0px");
    const wanted = {
      left: more(left),
      right: more(frame.width * zoom - left - size.w),
      top: more(top),
      bottom: more(frame.height * zoom - top - size.h),
    };
    for (const [side, px] of Object.entries(wanted))
      if (style.getPropertyValue("--" + side) !== px) style.setProperty("--" + side, px);
  }

  /** Which levels are in sight, where that is not all of them. */
  sight() {
    const {
      frame,
      zoom,
      size,
      left,
      drawn: { cols: drawn },
    } = this;
    const within = (col) =>
      frame.x(col) * zoom >= left && (frame.x(col + 1) - frame.gutter) * zoom <= left + size.w;
    const cols = Array.from({ length: drawn }, (_, col) => col).filter(within);
    if (!cols.length || cols.length === drawn) return "";
    return ` Levels ${cols[0] + 1} to ${cols.at(-1) + 1} of the ${drawn} drawn are in sight: scroll to the others.`;
  }

  pills(plan) {
    const pass = ++this.pass;
    const { nodes, frame } = this;
    const { shown } = this.state;
    const [first, last] = this.rows();
    for (const item of plan.items) {
      const made = nodes.get(item.key, item.col + 1);
      nodes.place(made, frame, item, item.parent, pass);
      if (item.row < first || item.row > last) continue; // out of sight; written when it is scrolled into view
      nodes.write(
        made,
        frame,
        this.family,
        item.node ? formatShare(this.f[item.node]) : "root",
        item.hidden && item.end ? "▸" + item.hidden : "",
        item.node ? "never" : "root",
        item.end ? 240 : frame.text(item.col),
      );
      made.g.style.setProperty("--h", Math.sqrt(this.f[item.node]).toFixed(3));
      made.g.classList.toggle("has-more", item.hidden > 0);
      made.g.classList.toggle(
        "is-newest",
        shown === "best" && item.node === this.topo.n - 1 && item.node > 0,
      );
    }
    nodes.sweep(pass);
  }

  /** First and last row in sight, and some beyond. */
  rows() {
    const { frame, zoom, top, size } = this;
    const at = (y) => (y / zoom - frame.y(0)) / frame.pitch;
    return [at(top) - BEYOND, at(top + size.h) + BEYOND];
  }

  /** The pills that come into sight are written once a frame. */
  scrolled(left, top) {
    Object.assign(this, { left, top });
    this.coming ||= requestAnimationFrame(() => {
      this.coming = 0;
      this.paint();
    });
  }

  marks() {
    const hits = new Set(this.hits());
    this.nodes.pills.classList.toggle("sq-searching", hits.size > 0);
    for (const [node, item] of this.byNode) {
      const { g } = this.nodes.made.get(item.key);
      g.classList.toggle("is-match", hits.has(node));
      g.classList.toggle("is-pinned", this.state.shown === "hand" && node === this.at);
      attr(g, "tabindex", node === (this.byNode.has(this.at) ? this.at : 0) ? "0" : "-1");
    }
    text(this.found, this.query ? hits.size + " of " + this.topo.n : "");
  }

  // -- words -------------------------------------------------------------------------------------------------------------

  way(node) {
    const ranks = [];
    for (let at = node; at > 0; at = this.parents[at]) ranks.unshift(this.topo.rank[at] + 1);
    return ranks;
  }

  /** The node under the pointer or the keyboard, with its own operands. */
  words() {
    const focused =
      this.canvas.contains(document.activeElement) || this.state.shown === "hand" ? this.at : null;
    const node = this.hover ?? focused;
    const hand = this.state.shown === "hand";
    if (node === null || node === undefined || node >= this.topo.n) {
      return this.tell(
        hand
          ? ""
          : "Each pill is the chance that a step accepts its node; together they are the expected tokens." +
              (this.drawn.items.length < this.topo.n
                ? " Dashed: more below, click to unfold."
                : " Point at a node to see why.") +
              this.sight(),
      );
    }
    if (node === 0)
      return this.tell(
        "The root is the last token of the text: it is always there and counts 1, for the token the target itself adds.",
      );
    const ranks = this.way(node);
    const rates = ranks.map((rank) => formatShare(this.state.even[rank - 1] ?? 0));
    const sum = ranks.length > 8 ? [...rates.slice(0, 3), "…", ...rates.slice(-3)] : rates;
    const grown = this.state.shown === "best" ? `Node ${node + 1} to grow` : `Node ${node}`;
    const size = this.topo.size[node];
    this.tell(
      `${grown}, level ${ranks.length + 1}, way ${ranks.length > 12 ? ranks.slice(0, 12).join(".") + "…" : ranks.join(".")}: f = ${sum.join(" × ")} = ${Number(this.f[node].toPrecision(4))}` +
        (size > 1
          ? `; with the ${size - 1} below it worth ${this.worth[node].toFixed(3)} tokens`
          : "") +
        (this.byNode.get(node)?.hidden
          ? `; ${this.byNode.get(node).hidden} of them folded, click to unfold.`
          : "."),
    );
  }

  /** The node under the pointer, null for none. */
  point(node) {
    if (this.hover === node) return;
    this.hover = node;
    if (!this.refusal.field) this.refusal.say("");
    this.words();
  }

  tell(words) {
    text(this.line, words);
    show(this.line, !this.refusal.words);
    this.compare();
  }

  /** How far a drawn tree is from the best of its own size. */
  compare() {
    const { state } = this;
    const hand = state.shown === "hand";
    show(this.drawing, hand);
    if (!hand) return;
    const size = state.hand.length;
    const own = planner.expectedTokens(state.hand, state.even);
    const levels = this.topo.levels;
    const growth = state.cap !== null && levels > state.cap ? state.freeGrowth : state.growth;
    const best = growth.totals[size - 1];
    const gap = best - own;
    const left = state.n - size;
    const room =
      left > 0
        ? `${left} of ${state.n} nodes left. `
        : left < 0
          ? `${-left} over the budget of ${state.n}. `
          : "Budget used. ";
    const verdict =
      size === 1
        ? "Click the root to give it a child."
        : gap < 1e-9
          ? `${own.toFixed(3)} tokens: no tree of ${size} nodes is better.`
          : `${own.toFixed(3)} tokens, the best tree has ${best.toFixed(3)} with the same ${size} nodes: ${gap.toFixed(3)} (${((gap / best) * 100).toFixed(1)} %) to find.`;
    text(this.drawing, room + verdict);
    attr(this.drawing, "data-verdict", size > 1 && gap < 1e-9 ? "best" : "short");
  }

  // -- find ----------------------------------------------------------------------------------------------------------------

  find() {
    this.query = this.search.value.trim();
    this.state.changed();
  }

  hits() {
    const { query, topo } = this;
    if (!query || !topo) return [];
    if (/^\d+$/.test(query)) {
      const node = Number(query) - (this.state.shown === "best" ? 1 : 0);
      return node >= 0 && node < topo.n ? [node] : [];
    }
    if (!/^\d+([.·]\d+)*[.·]?$/.test(query)) return [];
    let node = 0;
    for (const rank of query.split(/[.·]/).filter(Boolean)) {
      node = topo.children[node]?.[Number(rank) - 1];
      if (node === undefined) return [];
    }
    return [node];
  }

  /** Unfold the way to a node and bring it into view. */
  goTo(node) {
    if (node === undefined) return;
    for (let at = this.parents[node]; at >= 0; at = this.parents[at]) this.opened.add(at);
    this.at = node;
    this.paint();
    const item = this.byNode.get(node);
    const { frame, zoom, scroller } = this;
    scroller.scrollTo({
      left: frame.x(item.col) * zoom - scroller.clientWidth / 2,
      top: frame.y(item.row) * zoom - scroller.clientHeight / 2,
    });
    this.nodes.made.get(item.key).g.focus({ preventScroll: true });
  }
}

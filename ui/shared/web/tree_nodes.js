/* The pills and edges of one topology as SVG elements: made once a node, afterwards only class, text and place change. */
import { attr, pool, svg, text } from "./dom.js";
import * as treeFrame from "./tree_frame.js";

export class Nodes {
  constructor(root) {
    this.base = svg("g", { class: "sq-edges" }, root);
    this.halo = svg("g", { class: "sq-halos" }, root);
    this.active = svg("g", { class: "sq-edges" }, root);
    this.pills = svg("g", { class: "sq-pills", role: "tree", "aria-label": "Token tree" }, root);
    this.halos = pool(() => svg("path", { class: "sq-halo" }, this.halo));
    this.paths = pool(() => svg("path", { class: "sq-edge" }, this.active));
    this.clear();
  }

  clear() {
    this.made = new Map();
    this.base.replaceChildren();
    this.pills.replaceChildren();
  }

  /** The elements of a key ("n12", "bonus", "g3:untried"), made on first use. */
  get(key, level) {
    let item = this.made.get(key);
    if (item) return item;
    const g = svg(
      "g",
      { class: "sq-n", "data-key": key, tabindex: "-1", role: "treeitem", "aria-level": level },
      this.pills,
    );
    if (key[0] === "n") attr(g, "data-node", key.slice(1));
    item = {
      g,
      node: g,
      rect: svg("rect", {}, g),
      label: svg("text", { class: "sq-n-text" }, g),
      sub: null,
      edge: key === "bonus" ? null : svg("path", { class: "sq-edge" }, this.base),
      where: "",
      seen: 0,
      word: null,
      state: null,
    };
    this.made.set(key, item);
    return item;
  }

  /** Put an item where the frame says and mark it as seen in this pass. */
  place(item, frame, at, from, pass) {
    item.seen = pass;
    const where = frame.x(at.col) + "," + frame.y(at.row);
    const key =
      where + "|" + frame.pill + "|" + frame.size + "|" + (from ? from.col + "," + from.row : "");
    if (item.where === key) return;
    item.where = key;
    item.word = null;
    attr(item.g, "transform", "translate(" + where + ")");
    attr(item.rect, "height", frame.pill);
    attr(item.rect, "y", -frame.pill / 2);
    attr(item.rect, "rx", Math.min(5, frame.pill / 3).toFixed(1));
    attr(item.label, "y", (frame.size * 0.345).toFixed(2));
    attr(item.label, "font-size", frame.size.toFixed(2));
    if (item.edge && from) attr(item.edge, "d", treeFrame.edge(frame, from, at));
  }

  /** Text and state. `suffix` (a fold's count) is never cut away. */
  write(item, frame, family, word, suffix, state, most) {
    if (item.state !== state) {
      item.state = state;
      item.g.dataset.s = state;
      item.word = null;
    }
    const full = word + "\n" + suffix + "\n" + most;
    if (item.word === full) return;
    item.word = full;
    const tail = suffix ? treeFrame.widthOf(" " + suffix, family) * frame.size : 0;
    const [cut, width, squeezed] = treeFrame.fit(word, most - tail, frame.size, family);
    text(item.label, suffix ? cut + " " + suffix : cut);
    attr(item.label, "textLength", squeezed ? (width + tail).toFixed(1) : null);
    attr(item.label, "lengthAdjust", squeezed ? "spacingAndGlyphs" : null);
    const wide = Math.max(width + tail + 7, frame.pill * 0.9);
    attr(item.rect, "width", wide.toFixed(1));
    attr(item.label, "x", ((wide - width - tail) / 2).toFixed(1));
    item.wide = wide;
  }

  /** The small line below a pill where there is room. */
  note(item, frame, words) {
    if (!words && !item.sub) return;
    item.sub ||= svg("text", { class: "sq-n-sub", "font-size": treeFrame.NOTE_SIZE }, item.g);
    attr(item.sub, "x", 1);
    attr(item.sub, "y", frame.pill / 2 + 11);
    text(item.sub, words);
  }

  /** Hide whatever this pass has not placed. */
  sweep(pass) {
    for (const item of this.made.values()) {
      const display = item.seen === pass ? "" : "none";
      if (item.g.style.display === display) continue;
      item.g.style.display = display;
      if (item.edge) item.edge.style.display = display;
    }
  }

  /** Edges that mean something this step, over the grey ones: [{d, s}]. */
  draw(edges) {
    const halos = this.halos.take(edges.length);
    const paths = this.paths.take(edges.length);
    edges.forEach(({ d, s }, i) => {
      attr(halos[i], "d", d);
      attr(paths[i], "d", d);
      if (paths[i].dataset.s !== s) paths[i].dataset.s = s;
    });
  }
}

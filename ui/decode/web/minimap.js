/* The whole tree as a small picture beside a part of it: one path a state, and a frame around what is in view. */
import { attr, el, svg } from "../../shared/web/dom.js";

const ORDER = ["never", "untested", "rejected", "accepted"];

export class Minimap {
  constructor(host, onPick) {
    this.root = el("div", { class: "sq-mini", "data-part": "minimap", hidden: "" }, host);
    el("div", { class: "sq-mini-title", text: "whole tree" }, this.root);
    this.box = svg(
      "svg",
      {
        class: "sq-mini-map",
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": "Overview of the whole tree",
      },
      this.root,
    );
    this.paths = Object.fromEntries(
      ORDER.map((s) => [s, svg("path", { class: "sq-mini-path", "data-s": s }, this.box)]),
    );
    this.window = svg("rect", { class: "sq-mini-window" }, this.box);
    this.hits = svg("path", { class: "sq-mini-hits" }, this.box);
    this.dot = svg("path", { class: "sq-mini-dot" }, this.box);
    this.box.addEventListener("click", (event) => this.topo && onPick(this.nearest(event)));
  }

  /** `hits`: nodes that were searched for. */
  paint(topo, view, selected, hits) {
    if (this.topo !== topo) {
      this.topo = topo;
      attr(this.box, "viewBox", `-0.3 -0.5 ${topo.levels + 0.2} ${topo.rows}`);
    }
    const parts = { never: [], untested: [], rejected: [], accepted: [] };
    for (let node = 0; node < topo.n; node++) {
      const state = view.state[node] === "root" ? "accepted" : view.state[node];
      parts[state].push(`M${topo.depth[node]} ${topo.row[node]}h.7`);
    }
    for (const s of ORDER) attr(this.paths[s], "d", parts[s].join(""));
    attr(this.hits, "d", hits.map((node) => `M${topo.depth[node]} ${topo.row[node]}h.7`).join(""));
    const node = typeof selected === "number" ? selected : -1;
    attr(this.dot, "d", node < 0 ? "" : `M${topo.depth[node]} ${topo.row[node]}h.7`);
  }

  /** Part of the tree in view, as shares of its width and height; null hides the frame. */
  frame(part) {
    this.window.style.display = part ? "" : "none";
    if (!part || !this.topo) return;
    const { levels, rows } = this.topo;
    attr(this.window, "x", (-0.3 + part.x * (levels + 0.2)).toFixed(3));
    attr(this.window, "y", (-0.5 + part.y * rows).toFixed(3));
    attr(this.window, "width", (part.w * (levels + 0.2)).toFixed(3));
    attr(this.window, "height", (part.h * rows).toFixed(3));
  }

  nearest(event) {
    const { topo } = this;
    const box = this.box.getBoundingClientRect();
    const col = ((event.clientX - box.left) / box.width) * (topo.levels + 0.2) - 0.65;
    const row = ((event.clientY - box.top) / box.height) * topo.rows - 0.5;
    let best = 0;
    let least = Infinity;
    for (let node = 0; node < topo.n; node++) {
      const distance = Math.hypot(
        (topo.depth[node] - col) / topo.levels,
        (topo.row[node] - row) / topo.rows,
      );
      if (distance < least) [best, least] = [node, distance];
    }
    return best;
  }
}

/* A small picture of the fastest tree. */
import { attr, el, sized, svg, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { topology } from "../../shared/web/tree_layout.js";

const LEAST = 40; // px
const MARGIN = { x: 16, y: 12 }; // px
const MOST = { x: 48, y: 18 }; // px between two nodes
const ROOT = 3.5; // px, the least radius

const TITLE = "The fastest tree";

/** A picture of the fastest tree in a panel of its own. */
export class FastestTree {
  /** @type {number[] | undefined} */
  parents;

  /** @param {HTMLElement} host */
  constructor(host) {
    const panel = makePanel(host, { part: "tree", title: TITLE, cls: "hw-tree" });
    this.word = el("span", { class: "sq-word" }, panel.titleBox);
    const look = { class: "hw-tree-svg", role: "img", "aria-label": TITLE };
    this.picture = svg("svg", look, panel.body);
    this.size = sized(panel.body, () => this.draw());
  }

  /** @param {number[]} parents */
  show(parents) {
    this.parents = parents;
    this.draw();
  }

  draw() {
    const { w, h } = this.size;
    if (!this.parents || w < LEAST || h < LEAST) return;
    const topo = topology(this.parents);
    const size = `${count(topo.n, "node")}, ${count(topo.levels, "level")}`;
    text(this.word, "predicted · " + size);
    attr(this.picture, "aria-label", `${TITLE}: ${size}`);
    attr(this.picture, "viewBox", `0 0 ${w} ${h}`);
    this.picture.replaceChildren();
    const { x, y, radius } = frame(topo, w, h);
    const lines = this.parents.slice(1).map((parent, i) => edge(x, y, parent, i + 1));
    svg("path", { d: lines.join(""), class: "sq-edge", "data-s": "untested" }, this.picture);
    for (let node = 0; node < topo.n; node++) {
      const look = node ? { r: radius } : { r: Math.max(radius, ROOT), class: "hw-dot hw-root" };
      svg("circle", { class: "hw-dot", cx: x(node), cy: y(node), ...look }, this.picture);
    }
  }
}

// Where the nodes stand, in the middle of w by h pixels.
function frame(topo, w, h) {
  const dx = Math.min(MOST.x, (w - 2 * MARGIN.x) / Math.max(topo.levels - 1, 1));
  const dy = Math.min(MOST.y, (h - 2 * MARGIN.y) / Math.max(topo.rows - 1, 1));
  const left = (w - dx * (topo.levels - 1)) / 2;
  const top = (h - dy * (topo.rows - 1)) / 2;
  return {
    x: (node) => left + dx * topo.depth[node],
    y: (node) => top + dy * topo.row[node],
    radius: Math.max(1.2, Math.min(4, dy * 0.36, dx * 0.25)),
  };
}

function edge(x, y, parent, node) {
  const bend = (x(parent) + x(node)) / 2;
  const [x0, y0, middle, y1, x1] = [x(parent), y(parent), bend, y(node), x(node)].map((one) =>
    one.toFixed(1),
  );
  return `M${x0} ${y0}H${middle}V${y1}H${x1}`;
}

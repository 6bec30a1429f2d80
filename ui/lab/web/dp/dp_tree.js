/* The subtree of a cell in the live view's comb: always whole, its parts told apart by ink and dash. */
import * as dom from "../../../shared/web/dom.js";
import { attr, el, show, svg, text } from "../../../shared/web/dom.js";

const MOST_PITCH = 26;
const MOST_COLUMN = 84;
const PAD = 12;
const TEXT_PITCH = 15;
const TEXT_COLUMN = 40;
const PARTS = ["other", "rest", "below"];

/** Which part of the picture each node belongs to at a step: its last child's subtree, what the cell keeps, or another cell's. */
export function dpPartition(topo, step) {
  const part = new Array(topo.n).fill("other");
  if (!step) return part.fill("rest");
  const open = [[step.parent, "rest"]];
  while (open.length) {
    const [node, name] = open.pop();
    part[node] = name;
    for (const child of topo.children[node]) {
      if (node === step.parent && child > step.node) continue; // given away in an earlier step
      open.push([child, child === step.node ? "below" : name]);
    }
  }
  return part;
}

export class DpTree {
  constructor(host, onRedraw) {
    this.box = el("div", { class: "dp-tree", "data-part": "dp-tree" }, host);
    this.svg = svg("svg", { class: "dp-tree-svg", role: "img" }, this.box);
    this.edges = Object.fromEntries(
      PARTS.map((part) => [part, svg("path", { class: "dp-edge", "data-p": part }, this.svg)]),
    );
    this.dots = Object.fromEntries(
      PARTS.map((part) => [part, svg("path", { class: "dp-dot", "data-p": part }, this.svg)]),
    );
    this.ring = svg("circle", { class: "dp-ring" }, this.svg);
    this.labels = dom.pool(() => svg("text", { class: "dp-score" }, this.svg));
    this.empty = el("p", { class: "dp-note dp-tree-empty" }, this.box);
    this.size = dom.sized(this.box, onRedraw);
  }

  /** `scores`: f(v) of each node, written where there is room. topo null: nothing to draw, `why` says the reason. */
  paint(topo, scores, step, why) {
    show(this.empty, !topo);
    this.svg.style.display = topo ? "" : "none";
    if (!topo) return text(this.empty, why);
    const { w, h } = this.size;
    if (!w || !h) return;
    const pitch = Math.min(MOST_PITCH, (h - 2 * PAD) / topo.rows);
    const column = Math.min(MOST_COLUMN, (w - 2 * PAD - 26) / Math.max(topo.levels - 1, 1));
    const at = (node) => [PAD + topo.depth[node] * column, PAD + (topo.row[node] + 0.5) * pitch];
    attr(this.svg, "viewBox", `0 0 ${w} ${h}`);
    attr(this.svg, "aria-label", `The cell's tree: ${topo.n} nodes on ${topo.levels} levels`);
    this.draw(topo, dpPartition(topo, step), at, pitch, column);
    this.mark(step, at, pitch);
    this.write(topo, scores, at, pitch, column, step);
  }

  draw(topo, part, at, pitch, column) {
    const edges = { other: [], rest: [], below: [] };
    const dots = { other: [], rest: [], below: [] };
    const corner = Math.min(4, pitch / 2, column / 3);
    const trunk = Math.min(9, column / 2);
    for (let node = 0; node < topo.n; node++) {
      const [x, y] = at(node);
      dots[part[node]].push(`M${x.toFixed(1)} ${y.toFixed(1)}h0`);
      if (!node) continue;
      const [x0, y0] = at(topo.parents[node]);
      const turn = x - trunk;
      // As in the live view: along the parent's row, down the gutter before the child's column, round the corner.
      const way =
        y0 === y
          ? `M${x0} ${y0}H${x}`
          : `M${x0} ${y0}H${turn - corner}q${corner} 0 ${corner} ${corner}V${y - corner}q0 ${corner} ${corner} ${corner}H${x}`;
      edges[part[node]].push(way);
    }
    const dot = Math.max(2.2, Math.min(7.5, pitch * 0.7, column * 0.5));
    for (const name of PARTS) {
      attr(this.edges[name], "d", edges[name].join(""));
      attr(this.dots[name], "d", dots[name].join(""));
      attr(this.dots[name], "stroke-width", name === "below" ? Math.min(9, dot * 1.2) : dot);
    }
  }

  mark(step, at, pitch) {
    this.ring.style.display = step ? "" : "none";
    if (!step) return;
    const [x, y] = at(step.node);
    attr(this.ring, "cx", x);
    attr(this.ring, "cy", y);
    attr(this.ring, "r", Math.max(4, Math.min(8, pitch * 0.5)));
  }

  write(topo, scores, at, pitch, column, step) {
    const roomy = pitch >= TEXT_PITCH && column >= TEXT_COLUMN;
    const count = roomy ? topo.n : 0;
    this.labels
      .take(count)
      .slice(0, count)
      .forEach((label, node) => {
        const [x, y] = at(node);
        const leaf = !topo.children[node].length;
        attr(label, "x", (x + (node === step?.node ? 12 : leaf ? 8 : 6)).toFixed(1));
        attr(label, "y", (leaf ? y + 3.2 : y - 3.5).toFixed(1));
        text(
          label,
          scores[node] >= 0.0095
            ? scores[node].toFixed(2).replace(/^0/, "")
            : scores[node]
              ? "<.01"
              : "0",
        );
      });
  }
}

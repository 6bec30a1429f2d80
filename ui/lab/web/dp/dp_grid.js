/* The picture of the DP table T[n, levels, b] for one number of levels: n (nodes) to the
   right, b (children of the root) downwards, one colour per cell. The marks of the selected cell
   are on a second canvas, so that the cells need not be redrawn. If the columns need more room than
   there is, the picture scrolls. */
import * as dpShade from "./dp_shade.js";
import { el, sized } from "../../../shared/web/dom.js";

/** @typedef {import("./dp_table.js").DpTable} DpTable */
/** @typedef {{n: number, b: number}} GridCell */

const FACE = "12px ";
const LEFT = 30; // px around the cells
const EDGE = 26; // px, of the numbers of the rows, as in dp.css
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 20;
const COLOURS = 96;
const MOST_ROWS = 33;
const LEAST_COLUMN = 5; // px
const NAME =
  "Table T[n, levels, b]. Arrow keys move, page up and down change the levels, Enter pins " +
  "the cell, B goes to the best b.";
const KEYS = "arrows: move · PgUp/PgDn: levels · Enter: pin · B: best b";
/** What the axes show. */
export const AXES = "↓ children of the root, b · nodes of the tree, n →";

/** The picture and the pointer on it. */
export class DpGrid {
  /** @type {DpTable | null} */
  table = null;
  rows = 0;
  wide = 0; // px, of the picture
  tall = 0;
  ratio = 1; // device pixels per CSS pixel
  /** @type {Record<string, string> | null} */
  inks = null;

  /**
   * @param {HTMLElement} host
   * @param {{point: (cell: GridCell) => void, press: (cell: GridCell) => void,
   *   redraw: () => void}} on `point`: the mouse or pen moved over a cell; `press`: a cell was
   *   clicked; `redraw`: everything must be redrawn
   */
  constructor(host, on) {
    this.on = on;
    this.box = el(
      "div",
      {
        class: "dp-grid",
        tabindex: "0",
        role: "application",
        "data-part": "dp-grid",
        "aria-roledescription": "table of cells",
        "aria-label": NAME,
      },
      host,
    );
    this.sheet = el("div", { class: "dp-sheet" }, this.box);
    const look = { class: "dp-canvas", "aria-hidden": "true" };
    this.base = el("canvas", look, this.sheet);
    this.over = el("canvas", look, this.sheet);
    this.edge = el("canvas", { class: "dp-edge", "aria-hidden": "true" }, this.sheet);
    this.words = el("p", { class: "dp-axes sq-dim" }, host);
    el("span", { text: AXES }, this.words);
    el("span", { class: "dp-keys", text: KEYS }, this.words);
    this.size = sized(this.box, () => {
      if (this.table) this.fit(this.table);
      on.redraw();
    });
    this.listen();
  }

  // -- layout ------------------------------------------------------------

  /** @param {DpTable} table to show */
  fit(table) {
    this.table = table;
    this.rows = Math.min(table.branches + 1, MOST_ROWS);
    const room = Math.max(352, Math.min(window.innerHeight * 0.46, 560));
    const pitch = Math.max(10, Math.min(52, Math.floor(room / this.rows)));
    this.tall = Math.max(this.rows * pitch, 160) + TOP + BOTTOM;
    this.wide = this.size.w && Math.max(this.size.w, LEFT + table.nodes * LEAST_COLUMN + RIGHT);
    this.sheet.style.height = this.tall + "px";
    this.sheet.style.width = this.wide + "px";
  }

  // Scrolls until a column is in view.
  reveal({ n }) {
    const { box, size } = this;
    const [left, right] = [this.x(n) - LEFT, this.x(n + 1)];
    box.scrollLeft = Math.max(right - size.w, Math.min(box.scrollLeft, left));
  }

  x(n) {
    return LEFT + ((n - 1) * (this.wide - LEFT - RIGHT)) / this.table.nodes;
  }

  y(b) {
    return TOP + (b * (this.tall - TOP - BOTTOM)) / this.rows;
  }

  cellAt(event) {
    const corner = this.base.getBoundingClientRect();
    const x = event.clientX - corner.left;
    const y = event.clientY - corner.top;
    if (x < LEFT - 8 || y > this.tall - BOTTOM + 6) return null;
    const { nodes } = this.table;
    const n = 1 + Math.floor(((x - LEFT) * nodes) / (this.wide - LEFT - RIGHT));
    const b = Math.floor(((y - TOP) * this.rows) / (this.tall - TOP - BOTTOM));
    const within = (value, low, high) => Math.max(low, Math.min(high, value));
    return { n: within(n, 1, nodes), b: within(b, 0, this.rows - 1) };
  }

  // -- cells ------------------------------------------------------------

  // Paint the cells of T[n, levels, b], the axes and the line of the best b. `shade`: the kind (see
  // dp_shade.js), the range of the numbers, and the colours to interpolate between.
  paintCells(levels, shade) {
    const ctx = this.start(this.base);
    if (!ctx) return;
    const style = getComputedStyle(this.box);
    const ink = (name) => style.getPropertyValue(name).trim();
    this.inks = {
      text: ink("--sq-text"),
      surface: ink("--sq-surface"),
      dim: ink("--sq-dim"),
      line: ink("--sq-line"),
      part: ink("--dp-part"),
      none: ink("--dp-none"),
      font: style.fontFamily,
    };
    const colours = dpShade.palette(shade.stops, COLOURS);
    ctx.fillStyle = this.hatch(ctx);
    ctx.fillRect(LEFT, TOP, this.wide - LEFT - RIGHT, this.tall - TOP - BOTTOM);
    this.fill(ctx, levels, shade, colours);
    this.axes(ctx);
    this.ridge(ctx, levels);
    this.paintEdge();
  }

  // Paints the numbers of the rows once more, where they stay while the picture scrolls.
  paintEdge() {
    const { base, edge, ratio, inks } = this;
    edge.width = EDGE * ratio;
    edge.height = base.height;
    const ctx = edge.getContext("2d");
    ctx.fillStyle = inks.surface;
    ctx.fillRect(0, 0, edge.width, edge.height);
    ctx.drawImage(base, 0, 0);
  }

  // The cleared drawing context of a canvas, at the screen's resolution; null if there is nothing
  // to draw yet.
  start(canvas) {
    const ratio = window.devicePixelRatio || 1;
    if (!this.wide || !this.table) return null;
    canvas.width = Math.round(this.wide * ratio); // clears it
    canvas.height = Math.round(this.tall * ratio);
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.ratio = ratio;
    return ctx;
  }

  fill(ctx, levels, { kind, range }, colours) {
    const { table, ratio } = this;
    const { of } = dpShade.KINDS[kind];
    const snap = (value) => Math.round(value * ratio) / ratio;
    const gap = this.y(1) - this.y(0) >= 9 ? 1 : 0;
    const slit = this.x(2) - this.x(1) >= 9 ? 1 : 0;
    for (let b = 0; b < this.rows; b++) {
      const y0 = snap(this.y(b));
      const y1 = snap(this.y(b + 1)) - gap;
      for (let n = b + 1; n <= table.nodes; n++) {
        if (table.value(n, levels, b) === -Infinity) continue;
        const x0 = snap(this.x(n));
        const x1 = snap(this.x(n + 1));
        const value = of(table, n, levels, b);
        ctx.fillStyle = Number.isNaN(value)
          ? this.inks.none
          : colours[Math.round(dpShade.strength(kind, range, value) * (COLOURS - 1))];
        ctx.fillRect(x0, y0, x1 - x0 - slit, y1 - y0);
        if (gap) {
          ctx.fillStyle = this.inks.surface;
          ctx.fillRect(x0, y1, x1 - x0, gap);
        }
      }
    }
  }

  hatch(ctx) {
    const tile = document.createElement("canvas");
    const ratio = this.ratio;
    const side = Math.round(6 * ratio);
    tile.width = side;
    tile.height = side;
    const pen = tile.getContext("2d");
    pen.strokeStyle = this.inks.line;
    pen.lineWidth = ratio;
    for (const shift of [-side, 0, side]) {
      pen.moveTo(shift - 1, side + 1);
      pen.lineTo(shift + side + 1, -1);
    }
    pen.stroke();
    const pattern = ctx.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / ratio));
    return pattern;
  }

  axes(ctx) {
    const { nodes } = this.table;
    ctx.fillStyle = this.inks.dim;
    ctx.font = FACE + this.inks.font;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    const tall = this.y(1) - this.y(0);
    const every = [1, 2, 4].find((rows) => rows * tall >= 14) ?? 4;
    for (let b = 0; b < this.rows; b++)
      if (b % every === 0) ctx.fillText(String(b), LEFT - 6, (this.y(b) + this.y(b + 1)) / 2);
    ctx.textBaseline = "top";
    ctx.textAlign = "center";
    const column = this.x(2) - this.x(1);
    const step = [1, 2, 4, 8].find((columns) => columns * column >= 44) ?? 16;
    const floor = this.tall - BOTTOM;
    for (let n = 1; n <= nodes; n++) {
      if (n % step && n !== 1) continue;
      const x = (this.x(n) + this.x(n + 1)) / 2;
      ctx.fillRect(Math.round(x), floor, 1, 3);
      ctx.fillText(String(n), Math.min(x, this.wide - 12), floor + 5);
    }
  }

  // The best b of each n, as a stepped line. The line has a gap where the best b has no row or no
  // tree exists.
  ridge(ctx, levels) {
    const { table } = this;
    const line = new Path2D();
    let open = false;
    for (let n = 1; n <= table.nodes; n++) {
      const { branches } = table.best(n, levels);
      const feasible = branches < this.rows && table.value(n, levels, branches) > -Infinity;
      const y = (this.y(branches) + this.y(branches + 1)) / 2;
      if (feasible) {
        if (open) line.lineTo(this.x(n), y);
        else line.moveTo(this.x(n), y);
        line.lineTo(this.x(n + 1), y);
      }
      open = feasible;
    }
    this.stroke(ctx, line, this.inks.text, 1.75, 4.25);
  }

  stroke(ctx, path, ink, wide, halo, dash = []) {
    ctx.lineJoin = "round";
    ctx.setLineDash([]);
    ctx.strokeStyle = this.inks.surface;
    ctx.lineWidth = halo;
    ctx.stroke(path);
    ctx.setLineDash(dash);
    ctx.strokeStyle = ink;
    ctx.lineWidth = wide;
    ctx.stroke(path);
    ctx.setLineDash([]);
  }

  // -- marks of the selected cell ------------------------------------------------------------

  // Mark `cell`. If `split` is not null, also mark the two cells from which the value of `cell` is
  // computed. `home`: the cell where the traceback began, or null if it began at `cell`.
  paintMarks(cell, split, home, pinned) {
    const ctx = this.start(this.over);
    if (!ctx || !this.inks) return;
    ctx.beginPath();
    ctx.rect(0, 0, this.wide, this.tall - BOTTOM + 4);
    ctx.clip();
    this.cross(ctx, cell);
    if (home) this.stroke(ctx, this.outline(home, 1), this.inks.dim, 1.25, 3);
    if (split) {
      const rest = { n: cell.n - split.m, b: cell.b - 1 };
      const below = { n: split.m, b: split.branches };
      this.stroke(ctx, this.link(cell, rest, -1), this.inks.text, 1.5, 4);
      this.stroke(ctx, this.link(cell, below, 1), this.inks.part, 1.75, 4.5, [5, 3.5]);
      this.stroke(ctx, this.outline(rest, 1.5), this.inks.text, 1.5, 4.5);
      this.stroke(ctx, this.outline(below, 2), this.inks.part, 2, 5, [4, 2.5]);
    }
    this.stroke(ctx, this.outline(cell, 2.5), this.inks.text, pinned ? 3 : 2, pinned ? 7 : 5.5);
  }

  // Thin guides from the cell to the two axes.
  cross(ctx, { n, b }) {
    const x = (this.x(n) + this.x(n + 1)) / 2;
    const y = (this.y(b) + this.y(b + 1)) / 2;
    const path = new Path2D();
    path.moveTo(LEFT - 4, y);
    path.lineTo(x, y);
    path.lineTo(x, this.tall - BOTTOM + 4);
    ctx.globalAlpha = 0.45;
    this.stroke(ctx, path, this.inks.text, 1, 0.01, [2, 3]);
    ctx.globalAlpha = 1;
  }

  // A cell's frame, at least 4 px wide.
  outline({ n, b }, out) {
    const wide = this.x(n + 1) - this.x(n);
    const tall = this.y(b + 1) - this.y(b);
    const spare = Math.max(0, 4 - wide) / 2 + out / 2;
    const path = new Path2D();
    path.roundRect(this.x(n) - spare, this.y(b) - out / 2, wide + 2 * spare, tall - 1 + out, 2);
    return path;
  }

  link(from, to, side) {
    const middle = (cell) => ({
      x: (this.x(cell.n) + this.x(cell.n + 1)) / 2,
      y: (this.y(cell.b) + this.y(cell.b + 1)) / 2,
    });
    const a = middle(from);
    const z = middle(to);
    const bend = Math.min(46, Math.hypot(z.x - a.x, z.y - a.y) / 4) * side;
    const path = new Path2D();
    path.moveTo(a.x, a.y);
    path.quadraticCurveTo((a.x + z.x) / 2, (a.y + z.y) / 2 + bend, z.x, z.y);
    return path;
  }

  // -- pointer ------------------------------------------------------------

  listen() {
    const { box, on } = this;
    box.addEventListener("pointermove", (event) => {
      const cell = this.table && event.pointerType !== "touch" && this.cellAt(event);
      if (cell) on.point(cell);
    });
    box.addEventListener("click", (event) => {
      const cell = this.table && this.cellAt(event);
      if (cell) on.press(cell);
    });
  }
}

/* The picture of the DP table T[n, levels, b] for one number of levels: n (nodes) to the
   right, b (children of the root) downwards, one colour per cell. The marks of the selected cell
   are on a second canvas, so that the cells need not be redrawn. */
import * as dpShade from "./dp_shade.js";
import { el, sized } from "../../../shared/web/dom.js";

/** @typedef {import("./dp_table.js").DpTable} DpTable */
/** @typedef {{n: number, b: number}} GridCell */

const FACE = "12px ";
const LEFT = 30; // px around the cells
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 34;
const COLOURS = 96;
const MOST_ROWS = 33;
const LEAST_COLUMNS = 16;
const NAME =
  "Table T[n, levels, b]. Arrow keys move, page up and down change the levels, Enter pins " +
  "the cell, B goes to the best b.";
const KEYS = "arrows: move · PgUp/PgDn: levels · Enter: pin · B: best b";

/** The picture and the pointer on it. */
export class DpGrid {
  /** @type {DpTable | null} */
  table = null;
  window = { from: 1, count: 128 }; // the columns in view
  firstRow = 0;
  rows = 0;
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
    this.base = el("canvas", { class: "dp-canvas", "aria-hidden": "true" }, this.box);
    this.over = el("canvas", { class: "dp-canvas", "aria-hidden": "true" }, this.box);
    this.size = sized(this.box, () => on.redraw());
    this.listen();
  }

  // -- layout ------------------------------------------------------------

  // Show a table. The columns in view stay the same, as far as the table has them.
  fit(table) {
    this.table = table;
    this.rows = Math.min(table.branches + 1, MOST_ROWS);
    const tall = Math.max(352, Math.min(window.innerHeight * 0.46, 560));
    const pitch = Math.max(10, Math.min(52, Math.floor(tall / this.rows)));
    this.box.style.height = Math.max(this.rows * pitch, 160) + TOP + BOTTOM + "px";
    this.firstRow = Math.min(this.firstRow, table.branches + 1 - this.rows);
    this.show(this.window.from, this.window.count);
  }

  show(from, count) {
    const nodes = this.table.nodes;
    const wide = Math.max(Math.min(LEAST_COLUMNS, nodes), Math.min(nodes, Math.round(count)));
    this.window = {
      from: Math.max(1, Math.min(nodes - wide + 1, Math.round(from))),
      count: wide,
    };
  }

  // Zoom by `factor`, keeping column `n` where it is.
  zoom(factor, n) {
    const { from, count } = this.window;
    const share = (n - from + 0.5) / count;
    const next = count / factor;
    this.show(n + 0.5 - share * Math.max(LEAST_COLUMNS, next), next);
    this.on.redraw();
  }

  // If a cell is out of view, scroll until it is in view with a margin. If b exceeds the number
  // of acceptance rates, the table has no row for the cell, so the cell stays out of view.
  reveal({ n, b }) {
    const { from, count } = this.window;
    if (n < from) this.show(n - Math.round(count / 8), count);
    if (n >= from + count) this.show(n - count + 1 + Math.round(count / 8), count);
    const last = this.table.branches + 1 - this.rows;
    if (b < this.firstRow) this.firstRow = Math.max(0, b - 2);
    if (b >= this.firstRow + this.rows) this.firstRow = Math.min(last, b - this.rows + 3);
  }

  x(n) {
    return LEFT + ((n - this.window.from) * (this.size.w - LEFT - RIGHT)) / this.window.count;
  }

  y(b) {
    return TOP + ((b - this.firstRow) * (this.size.h - TOP - BOTTOM)) / this.rows;
  }

  cellAt(event) {
    const box = this.box.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    if (x < LEFT - 8 || y > this.size.h - BOTTOM + 6) return null;
    const n =
      this.window.from +
      Math.floor(((x - LEFT) * this.window.count) / (this.size.w - LEFT - RIGHT));
    const b = this.firstRow + Math.floor(((y - TOP) * this.rows) / (this.size.h - TOP - BOTTOM));
    const within = (value, low, high) => Math.max(low, Math.min(high, value));
    return {
      n: within(n, this.window.from, this.window.from + this.window.count - 1),
      b: within(b, this.firstRow, this.firstRow + this.rows - 1),
    };
  }

  // -- cells ------------------------------------------------------------

  // Paint the cells of T[n, levels, b], the axes and the line of the best b. `shade`: the kind (see
  // dp_shade.js), the range of the numbers, and the colours to interpolate between.
  paintCells(levels, shade) {
    const ctx = this.start(this.base);
    const { w, h } = this.size;
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
    ctx.fillRect(LEFT, TOP, w - LEFT - RIGHT, h - TOP - BOTTOM);
    this.fill(ctx, levels, shade, colours);
    this.axes(ctx);
    this.ridge(ctx, levels);
  }

  // The cleared drawing context of a canvas, at the screen's resolution; null if there is nothing
  // to draw yet.
  start(canvas) {
    const { w, h } = this.size;
    const ratio = window.devicePixelRatio || 1;
    if (!w || !h || !this.table) return null;
    const wide = Math.round(w * ratio);
    const tall = Math.round(h * ratio);
    if (canvas.width !== wide || canvas.height !== tall) {
      canvas.width = wide;
      canvas.height = tall;
    }
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, w, h);
    this.ratio = ratio;
    return ctx;
  }

  fill(ctx, levels, { kind, range }, colours) {
    const { table, ratio } = this;
    const { from, count } = this.window;
    const { of } = dpShade.KINDS[kind];
    const snap = (value) => Math.round(value * ratio) / ratio;
    const gap = this.y(1) - this.y(0) >= 9 ? 1 : 0;
    const slit = this.x(from + 1) - this.x(from) >= 9 ? 1 : 0;
    for (let b = this.firstRow; b < this.firstRow + this.rows; b++) {
      const y0 = snap(this.y(b));
      const y1 = snap(this.y(b + 1)) - gap;
      for (let n = Math.max(from, b + 1); n < from + count; n++) {
        if (table.value(n, levels, b) === -Infinity) continue;
        const x0 = snap(this.x(n));
        const x1 = snap(this.x(n + 1));
        if (x1 === x0) continue; // narrower than a pixel
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
    const { w, h } = this.size;
    const { from, count } = this.window;
    ctx.fillStyle = this.inks.dim;
    ctx.font = FACE + this.inks.font;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    const tall = this.y(1) - this.y(0);
    const every = [1, 2, 4].find((rows) => rows * tall >= 14) ?? 4;
    for (let b = this.firstRow; b < this.firstRow + this.rows; b++)
      if (b % every === 0) ctx.fillText(String(b), LEFT - 6, (this.y(b) + this.y(b + 1)) / 2);
    ctx.textBaseline = "top";
    ctx.textAlign = "center";
    const step =
      [1, 2, 4, 8, 16, 32, 64, 128, 256].find((s) => ((w - LEFT) * s) / count >= 44) || 256;
    const floor = h - BOTTOM;
    for (let n = from; n < from + count; n++) {
      if (n % step && n !== 1) continue;
      const x = (this.x(n) + this.x(n + 1)) / 2;
      if (n === 1 && this.x(step) - this.x(1) < 20) continue;
      ctx.fillRect(Math.round(x), floor, 1, 3);
      ctx.fillText(String(n), Math.min(x, w - 12), floor + 5);
    }
    ctx.textAlign = "right";
    ctx.fillText("nodes of the tree, n →", w - RIGHT, floor + 19);
    ctx.textAlign = "left";
    ctx.fillText("↓ children of the root, b", 8, floor + 19);
    if (w < 660) return;
    ctx.textAlign = "center";
    ctx.fillText(KEYS, (w + 20) / 2, floor + 19);
  }

  // The best b of each n in view, as a stepped line. The line has a gap where the best b is out of
  // view or no tree exists.
  ridge(ctx, levels) {
    const { table } = this;
    const { from, count } = this.window;
    const line = new Path2D();
    let open = false;
    for (let n = from; n < from + count; n++) {
      const { branches } = table.best(n, levels);
      const seen = branches >= this.firstRow && branches < this.firstRow + this.rows;
      const feasible = seen && table.value(n, levels, branches) > -Infinity;
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
    ctx.rect(0, 0, this.size.w, this.size.h - BOTTOM + 4);
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
    path.lineTo(x, this.size.h - BOTTOM + 4);
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
    let drag = null;
    box.addEventListener("pointerdown", (event) => {
      if (!event.button && this.table)
        drag = { x: event.clientX, from: this.window.from, moved: false };
    });
    box.addEventListener("pointermove", (event) => {
      if (!this.table) return;
      if (drag && this.window.count < this.table.nodes) return this.pan(event, drag);
      const cell = this.cellAt(event);
      if (cell && event.pointerType !== "touch") on.point(cell);
    });
    box.addEventListener("pointerup", (event) => {
      const cell = drag && !drag.moved && this.cellAt(event);
      drag = null;
      if (cell) on.press(cell);
    });
    const stop = () => {
      drag = null;
    };
    for (const name of ["pointercancel", "pointerleave"]) box.addEventListener(name, stop);
    box.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  pan(event, drag) {
    const shift = event.clientX - drag.x;
    if (!drag.moved && Math.abs(shift) < 5) return;
    drag.moved = true;
    this.show(
      drag.from - (shift * this.window.count) / (this.size.w - LEFT - RIGHT),
      this.window.count,
    );
    this.on.redraw();
  }

  wheel(event) {
    const cell = this.table && (event.ctrlKey || event.metaKey) && this.cellAt(event);
    if (!cell) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * 0.002), cell.n);
  }
}

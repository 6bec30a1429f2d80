/* A bar chart of the steps around the current one. The times of their phases are stacked above the
   axis, and their tokens are below it. */
import { makePanel } from "../../shared/web/panel.js";
import { attr, el, pool, sized, svg, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { draftedOf, secondsOf } from "../../shared/web/step_view.js";
import * as treeLayout from "../../shared/web/tree_layout.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { Scrubber } from "./scrubber.js"
 * @import { Step } from "../../shared/web/step_view.js"
 */

const WINDOW = 80; // steps shown at most
const LEFT = 50; // px; width of the time axis
const RIGHT = 10; // px
const TOP = 8; // px
const BELOW = 42; // px; height of tokens and step numbers
const LEAST_APART = 28; // px; smallest distance between two step numbers
/** @type {["draft" | "verify" | "overhead", string][]} */
const PHASES = [
  ["draft", "small model"],
  ["verify", "large model"],
  ["overhead", "everything else"],
];

/** The panel "Time per step". */
export class StepBars {
  version = 0;
  shape = ""; // key of what the drawn bars depend on
  /** @type {number | null} the step under the pointer */
  hovered = null;
  each = 0; // px; width of a step
  floor = 0; // px from the top to the axis
  from = 0; // the first step drawn
  tall = 0; // px; height of the chart

  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {Scrubber} scrubber marks the steps drawn here
   */
  constructor(store, host, scrubber) {
    this.store = store;
    this.scrubber = scrubber;
    const panel = makePanel(host, { part: "bars", title: "Time per step", cls: "sq-bars" });
    this.root = panel.root;
    this.word = el("span", { class: "sq-word sq-dim" }, panel.titleBox);
    this.makeReadout(panel.tools);
    this.box = el("div", { class: "sq-bars-box" }, panel.body);
    const look = {
      class: "sq-fill",
      role: "img",
      "aria-label": "Time and tokens of each step",
    };
    this.chart = svg("svg", look, this.box);
    this.grid = svg("path", { class: "sq-grid" }, this.chart);
    this.now = svg("rect", { class: "sq-bar-now" }, this.chart);
    this.over = svg("rect", { class: "sq-bar-over" }, this.chart);
    const bar = (phase) => svg("path", { class: "sq-bar", "data-phase": phase }, this.chart);
    this.paths = {
      draft: bar("draft"),
      verify: bar("verify"),
      overhead: bar("overhead"),
      drafted: svg("path", { class: "sq-tick-draft" }, this.chart),
      own: svg("path", { class: "sq-tick-own" }, this.chart),
    };
    this.labels = pool(() => svg("text", { class: "sq-axis" }, this.chart));
    this.listen();
    this.size = sized(this.box, () => store.changed());
  }

  makeReadout(host) {
    this.values = el("span", { class: "sq-bar-values sq-dim", "data-part": "bar-values" }, host);
    this.step = el("span", { class: "sq-bar-step" }, this.values);
    this.entries = PHASES.map(([phase, label]) => {
      const entry = el("span", { class: "sq-bar-key", title: label }, this.values);
      el("i", { class: "sq-swatch", "data-phase": phase }, entry);
      el("span", { text: phase }, entry);
      return el("b", {}, entry);
    });
    this.tokens = el("span", { class: "sq-bar-key" }, this.values);
  }

  // The steps to draw: at most WINDOW, including the current one. If the newest step is followed,
  // the range moves with it. Otherwise the range moves several steps at a time, so that the bars
  // do not shift at every step.
  range() {
    const { at, steps, follow } = this.store;
    const count = steps.length;
    if (count <= WINDOW) return { from: 0, to: count };
    let { from } = this.scrubber.range || { from: 0 };
    if (at < from) from = at - 8;
    if (at >= from + WINDOW) from = at - WINDOW + (follow ? 1 : 9);
    from = Math.max(0, Math.min(count - WINDOW, from));
    return { from, to: from + WINDOW };
  }

  paint() {
    const { store } = this;
    const steps = [store.version, store.chosen].join();
    if (this.steps !== steps) this.scrubber.range = null;
    this.steps = steps;
    text(this.word, store.last < 0 ? "" : store.word);
    const range = this.range();
    this.scrubber.range = range;
    this.readout();
    const { w: wide, h: tall } = this.size;
    if (!wide || !tall) return;
    const shape = [steps, range.from, range.to, wide, tall, store.done].join();
    if (this.shape !== shape) this.draw(range, wide, tall);
    this.shape = shape;
    this.place(this.now, store.at);
    this.place(this.over, this.hovered);
  }

  draw(range, wide, tall) {
    const here = this.store.steps.slice(range.from, range.to);
    const slots = Math.max(here.length, this.store.done ? 6 : 24);
    this.each = (wide - LEFT - RIGHT) / slots;
    this.floor = tall - BELOW;
    this.from = range.from;
    this.tall = tall;
    const most = Math.max(...here.map(secondsOf), 1e-6) * 1000;
    const ticks = treeLayout.ticks(most, tall > 190 ? 4 : 3);
    const scale = (this.floor - TOP) / (ticks.distance * ticks.count);
    attr(this.chart, "viewBox", `0 0 ${wide} ${tall}`);
    attr(this.chart, "width", wide);
    attr(this.chart, "height", tall);
    this.drawBars(here, scale);
    this.axes(ticks, scale, wide, range);
  }

  /** @type {(here: Step[], scale: number) => void} */
  drawBars(here, scale) {
    const { each } = this;
    const thick = Math.max(Math.min(each - 2, 56), each * 0.7);
    const tokens = Math.max(...here.map((step) => step.emitted.length), 2);
    const parts = { draft: "", verify: "", overhead: "", drafted: "", own: "" };
    here.forEach((step, i) => {
      const x = (LEFT + i * each + (each - thick) / 2).toFixed(1);
      this.bar(parts, step, x, thick.toFixed(1), scale, (BELOW - 18) / tokens);
    });
    for (const name of Object.keys(parts)) attr(this.paths[name], "d", parts[name]);
  }

  bar(parts, step, x, w, scale, unit) {
    const box = (y, high) => `M${x} ${y.toFixed(1)}v${high.toFixed(1)}h${w}v${(-high).toFixed(1)}z`;
    let y = this.floor;
    for (const [phase] of PHASES) {
      const high = (step.seconds?.[phase] || 0) * 1000 * scale;
      if (high > 0) parts[phase] += box(y, -high);
      y -= high;
    }
    const drafted = draftedOf(step) * unit;
    const top = this.floor + 3;
    if (drafted) parts.drafted += box(top, drafted);
    if (step.emitted.length > draftedOf(step)) parts.own += box(top + drafted, unit);
  }

  axes({ distance, count }, scale, wide, range) {
    const values = Array.from({ length: count + 1 }, (_, k) => k * distance);
    const heights = values.map((value) => this.floor - value * scale);
    const line = (y) => `M${LEFT} ${y.toFixed(1)}H${wide - RIGHT}`;
    attr(this.grid, "d", heights.map(line).join(""));
    const times = values.map((value, k) => ({
      x: LEFT - 7,
      y: heights[k] + 4,
      anchor: "end",
      text: Number(value.toFixed(3)) + (k === count ? " ms" : ""),
    }));
    const tokens = { x: LEFT - 7, y: this.floor + 17, anchor: "end", text: "tokens" };
    const words = [...times.slice(1), tokens, ...this.stepNumbers(range)];
    const labels = this.labels.take(words.length);
    words.forEach(({ x, y, anchor, text: word }, i) => {
      attr(labels[i], "x", x.toFixed(1));
      attr(labels[i], "y", y.toFixed(1));
      attr(labels[i], "text-anchor", anchor);
      text(labels[i], word);
    });
  }

  stepNumbers({ from, to }) {
    const { each } = this;
    const every = [1, 2, 5, 10, 20].find((n) => n * each >= LEAST_APART) || 40;
    const isFirstShown = (every - 1) * each >= LEAST_APART;
    const steps = Array.from({ length: to - from }, (_, k) => from + k);
    const shown = steps.filter((i) => (i + 1) % every === 0 || (i === 0 && isFirstShown));
    return shown.map((i) => ({
      x: LEFT + (i - from + 0.5) * each,
      y: this.tall - 4,
      anchor: "middle",
      text: String(i + 1),
    }));
  }

  place(rect, i) {
    const isOn = i !== null && i >= this.from && i < this.from + WINDOW && i <= this.store.last;
    rect.style.display = isOn ? "" : "none";
    if (!isOn) return;
    attr(rect, "x", (LEFT + (i - this.from) * this.each).toFixed(1));
    attr(rect, "y", 2);
    attr(rect, "width", this.each.toFixed(1));
    attr(rect, "height", this.tall - 16);
  }

  readout() {
    const i = this.hovered ?? this.store.at;
    const step = this.store.steps[i];
    this.values.style.visibility = step ? "" : "hidden";
    if (!step) return;
    text(this.step, "step " + (i + 1));
    PHASES.forEach(([phase], k) => text(this.entries[k], format.ms(step.seconds?.[phase] || 0)));
    text(this.tokens, format.count(step.emitted.length, "token"));
  }

  // The step under the pointer, or null.
  stepAt(event) {
    const { left } = this.chart.getBoundingClientRect();
    const i = Math.floor((event.clientX - left - LEFT) / this.each) + this.from;
    const last = Math.min(this.store.last, this.from + WINDOW - 1);
    return this.each && i >= this.from && i <= last ? i : null;
  }

  point(i) {
    if (this.hovered === i) return;
    this.hovered = i;
    this.store.changed();
  }

  listen() {
    this.box.addEventListener("pointermove", (event) => this.point(this.stepAt(event)));
    this.box.addEventListener("pointerleave", () => this.point(null));
    this.box.addEventListener("click", (event) => {
      const i = this.stepAt(event);
      if (i !== null) this.store.seek(i);
    });
  }
}

/* Time and tokens of each step around the current one: stacked phases upwards, emitted tokens downwards, one axis of steps. */
import { makePanel } from "../../shared/web/panel.js";
import * as dom from "../../shared/web/dom.js";
import { attr, el, pool, svg, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import * as treeLayout from "../../shared/web/tree_layout.js";

const WINDOW = 80;
const LEFT = 46;
const RIGHT = 10;
const TOP = 8;
const BELOW = 40;
const PHASES = [
  ["draft", "draft model"],
  ["verify", "target model"],
  ["overhead", "everything else"],
];

export class StepBars {
  constructor(store, host, scrubber) {
    this.store = store;
    this.scrubber = scrubber;
    const panel = makePanel(host, { part: "bars", title: "Time per step", cls: "sq-bars" });
    this.root = panel.root;
    this.word = el("span", { class: "sq-word" }, panel.titleBox);
    this.values = el("span", { class: "sq-bar-values", "data-part": "bar-values" }, panel.tools);
    this.step = el("span", { class: "sq-bar-step" }, this.values);
    this.entries = {};
    for (const [phase, label] of PHASES) {
      const entry = el("span", { class: "sq-bar-key", title: label }, this.values);
      el("i", { class: "sq-swatch", "data-phase": phase }, entry);
      el("span", { text: phase }, entry);
      this.entries[phase] = el("b", {}, entry);
    }
    this.tokens = el("span", { class: "sq-bar-key" }, this.values);
    this.box = el("div", { class: "sq-bars-box" }, panel.body);
    this.chart = svg(
      "svg",
      { class: "sq-bars-svg", role: "img", "aria-label": "Time and tokens of each step" },
      this.box,
    );
    this.grid = svg("path", { class: "sq-grid" }, this.chart);
    this.now = svg("rect", { class: "sq-bar-now" }, this.chart);
    this.over = svg("rect", { class: "sq-bar-over" }, this.chart);
    this.paths = {};
    for (const name of ["draft", "verify", "overhead"])
      this.paths[name] = svg("path", { class: "sq-bar", "data-phase": name }, this.chart);
    this.paths.drafted = svg("path", { class: "sq-tick-draft" }, this.chart);
    this.paths.own = svg("path", { class: "sq-tick-own" }, this.chart);
    this.labels = pool(() => svg("text", { class: "sq-axis" }, this.chart));
    this.hovered = null;
    this.listen();
    this.size = dom.sized(this.box, () => store.changed());
  }

  /** The last 80 steps up to the current one, moving on in steps of its own so that bars do not crawl. */
  range() {
    const { at, steps } = this.store;
    const count = steps.length;
    if (count <= WINDOW) return { from: 0, to: count };
    let { from } = this.last || { from: 0 };
    if (at < from) from = at - 8;
    if (at >= from + WINDOW) from = this.store.follow ? at - WINDOW + 1 : at - WINDOW + 9;
    from = Math.max(0, Math.min(count - WINDOW, from));
    return (this.last = { from, to: from + WINDOW });
  }

  paint() {
    const { store } = this;
    if (this.version !== store.version) this.last = null;
    this.version = store.version;
    text(this.word, store.last < 0 ? "" : store.word);
    const range = (this.scrubber.range = this.range());
    const { w: wide, h: tall } = this.size;
    this.readout();
    if (!wide || !tall) return;
    const shape = [
      store.version,
      range.from,
      range.to,
      wide,
      tall,
      store.done,
      store.steps.includes(null),
    ].join();
    if (this.shape !== shape) this.draw(shape, range, wide, tall);
    this.place(this.now, store.at);
    this.place(this.over, this.hovered);
  }

  draw(shape, range, wide, tall) {
    this.shape = shape;
    const { steps } = this.store;
    const here = steps.slice(range.from, range.to);
    const slots = Math.max(here.length, this.store.done ? 6 : 24);
    const each = (wide - LEFT - RIGHT) / slots;
    const most = Math.max(...here.map((step) => (step ? total(step) : 0)), 1e-6) * 1000;
    const ticks = treeLayout.ticks(most, tall > 190 ? 4 : 3);
    const roof = ticks.distance * ticks.count;
    const floor = tall - BELOW;
    const scale = (floor - TOP) / roof;
    const tokens = Math.max(...here.map((step) => step?.emitted.length || 0), 2);
    Object.assign(this, { each, floor, from: range.from, tall });
    attr(this.chart, "viewBox", `0 0 ${wide} ${tall}`);
    attr(this.chart, "width", wide);
    attr(this.chart, "height", tall);
    const parts = { draft: "", verify: "", overhead: "", drafted: "", own: "" };
    here.forEach(
      (step, i) =>
        step &&
        this.bar(
          parts,
          step,
          LEFT + i * each,
          Math.max(Math.min(each - 2, 56), each * 0.7),
          scale,
          tokens,
        ),
    );
    for (const name of Object.keys(parts)) attr(this.paths[name], "d", parts[name]);
    this.axes(ticks, scale, wide, range, each);
  }

  bar(parts, step, left, thick, scale, tokens) {
    const x = (left + (this.each - thick) / 2).toFixed(1);
    const w = thick.toFixed(1);
    let y = this.floor;
    for (const [phase] of PHASES) {
      const high = (step.seconds?.[phase] || 0) * 1000 * scale;
      if (high > 0)
        parts[phase] += `M${x} ${y.toFixed(1)}v${(-high).toFixed(1)}h${w}v${high.toFixed(1)}z`;
      y -= high;
    }
    const unit = (BELOW - 18) / tokens;
    const own = step.emitted.length >= step.path.length ? 1 : 0;
    const drafted = step.emitted.length - own;
    const top = this.floor + 3;
    if (drafted)
      parts.drafted += `M${x} ${top}v${(drafted * unit).toFixed(1)}h${w}v${(-drafted * unit).toFixed(1)}z`;
    if (own)
      parts.own += `M${x} ${(top + drafted * unit).toFixed(1)}v${unit.toFixed(1)}h${w}v${(-unit).toFixed(1)}z`;
  }

  axes(ticks, scale, wide, range, each) {
    const words = [];
    const lines = [];
    for (let k = 0; k <= ticks.count; k++) {
      const value = k * ticks.distance;
      const y = this.floor - value * scale;
      lines.push(`M${LEFT} ${y.toFixed(1)}H${wide - RIGHT}`);
      if (k)
        words.push({
          x: LEFT - 7,
          y: y + 3.5,
          anchor: "end",
          text: Number(value.toFixed(3)) + (k === ticks.count ? " ms" : ""),
        });
    }
    words.push({ x: LEFT - 7, y: this.floor + 16, anchor: "end", text: "tokens" });
    const every = [1, 2, 5, 10, 20].find((n) => n * each >= 26) || 40;
    for (let i = range.from; i < range.to; i++) {
      if ((i + 1) % every && (i > 0 || (every - 1) * each < 26)) continue;
      words.push({
        x: LEFT + (i - range.from + 0.5) * each,
        y: this.tall - 4,
        anchor: "middle",
        text: String(i + 1),
      });
    }
    attr(this.grid, "d", lines.join(""));
    this.labels
      .take(words.length)
      .slice(0, words.length)
      .forEach((label, i) => {
        attr(label, "x", words[i].x.toFixed(1));
        attr(label, "y", words[i].y.toFixed(1));
        attr(label, "text-anchor", words[i].anchor);
        text(label, words[i].text);
      });
  }

  place(rect, i) {
    const on = i !== null && i >= this.from && i < this.from + WINDOW && i <= this.store.last;
    rect.style.display = on ? "" : "none";
    if (!on) return;
    attr(rect, "x", (LEFT + (i - this.from) * this.each).toFixed(1));
    attr(rect, "y", 2);
    attr(rect, "width", this.each.toFixed(1));
    attr(rect, "height", this.tall - 16);
  }

  readout() {
    const { store } = this;
    const i = this.hovered ?? store.at;
    const step = store.steps[i];
    this.values.style.visibility = step ? "" : "hidden";
    if (!step) return;
    text(this.step, "step " + (i + 1));
    for (const [phase] of PHASES) text(this.entries[phase], format.ms(step.seconds?.[phase] || 0));
    text(this.tokens, format.count(step.emitted.length, "token"));
  }

  listen() {
    const at = (event) => {
      const i =
        Math.floor((event.clientX - this.chart.getBoundingClientRect().left - LEFT) / this.each) +
        this.from;
      return this.each && i >= this.from && i <= Math.min(this.store.last, this.from + WINDOW - 1)
        ? i
        : null;
    };
    const point = (i) => {
      if (this.hovered === i) return;
      this.hovered = i;
      this.store.changed();
    };
    this.box.addEventListener("pointermove", (event) => point(at(event)));
    this.box.addEventListener("pointerleave", () => point(null));
    this.box.addEventListener("click", (event) => at(event) !== null && this.store.seek(at(event)));
  }
}

const total = (step) => PHASES.reduce((sum, [phase]) => sum + (step.seconds?.[phase] || 0), 0);

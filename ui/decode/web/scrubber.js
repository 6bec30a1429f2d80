/* The bar of the Decode view: its track has one tick a step. */
import { attr, svg, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { PlaybackBar, TRACK_HEIGHT as HEIGHT } from "../../shared/web/playback_bar.js";
import { sourced } from "../../shared/web/run_words.js";
import { draftedOf, secondsOf } from "../../shared/web/step_view.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @import { RunStore } from "./run_store.js" */

const LEAST_TICK = 3; // px
const MOST_TICK = 26;
const RATES = [
  ["x0.25", "¼× real time"],
  ["x0.5", "½× real time"],
  ["x1", "real time"],
  ["x2", "2× real time"],
  ["x4", "4× real time"],
  ["s1", "1 step / s"],
  ["s2", "2 steps / s"],
  ["s5", "5 steps / s"],
  ["s20", "20 steps / s"],
];

const WORDS = {
  bar: "Steps of the run",
  slider: "Step",
  first: "First step (Home)",
  last: "Last step (End)",
  live: TOOLTIPS["button live"],
  rates: RATES,
};

/** The playback's controls. */
export class Scrubber extends PlaybackBar {
  shape = ""; // what the ticks were drawn for
  /** @type {{from: number, to: number} | null} the steps whose times are shown below */
  range = null;

  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    super(store, host, WORDS);
    this.window = svg("rect", { class: "sq-track-window", y: "0", height: HEIGHT }, this.chart);
    this.lost = svg("path", { class: "sq-tick-lost" }, this.chart);
    this.draft = svg("path", { class: "sq-tick-draft" }, this.chart);
    this.own = svg("path", { class: "sq-tick-own" }, this.chart);
  }

  paint() {
    const { at, steps } = this.store;
    const count = steps.length;
    const some = count > 0;
    this.paintControls(some);
    text(this.place, some ? `step ${at + 1} / ${count}` : "no steps");
    const words = some ? this.describe(at) : "no steps yet";
    this.paintSlider(1, Math.max(count, 1), Math.max(at + 1, 1), words);
    this.ticks();
    if (some) this.head.style.left = ((at + 0.5) / count) * 100 + "%";
  }

  ticks() {
    const { store } = this;
    const count = store.steps.length;
    const wide = Math.max(this.size.w, 1);
    const shape = [store.version, count, wide, store.steps.includes(null)].join();
    if (this.shape !== shape) this.draw(count, wide);
    this.shape = shape;
    const { from, to } = this.range || { from: 0, to: count };
    const each = wide / Math.max(count, 1);
    attr(this.window, "x", from * each);
    attr(this.window, "width", (to - from) * each);
    this.window.style.display = to - from < count ? "" : "none";
  }

  // One tick a step while there is room for 3 px each, else one a bin: its greatest step, so that
  // no peak is lost.
  draw(count, wide) {
    const bins = Math.min(count, Math.floor(wide / LEAST_TICK));
    const each = wide / Math.max(bins, 1);
    const thick = Math.min(Math.max(each - (each > 4 ? 2 : 0.6), 1), MOST_TICK);
    const most = Math.max(this.store.totals(this.store.last).most, 2);
    const parts = { draft: "", own: "", lost: "" };
    for (let bin = 0; bin < bins; bin++) {
      const from = Math.floor((bin * count) / bins);
      const to = Math.max(Math.floor(((bin + 1) * count) / bins), from + 1);
      const x = (bin * each + (each - thick) / 2).toFixed(1);
      this.tick(parts, this.store.steps.slice(from, to), x, thick.toFixed(1), most);
    }
    attr(this.chart, "viewBox", `0 0 ${wide} ${HEIGHT}`);
    for (const key of Object.keys(parts)) attr(this[key], "d", parts[key]);
  }

  tick(parts, here, x, w, most) {
    const floor = HEIGHT - 2;
    if (here.includes(null)) parts.lost += `M${x} 6h${w}V${floor}h-${w}z`;
    const sizes = here.map((step) => step?.emitted.length ?? -1);
    const step = here[sizes.indexOf(Math.max(...sizes))];
    if (!step) return;
    const unit = (HEIGHT - 6) / most;
    const drafted = draftedOf(step);
    const top = (floor - drafted * unit).toFixed(1);
    const high = (unit - 0.6).toFixed(1);
    if (drafted) parts.draft += `M${x} ${floor}V${top}h${w}V${floor}z`;
    if (step.emitted.length > drafted) parts.own += `M${x} ${top}v-${high}h${w}v${high}z`;
  }

  describe(i) {
    const step = this.store.steps[i];
    if (!step) return "step " + (i + 1) + ": not received";
    const time = sourced(format.ms(secondsOf(step)), this.store.word);
    return `step ${i + 1} · ${format.count(step.emitted.length, "token")} · ${time}`;
  }

  at(share) {
    const { last, steps } = this.store;
    return Math.max(0, Math.min(last, Math.floor(share * steps.length)));
  }

  pointAt(i) {
    super.pointAt(i, (i + 0.5) / this.store.steps.length);
  }
}

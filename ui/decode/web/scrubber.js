/* Where we are in the run: transport buttons, a track with one tick a step, speed, LIVE. */
import * as dom from "../../shared/web/dom.js";
import { attr, button, el, setIcon, show, svg, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { sourced } from "../../shared/web/run_words.js";
import { draftedOf, secondsOf } from "./step_view.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @import { RunStore } from "./run_store.js" */

const HEIGHT = 34;
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

/** The playback's controls. */
export class Scrubber {
  shape = ""; // what the ticks were drawn for
  /** @type {{from: number, to: number} | null} the steps whose times are shown below */
  range = null;

  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "sq-scrub", "aria-label": "Steps of the run", "data-part": "scrubber" };
    const root = el("section", look, host);
    this.makeTransport(root);
    this.makeTrack(root);
    this.place = el("span", { class: "sq-place", "data-part": "place" }, root);
    this.live = button(root, { text: "LIVE", cls: "sq-live", hint: TOOLTIPS["button live"] });
    this.live.dataset.part = "live";
    this.live.addEventListener("click", () => store.goLive());
    const speed = { "aria-label": "Playback speed", "data-part": "speed" };
    this.speed = el("select", { class: "sq-input sq-speed", ...speed }, root);
    for (const [value, label] of RATES) el("option", { value, text: label }, this.speed);
    this.speed.addEventListener("change", () => store.set({ rate: this.speed.value, clock: 0 }));
    this.help = button(root, { text: "?", label: "Keyboard help", cls: "sq-help-btn" });
    this.listen();
    this.size = dom.sized(this.track, () => store.changed());
  }

  makeTransport(root) {
    const { store } = this;
    const look = { class: "sq-transport", role: "group", "aria-label": "Playback" };
    const group = el("div", look, root);
    const make = (icon, label, act) => {
      const made = button(group, { icon, label });
      made.dataset.act = icon;
      made.addEventListener("click", act);
      return made;
    };
    make("first", "First step (Home)", () => store.seek(0));
    make("back", "One step back (←)", () => store.step(-1));
    this.playing = make("play", "Play (space)", () => store.toggle());
    this.playing.classList.add("sq-play");
    make("next", "One step forward (→)", () => store.step(1));
    make("last", "Last step (End)", () => store.seek(store.last));
    rove(group);
  }

  makeTrack(root) {
    const slider = { role: "slider", tabindex: "0", "aria-label": "Step", "data-part": "track" };
    this.track = el("div", { class: "sq-track", ...slider }, root);
    const look = { class: "sq-track-svg", preserveAspectRatio: "none", "aria-hidden": "true" };
    this.chart = svg("svg", look, this.track);
    this.window = svg("rect", { class: "sq-track-window", y: "0", height: HEIGHT }, this.chart);
    this.lost = svg("path", { class: "sq-tick-lost" }, this.chart);
    this.draft = svg("path", { class: "sq-tick-draft" }, this.chart);
    this.own = svg("path", { class: "sq-tick-own" }, this.chart);
    this.head = el("div", { class: "sq-playhead" }, this.track);
    this.tip = el("div", { class: "sq-tip", hidden: "" }, this.track);
  }

  paint() {
    const { store, track } = this;
    const count = store.steps.length;
    const some = count > 0;
    const isFollowing = some && store.follow && !store.done;
    setIcon(this.playing, store.playing || isFollowing ? "pause" : "play");
    attr(this.playing, "aria-label", store.playing ? "Pause (space)" : "Play (space)");
    text(this.place, some ? `step ${store.at + 1} / ${count}` : "no steps");
    attr(this.live, "aria-pressed", String(isFollowing));
    this.live.classList.toggle("is-running", some && !store.done);
    this.live.disabled = !some || store.done;
    if (this.speed.value !== store.rate) this.speed.value = store.rate;
    attr(track, "aria-valuemin", 1);
    attr(track, "aria-valuemax", Math.max(count, 1));
    attr(track, "aria-valuenow", Math.max(store.at + 1, 1));
    attr(track, "aria-valuetext", some ? this.describe(store.at) : "no steps yet");
    this.ticks();
    show(this.head, some);
    if (some) this.head.style.left = ((store.at + 0.5) / count) * 100 + "%";
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

  // The step below the pointer.
  stepAt(event) {
    const { last, steps } = this.store;
    const box = this.track.getBoundingClientRect();
    const i = Math.floor(((event.clientX - box.left) / box.width) * steps.length);
    return Math.max(0, Math.min(last, i));
  }

  listen() {
    const { track, store } = this;
    let held = false;
    const release = () => {
      held = false;
    };
    track.addEventListener("pointerdown", (event) => {
      if (event.button || store.last < 0) return;
      held = true;
      track.setPointerCapture(event.pointerId);
      store.seek(this.stepAt(event));
    });
    track.addEventListener("pointermove", (event) => {
      if (store.last < 0) return;
      const i = this.stepAt(event);
      if (held) store.seek(i);
      this.pointAt(i);
    });
    track.addEventListener("pointerup", release);
    track.addEventListener("pointercancel", release);
    track.addEventListener("pointerleave", () => show(this.tip, false));
  }

  pointAt(i) {
    const place = ((i + 0.5) / this.store.steps.length) * 100;
    text(this.tip, this.describe(i));
    show(this.tip, true);
    this.tip.style.left = Math.max(9, Math.min(91, place)) + "%";
  }
}

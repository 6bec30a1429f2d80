/* Where we are in the run: transport buttons, a track with one tick a step, speed, LIVE. */
import * as dom from "../../shared/web/dom.js";
import { attr, button, el, setIcon, show, svg, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import * as stepWords from "../../shared/web/step_words.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const HEIGHT = 34;
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

export class Scrubber {
  constructor(store, host) {
    this.store = store;
    const root = el(
      "section",
      { class: "sq-scrub", "aria-label": "Steps of the run", "data-part": "scrubber" },
      host,
    );
    const group = el(
      "div",
      { class: "sq-transport", role: "group", "aria-label": "Playback" },
      root,
    );
    const make = (icon, label, act) => {
      const made = button(group, { icon, label });
      made.dataset.act = icon;
      made.addEventListener("click", act);
      return made;
    };
    make("first", "First step (Home)", () => store.seek(0));
    make("back", "One step back (←)", () => store.step(-1));
    this.playing = make("play", "Play (space)", () => store.toggle());
    this.playing.dataset.act = "play";
    this.playing.classList.add("sq-play");
    make("next", "One step forward (→)", () => store.step(1));
    make("last", "Last step (End)", () => store.seek(store.last));
    this.track = el(
      "div",
      {
        class: "sq-track",
        role: "slider",
        tabindex: "0",
        "aria-label": "Step",
        "data-part": "track",
      },
      root,
    );
    this.chart = svg(
      "svg",
      { class: "sq-track-svg", preserveAspectRatio: "none", "aria-hidden": "true" },
      this.track,
    );
    this.window = svg("rect", { class: "sq-track-window", y: "0", height: HEIGHT }, this.chart);
    this.lost = svg("path", { class: "sq-tick-lost" }, this.chart);
    this.draft = svg("path", { class: "sq-tick-draft" }, this.chart);
    this.own = svg("path", { class: "sq-tick-own" }, this.chart);
    this.head = el("div", { class: "sq-playhead" }, this.track);
    this.tip = el("div", { class: "sq-tip", hidden: "" }, this.track);
    this.place = el("span", { class: "sq-place", "data-part": "place" }, root);
    this.live = button(root, { text: "LIVE", cls: "sq-live", hint: TOOLTIPS["button live"] });
    this.live.dataset.part = "live";
    this.live.addEventListener("click", () => store.goLive());
    this.speed = el(
      "select",
      { class: "sq-input sq-speed", "aria-label": "Playback speed", "data-part": "speed" },
      root,
    );
    for (const [value, label] of RATES) el("option", { value, text: label }, this.speed);
    this.speed.addEventListener("change", () => store.set({ rate: this.speed.value, clock: 0 }));
    this.help = button(root, { text: "?", label: "Keyboard help", cls: "sq-help-btn" });
    this.listen();
    this.size = dom.sized(this.track, () => store.changed());
  }

  paint() {
    const { store } = this;
    const count = store.steps.length;
    const some = count > 0;
    setIcon(
      this.playing,
      store.playing || (store.follow && !store.done && some) ? "pause" : "play",
    );
    attr(this.playing, "aria-label", store.playing ? "Pause (space)" : "Play (space)");
    text(this.place, some ? "step " + (store.at + 1) + " / " + count : "no steps");
    const following = some && store.follow && !store.done;
    attr(this.live, "aria-pressed", String(following));
    this.live.classList.toggle("is-running", some && !store.done);
    this.live.disabled = !some || store.done;
    if (this.speed.value !== store.rate) this.speed.value = store.rate;
    attr(this.track, "aria-valuemin", 1);
    attr(this.track, "aria-valuemax", Math.max(count, 1));
    attr(this.track, "aria-valuenow", Math.max(store.at + 1, 1));
    attr(this.track, "aria-valuetext", some ? this.describe(store.at) : "no steps yet");
    this.ticks();
    show(this.head, some);
    if (some) this.head.style.left = ((store.at + 0.5) / count) * 100 + "%";
  }

  /** One tick a step while there is room for 3 px each, else one a bin: its greatest step, so that no peak is lost. */
  ticks() {
    const { store } = this;
    const count = store.steps.length;
    const wide = Math.max(this.size.w, 1);
    const lost = store.steps.includes(null) ? 1 : 0;
    const shape = [store.version, count, wide, lost].join();
    if (this.shape !== shape) {
      this.shape = shape;
      const bins = Math.min(count, Math.floor(wide / 3));
      const each = wide / Math.max(bins, 1);
      const thick = Math.max(each - (each > 4 ? 2 : 0.6), 1);
      const most = Math.max(store.totals(store.last).most, 2);
      const parts = { draft: "", own: "", lost: "" };
      for (let bin = 0; bin < bins; bin++)
        this.tick(parts, bin, bins, each, Math.min(thick, 26), most);
      attr(this.chart, "viewBox", `0 0 ${wide} ${HEIGHT}`);
      for (const key of Object.keys(parts)) attr(this[key], "d", parts[key]);
    }
    const range = this.range || { from: 0, to: count };
    attr(this.window, "x", (range.from / Math.max(count, 1)) * wide);
    attr(this.window, "width", ((range.to - range.from) / Math.max(count, 1)) * wide);
    this.window.style.display = range.to - range.from < count ? "" : "none";
  }

  tick(parts, bin, bins, each, thick, most) {
    const { steps } = this.store;
    const from = Math.floor((bin * steps.length) / bins);
    const to = Math.max(Math.floor(((bin + 1) * steps.length) / bins), from + 1);
    const here = steps.slice(from, to);
    const x = (bin * each + (each - thick) / 2).toFixed(1);
    const w = thick.toFixed(1);
    if (here.some((step) => !step)) parts.lost += `M${x} 6h${w}V${HEIGHT - 2}h-${w}z`;
    const step = here.reduce(
      (best, one) => (one && (!best || one.emitted.length > best.emitted.length) ? one : best),
      null,
    );
    if (!step) return;
    const unit = (HEIGHT - 6) / most;
    const own = step.emitted.length >= step.path.length ? 1 : 0;
    const drafted = step.emitted.length - own;
    const floor = HEIGHT - 2;
    const top = (floor - drafted * unit).toFixed(1);
    if (drafted) parts.draft += `M${x} ${floor}V${top}h${w}V${floor}z`;
    if (own)
      parts.own += `M${x} ${top}v${(-unit + 0.6).toFixed(1)}h${w}v${(unit - 0.6).toFixed(1)}z`;
  }

  describe(i) {
    const step = this.store.steps[i];
    if (!step) return "step " + (i + 1) + ": not received";
    const { draft = 0, verify = 0, overhead = 0 } = step.seconds || {};
    return (
      "step " +
      (i + 1) +
      " · " +
      format.count(step.emitted.length, "token") +
      " · " +
      stepWords.sourced(format.ms(draft + verify + overhead), this.store.word)
    );
  }

  listen() {
    const { track, store } = this;
    const at = (event) => {
      const box = track.getBoundingClientRect();
      return Math.max(
        0,
        Math.min(
          store.last,
          Math.floor(((event.clientX - box.left) / box.width) * store.steps.length),
        ),
      );
    };
    let held = false;
    track.addEventListener("pointerdown", (event) => {
      if (event.button || store.last < 0) return;
      held = true;
      track.setPointerCapture(event.pointerId);
      store.seek(at(event));
    });
    track.addEventListener("pointermove", (event) => {
      if (store.last < 0) return;
      const i = at(event);
      if (held) store.seek(i);
      text(this.tip, this.describe(i));
      show(this.tip, true);
      this.tip.style.left = Math.max(9, Math.min(91, ((i + 0.5) / store.steps.length) * 100)) + "%";
    });
    for (const name of ["pointerup", "pointercancel"])
      track.addEventListener(name, () => {
        held = false;
      });
    track.addEventListener("pointerleave", () => show(this.tip, false));
  }
}

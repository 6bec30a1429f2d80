/* The race time shown: playback buttons, a track with one line per lane, playback speed, LIVE. */
import { laneName } from "./lane.js";
import { drawLine, laneStyles } from "./lane_style.js";
import { attr, button, el, setIcon, show, sized, svg, text } from "../../shared/web/dom.js";
import { PlaybackKeys } from "../../shared/web/playback_keys.js";
import { rove } from "../../shared/web/roving_focus.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {import("./race_store.js").RaceStore} RaceStore */

const HEIGHT = 34; // px, as .sq-track-svg
const KEY_STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const RATES = [
  ["x1", "real time"],
  ["x0.25", "¼× real time"],
  ["x0.1", "⅒× real time"],
  ["s4", "4 steps / s"],
];

/** The bar with the playback buttons and the track. */
export class RaceScrubber {
  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    const label = { "aria-label": "Race time" };
    const root = el("section", { class: "sq-scrub", ...label, "data-part": "scrubber" }, host);
    this.makeButtons(root);
    this.makeTrack(root, label);
    this.place = el("span", { class: "sq-place", "data-part": "time" }, root);
    this.live = button(root, {
      text: "LIVE",
      cls: "sq-live",
      hint: TOOLTIPS["button live in a race"],
    });
    this.live.dataset.part = "live";
    this.live.addEventListener("click", () => store.goLive());
    this.makeRates(root);
    this.help = button(root, { text: "?", label: "Keyboard help", cls: "sq-help-btn" });
    this.listen();
  }

  /** @param {HTMLElement} root */
  makeButtons(root) {
    const { store } = this;
    const attributes = { role: "group", "aria-label": "Playback" };
    const group = el("div", { class: "sq-transport", ...attributes }, root);
    const make = (icon, label, act) => {
      const made = button(group, { icon, label });
      made.dataset.act = icon;
      made.addEventListener("click", act);
      return made;
    };
    make("first", "Start of the race (Home)", () => store.seek(0));
    make("back", "One step back (←)", () => store.step(-1));
    this.playing = make("play", "Play (space)", () => store.toggle());
    this.playing.classList.add("sq-play");
    make("next", "One step forward (→)", () => store.step(1));
    make("last", "End of the race (End)", () => store.seek(store.end));
    rove(group);
  }

  /**
   * @param {HTMLElement} root
   * @param {object} label
   */
  makeTrack(root, label) {
    const attributes = { role: "slider", tabindex: "0", ...label, "aria-valuemin": "0" };
    this.track = el("div", { class: "sq-track", ...attributes, "data-part": "track" }, root);
    this.chart = svg("svg", { class: "sq-track-svg", "aria-hidden": "true" }, this.track);
    this.head = el("div", { class: "sq-playhead" }, this.track);
    this.tip = el("div", { class: "sq-tip", hidden: "" }, this.track);
    this.size = sized(this.track, () => this.store.changed());
    this.drawn = "";
  }

  /** @param {HTMLElement} root */
  makeRates(root) {
    const attributes = { "aria-label": "Playback speed", "data-part": "rate" };
    this.speed = el("select", { class: "sq-input sq-speed", ...attributes }, root);
    for (const [value, label] of RATES) el("option", { value, text: label }, this.speed);
    const change = () => this.store.set({ rate: this.speed.value, clock: 0 });
    this.speed.addEventListener("change", change);
  }

  paint() {
    const { store } = this;
    const { end, t, done } = store;
    const some = end > 0;
    const following = some && store.follow && !done;
    const playing = store.playing || following;
    setIcon(this.playing, playing ? "pause" : "play");
    attr(this.playing, "aria-label", playing ? "Pause (space)" : "Play (space)");
    text(this.place, some ? `${clock(t)} / ${clock(end)} s` : "no steps");
    attr(this.live, "aria-pressed", String(following));
    this.live.classList.toggle("is-running", some && !done);
    this.live.disabled = !some || done;
    if (this.speed.value !== store.rate) this.speed.value = store.rate;
    attr(this.track, "aria-valuemax", clock(end));
    attr(this.track, "aria-valuenow", clock(t));
    const words = some ? `${clock(t)} seconds of ${clock(end)}` : "no steps yet";
    attr(this.track, "aria-valuetext", words);
    this.paintLines(end);
    show(this.head, some);
    if (some) this.head.style.transform = `translateX(${(t / end) * this.size.w}px)`;
  }

  /**
   * One line per lane, as long as its decode time.
   * @param {number} end
   */
  paintLines(end) {
    const { totals, lanes, built } = this.store;
    const lengths = totals.map((total) => Math.round((total.clock / end || 0) * this.size.w));
    const key = [built, ...lengths].join();
    if (this.drawn === key) return;
    this.drawn = key;
    this.chart.replaceChildren();
    const styles = laneStyles(lanes);
    const tall = (HEIGHT - 4) / totals.length;
    lengths.forEach((length, i) => {
      if (length) drawLine(this.chart, styles[i], 2 + tall * (i + 0.5), length, length - 6);
    });
  }

  listen() {
    const { track, store } = this;
    const at = (event) => {
      const box = track.getBoundingClientRect();
      return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * store.end;
    };
    let held = false;
    track.addEventListener("pointerdown", (event) => {
      if (event.button || !store.end) return;
      held = true;
      track.setPointerCapture(event.pointerId);
      store.seek(at(event));
    });
    track.addEventListener("pointermove", (event) => {
      if (!store.end) return;
      const t = at(event);
      if (held) store.seek(t);
      text(this.tip, this.describe(t));
      show(this.tip, true);
      this.tip.style.left = Math.max(9, Math.min(91, (t / store.end) * 100)) + "%";
    });
    const release = () => {
      held = false;
    };
    track.addEventListener("pointerup", release);
    track.addEventListener("pointercancel", release);
    track.addEventListener("pointerleave", () => show(this.tip, false));
  }

  /**
   * The tokens of every lane at t.
   * @param {number} t
   * @returns {string}
   */
  describe(t) {
    const { totals, lanes } = this.store;
    const tokens = totals.map((total, i) => laneName(lanes[i], i) + " " + total.at(t).tokens);
    return clock(t) + " s · " + tokens.join(", ");
  }
}

const clock = (seconds) => seconds.toFixed(seconds >= 100 ? 1 : 2);

/** @type {[string, string][]} */
const HELP = [
  ["Ctrl Enter", "start the race, from anywhere; ⌘ Enter on a Mac"],
  ["space", "play or pause"],
  ["← →", "one step back or forward"],
  ["Home End", "start or end of the race"],
  ["L", "follow the newest step"],
  ["arrows", "inside a lane, panel or button group: from button to button"],
  ["Esc", "stop the race"],
  ["?", "this list"],
];

/** The keys of the Race view. */
export class RaceKeys extends PlaybackKeys {
  get listed() {
    return HELP;
  }

  /**
   * @param {string} key
   * @returns {boolean} whether it does anything here
   */
  act(key) {
    const { store } = this;
    const acts = {
      " ": () => store.toggle(),
      Home: () => store.seek(0),
      End: () => (store.done ? store.seek(store.end) : store.goLive()),
      l: () => store.goLive(),
      "?": () => this.help(),
      Escape: () => this.page.stop?.(),
    };
    if (Object.hasOwn(KEY_STEPS, key)) store.step(KEY_STEPS[key]);
    else if (Object.hasOwn(acts, key)) acts[key]();
    else return false;
    return true;
  }
}

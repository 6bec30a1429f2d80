/* The bar that controls a playback: buttons, a track to drag on, the playback speed, and a button
   LIVE that jumps to the newest step and follows the run. */
import { attr, button, el, setIcon, show, sized, svg, text } from "../../shared/web/dom.js";
import { rove } from "../../shared/web/roving_focus.js";
import { REAL, SHARES, SLOW, slowed } from "../../shared/web/speeds.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @import { RunStore } from "./run_store.js" */

const RATES = [
  SLOW,
  ["easy", "≥ 0.2 s per step"],
  ...SHARES.map(slowed),
  REAL,
  ["s1", "1 step / s"],
  ["s2", "2 steps / s"],
  ["s5", "5 steps / s"],
  ["s20", "20 steps / s"],
];

/** The bar. A subclass draws the track and maps it to moments. */
export class PlaybackBar {
  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "sq-scrub sq-line", "aria-label": "Steps of the run" };
    const root = el("section", { ...look, "data-part": "scrubber" }, host);
    this.root = root;
    this.makeTransport(root);
    const slider = { role: "slider", tabindex: "0", "aria-label": "Step" };
    this.track = el("div", { class: "sq-track", ...slider, "data-part": "track" }, root);
    const chart = { class: "sq-track-svg sq-fill", "aria-hidden": "true" };
    this.chart = svg("svg", { ...chart, preserveAspectRatio: "none" }, this.track);
    this.head = el("div", { class: "sq-playhead" }, this.track);
    this.tip = el("div", { class: "sq-tip", hidden: "" }, this.track);
    this.place = el("span", { class: "sq-place", "data-part": "place" }, root);
    const live = { text: "LIVE", cls: "sq-live", hint: TOOLTIPS["button live"], part: "live" };
    this.live = button(root, { ...live, act: () => store.goLive() });
    const speed = { "aria-label": "Playback speed", "data-part": "speed" };
    this.speed = el("select", { class: "sq-input sq-speed", ...speed }, root);
    for (const [value, label] of RATES) el("option", { value, text: label }, this.speed);
    this.speed.addEventListener("change", () => store.chooseRate(this.speed.value));
    this.listen();
    this.size = sized(this.track, () => store.changed());
  }

  makeTransport(root) {
    const { store } = this;
    const look = { class: "sq-transport", role: "group", "aria-label": "Playback" };
    const group = el("div", look, root);
    const make = (icon, label, act) => button(group, { icon, label, act });
    make("back", "One step back (←)", () => store.step(-1));
    this.playing = make("play", "Play (space)", () => store.toggle());
    this.playing.classList.add("sq-play");
    make("next", "One step forward (→)", () => store.step(1));
    rove(group);
  }

  /** @type {(share: number) => void} goes to a point of the track. `share`: where the point is,
   * from 0 (left end) to 1 (right end) */
  seek() {
    throw new Error("a subclass must define seek()");
  }

  /** @type {(share: number) => string} the tip for a point of the track */
  describe() {
    throw new Error("a subclass must define describe()");
  }

  /**
   * Paint the controls that all bars have.
   * @param {boolean} some whether there is anything to play
   */
  paintControls(some) {
    const { store } = this;
    const isFollowing = some && store.follow && !store.done;
    const isMoving = store.playing || isFollowing;
    setIcon(this.playing, isMoving ? "pause" : "play");
    const label = isMoving ? "Pause (space)" : "Play (space)";
    attr(this.playing, "aria-label", label);
    attr(this.playing, "title", label);
    attr(this.live, "aria-pressed", String(isFollowing));
    this.live.classList.toggle("is-running", some && !store.done);
    this.live.disabled = !some || store.done;
    if (this.speed.value !== store.rate) this.speed.value = store.rate;
    show(this.head, some);
  }

  /**
   * Set the track's values for screen readers.
   * @param {string | number} least
   * @param {string | number} most
   * @param {string | number} now
   * @param {string} words the current value in words
   */
  paintSlider(least, most, now, words) {
    attr(this.track, "aria-valuemin", least);
    attr(this.track, "aria-valuemax", most);
    attr(this.track, "aria-valuenow", now);
    attr(this.track, "aria-valuetext", words);
  }

  listen() {
    const { track } = this;
    let held = false;
    const release = () => {
      held = false;
    };
    const share = (event) => {
      const box = track.getBoundingClientRect();
      return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    };
    track.addEventListener("pointerdown", (event) => {
      if (event.button || this.head.hidden) return;
      held = true;
      track.setPointerCapture(event.pointerId);
      this.seek(share(event));
    });
    track.addEventListener("pointermove", (event) => {
      if (this.head.hidden) return;
      if (held) this.seek(share(event));
      this.pointAt(share(event));
    });
    track.addEventListener("pointerup", release);
    track.addEventListener("pointercancel", release);
    track.addEventListener("pointerleave", () => show(this.tip, false));
  }

  pointAt(share) {
    text(this.tip, this.describe(share));
    show(this.tip, true);
    this.tip.style.left = Math.max(9, Math.min(91, share * 100)) + "%";
  }
}

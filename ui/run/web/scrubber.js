/* The playback bar of a run: buttons, a track to drag on, the playback speed, and a button LIVE
   that jumps to the newest step and follows the run. The track shows the chosen lane as a row of
   blocks, one for each step. Steps that are too narrow to see share a block. The part of a block in
   which the draft runs is hatched, and the rest, with the number of the step's tokens, is solid. If
   another lane on the same prompt is plain, a second row above shows its steps on the same time
   axis. All other lanes are thin lines below. */
import { drawLine, laneStyles } from "./lane_style.js";
import { drawnBlocks } from "./track_blocks.js";
import { attr, button, el, setIcon, show, sized, svg, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { sourced } from "../../shared/web/run_words.js";
import { REAL, SHARES, SLOW, slowed } from "../../shared/web/speeds.js";
import { secondsOf } from "../../shared/web/step_view.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/**
 * @import { LaneRun } from "./lane_run.js"
 * @import { RunStore } from "./run_store.js"
 * @import { Block } from "./track_blocks.js"
 */

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

const ROW = 20; // px
const GAP = 4; // px between the rows, and above and below them
const THIN = 10; // px for the line of another lane
const LEAST_NUMBER = 10; // px; a row has numbers if the median solid part is at least this wide
const GROWTH = 1.25; // factor by which the track's time span grows when a run outgrows it

/**
 * Names of the SVG paths of the hatched and the solid parts of a row's blocks.
 * @typedef {{drafting: string, passing: string}} Row
 */

/** @type {Row} */
const PLAIN_ROW = { drafting: "plain", passing: "plain" };
/** @type {Row} */
const RUN_ROW = { drafting: "draft", passing: "pass" };

let bars = 0; // on the page, for the ids of their patterns

/** The bar. */
export class Scrubber {
  shape = ""; // everything that the drawn blocks depend on, as one string
  written = 0; // how many numbers are shown
  /** @type {{from: number, to: number} | null} the steps in the panel "Time per step"; null until
   * that panel is painted */
  range = null;

  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "sq-scrub sq-line sq-beat", "aria-label": "Steps of the run" };
    this.root = el("section", { ...look, "data-part": "scrubber" }, host);
    this.makeTransport();
    const names = el("div", { class: "sq-beat-names sq-dim", "aria-hidden": "true" }, this.root);
    this.names = [el("span", {}, names), el("span", {}, names)];
    this.makeTrack();
    makeKey(this.root);
    this.place = el("span", { class: "sq-place", "data-part": "place" }, this.root);
    const live = { text: "LIVE", cls: "sq-live", hint: TOOLTIPS["button live"], part: "live" };
    this.live = button(this.root, { ...live, act: () => store.goLive() });
    this.makeSpeed();
    this.size = sized(this.track, () => store.changed());
  }

  makeTransport() {
    const { store } = this;
    const look = { class: "sq-transport", role: "group", "aria-label": "Playback" };
    const group = el("div", look, this.root);
    const make = (icon, label, act) => button(group, { icon, label, act });
    make("back", "One step back (←)", () => store.step(-1));
    this.playing = make("play", "Play (space)", () => store.toggle());
    this.playing.classList.add("sq-play");
    make("next", "One step forward (→)", () => store.step(1));
    rove(group);
  }

  makeTrack() {
    const slider = { role: "slider", tabindex: "0", "aria-label": "Step" };
    this.track = el("div", { class: "sq-track", ...slider, "data-part": "track" }, this.root);
    const chart = { class: "sq-track-svg sq-fill", "aria-hidden": "true" };
    this.chart = svg("svg", { ...chart, preserveAspectRatio: "none" }, this.track);
    this.head = el("div", { class: "sq-playhead" }, this.track);
    this.tip = el("div", { class: "sq-tip", hidden: "" }, this.track);
    this.drawRows();
    this.listen();
  }

  makeSpeed() {
    const look = { "aria-label": "Playback speed", "data-part": "speed" };
    this.speed = el("select", { class: "sq-input sq-speed", ...look }, this.root);
    for (const [value, label] of RATES) el("option", { value, text: label }, this.speed);
    this.speed.addEventListener("change", () => this.store.chooseRate(this.speed.value));
  }

  drawRows() {
    const { chart } = this;
    const id = `sq-hatch-${(bars += 1)}`;
    const hatch = { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" };
    const pattern = svg("pattern", { ...hatch, patternTransform: "rotate(45)" }, chart);
    svg("rect", { width: 6, height: 6, class: "sq-hatch-back" }, pattern);
    svg("rect", { width: 3, height: 6, class: "sq-hatch-line" }, pattern);
    this.window = svg("rect", { class: "sq-track-window", y: "0", height: "100%" }, chart);
    this.past = svg("g", {}, chart);
    this.plain = svg("path", { class: "sq-beat-plain" }, this.past);
    this.draft = svg("path", { fill: `url(#${id})` }, this.past);
    this.pass = svg("path", { class: "sq-beat-pass" }, this.past);
    this.numbers = svg("g", { class: "sq-beat-numbers" }, this.past);
    this.lines = svg("g", {}, this.past);
  }

  /** Seconds that the whole track covers. During a run they grow in jumps, not with every step. */
  get span() {
    const { store } = this;
    const seconds = Math.max(store.end, store.plain?.seconds ?? 0, 1e-9);
    return store.done ? seconds : GROWTH ** Math.ceil(Math.log(seconds) / Math.log(GROWTH));
  }

  paint() {
    const { at, steps, isWhole } = this.store;
    const count = steps.length;
    const some = count > 0;
    this.paintControls(some);
    const step = `step ${at + 1}/${count}`;
    text(this.place, some ? (isWhole ? "tree of " : "") + step : "no steps");
    [this.store.plain, this.store.lane].forEach((lane, i) => {
      text(this.names[i], lane?.title ?? "");
      attr(this.names[i], "title", lane?.title ?? null);
    });
    const words = some ? this.stepInWords(at) : "no steps yet";
    attr(this.track, "aria-valuemin", 1);
    attr(this.track, "aria-valuemax", Math.max(count, 1));
    attr(this.track, "aria-valuenow", Math.max(at + 1, 1));
    attr(this.track, "aria-valuetext", words);
    this.paintBlocks();
    if (some) this.paintTime();
  }

  /**
   * Paint the buttons and the speed.
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

  // Show blocks up to the current playback time. A number appears once its block is complete.
  paintTime() {
    const { store } = this;
    this.head.style.transform = `translateX(${this.share(store.time) * this.size.w}px)`;
    this.cut(this.past, store.time);
    this.cut(this.numbers, store.lane.sums[store.written + 1].seconds);
  }

  share(seconds) {
    return Math.min(1, seconds / this.span);
  }

  // Hide what is later than `seconds`.
  cut(part, seconds) {
    const right = 100 - this.share(seconds) * 100;
    part.style.clipPath = `view-box inset(0 ${right.toFixed(3)}% 0 0)`;
  }

  paintBlocks() {
    const { store } = this;
    const wide = Math.max(this.size.w, 1);
    const hasPlain = store.plain !== null;
    const { version, arrived, chosen } = store;
    const shape = [version, arrived.length, chosen, wide, this.span, hasPlain].join();
    if (this.shape !== shape) this.draw(wide, hasPlain);
    this.shape = shape;
    const { from, to } = this.range || { from: 0, to: store.steps.length };
    const x = (i) => (store.lane.until(i - 1) / this.span) * wide;
    attr(this.window, "x", x(from));
    attr(this.window, "width", Math.max(0, x(to) - x(from)));
    this.window.style.display = to - from < store.steps.length ? "" : "none";
  }

  draw(wide, hasPlain) {
    const { lanes, lane, plain } = this.store;
    const others = lanes.filter((one) => one !== lane && one !== plain);
    const below = hasPlain ? 2 * ROW + 3 * GAP : ROW + 2 * GAP;
    const tall = below + others.length * THIN;
    this.track.style.height = tall + "px";
    attr(this.chart, "viewBox", `0 0 ${wide} ${tall}`);
    this.names[0].style.display = hasPlain ? "" : "none";
    const parts = { plain: "", draft: "", pass: "" };
    this.written = 0;
    if (hasPlain) this.drawRow(blocksOf(plain), GAP, wide, parts, PLAIN_ROW);
    const top = hasPlain ? ROW + 2 * GAP : GAP;
    this.drawRow(blocksOf(lane), top, wide, parts, RUN_ROW);
    while (this.numbers.children.length > this.written) this.numbers.lastChild.remove();
    for (const key of Object.keys(parts)) attr(this[key], "d", parts[key]);
    this.drawLines(others, below, wide);
  }

  drawLines(others, y, wide) {
    const styles = laneStyles(this.store.lanes);
    this.lines.replaceChildren();
    others.forEach(({ index, seconds }, i) => {
      const length = Math.round(this.share(seconds) * wide);
      if (length) drawLine(this.lines, styles[index], y + i * THIN, length, length - THIN / 2);
    });
  }

  /** @type {(blocks: Block[], y: number, wide: number, parts: Record<string, string>,
   *   names: Row) => void} */
  drawRow(blocks, y, wide, parts, { drafting, passing }) {
    const scale = wide / this.span;
    const widths = blocks.map(({ pass, to }) => (to - pass) * scale).sort((a, b) => a - b);
    const isNumbered = passing === "pass" && widths[widths.length >> 1] >= LEAST_NUMBER;
    for (const { start, middle, end, tokens } of drawnBlocks(blocks, scale)) {
      if (middle > start) parts[drafting] += block(start, middle, y);
      if (end > middle) parts[passing] += block(middle, end, y);
      const isWide = end - middle > LEAST_NUMBER - 3;
      if (isNumbered && isWide) this.number((middle + end) / 2, y, tokens);
    }
  }

  // Existing text elements are reused, because each new one costs the browser a layout.
  number(x, y, tokens) {
    const made = this.numbers.children[this.written] ?? svg("text", {}, this.numbers);
    attr(made, "x", x.toFixed(1));
    attr(made, "y", y + ROW / 2);
    text(made, String(tokens));
    this.written += 1;
  }

  stepInWords(i) {
    const step = this.store.steps[i];
    const time = sourced(format.ms(secondsOf(step)), this.store.word);
    return `step ${i + 1} · ${format.count(step.emitted.length, "token")} · ${time}`;
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

  // Index of the step in progress at a point of the track.
  at(share) {
    return this.store.lane.count(share * this.span);
  }

  seek(share) {
    const { store } = this;
    if (this.at(share) > store.last) store.seekTime(share * this.span);
    else store.seek(this.at(share));
  }

  describe(share) {
    return this.stepInWords(Math.min(this.at(share), this.store.last));
  }
}

/** @type {(lane: LaneRun) => Block[]} */
const blocksOf = (lane) =>
  lane.steps.map((step, i) => {
    const from = lane.until(i - 1);
    const pass = from + (step.seconds?.draft ?? 0);
    return { from, pass, to: lane.until(i), tokens: step.emitted.length };
  });

// What the styles of the tokens and of the blocks mean.
function makeKey(host) {
  const key = el("span", { class: "sq-key sq-beat-key sq-dim" }, host);
  el("span", { class: "sq-tok sq-tok-draft", text: "small model (draft)" }, key);
  el("span", { class: "sq-tok sq-tok-own", text: "large model (target)" }, key);
  el("span", { text: "striped: drafting" }, key);
}

const block = (from, to, y) =>
  `M${from.toFixed(2)} ${y}H${to.toFixed(2)}V${y + ROW}H${from.toFixed(2)}z`;

/* The Race view: builds header, scrubber, lanes, charts and panels on one store. */
import { DistributionCheck } from "./distribution_check.js";
import { LaneView, laneName } from "./lane.js";
import { drawLine, laneStyles } from "./lane_style.js";
import { LeadTree } from "./lead_tree.js";
import { RaceCharts } from "./race_charts.js";
import { RaceHeader } from "./race_header.js";
import { RaceKeys } from "./race_keys.js";
import { RaceStore } from "./race_store.js";
import { RaceVerdict } from "./race_verdict.js";
import { WhereTimeWent } from "./where_time_went.js";
import { el, show, text } from "../../shared/web/dom.js";
import { PlaybackBar, TRACK_HEIGHT } from "../../shared/web/playback_bar.js";
import { REAL, slowed } from "../../shared/web/speeds.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/**
 * Options of the view; each may be left out. `page`: the form beside the view.
 *
 * `trigger` is called with one of these names and objects:
 * "apply", {lane, parents}: put the tree `parents` into lane number `lane` of the form.
 * "open", {race, lane}: open in Decode the run of the lane with the index `lane`.
 * "more", {race}: make further runs of the race.
 * @typedef {{trigger?: (name: string, data?: object) => void,
 *   page?: import("../../shared/web/form_buttons.js").FormBeside}} Options
 */

const ABOUT =
  "A race decodes one or two prompts in different ways, in two to four lanes side by side. Each lane’s clock runs only during its own steps.";

/** The elements of the Race view. */
class RaceView {
  /**
   * @param {HTMLElement} root a `.sq-stage`
   * @param {Options} [options]
   */
  constructor(root, { trigger, page = {} } = {}) {
    this.root = root;
    this.root.replaceChildren();
    this.root.classList.add("race-stage");
    this.trigger = trigger ?? null;
    this.store = new RaceStore();
    const frame = el("div", { class: "sq-frame" }, this.root);
    this.build(frame, page);
    this.keys = new RaceKeys(this.store, this, page);
    this.store.onPaint(() => this.paint());
    this.store.changed();
  }

  /**
   * @param {HTMLElement} frame
   * @param {import("../../shared/web/form_buttons.js").FormBeside} page
   */
  build(frame, page) {
    const { store } = this;
    this.header = new RaceHeader(store, frame, page.follow);
    this.verdict = new RaceVerdict(store, frame, this.trigger, page);
    this.scrubber = new RaceScrubber(store, frame);
    this.grid = el("div", { class: "race-lanes", "data-part": "lanes" }, frame);
    /** @type {LaneView[]} */
    this.lanes = [];
    this.built = 0; // store.built when the lanes were built
    this.tree = new LeadTree(store, frame);
    this.charts = new RaceCharts(store, frame);
    this.check = new DistributionCheck(store, frame);
    this.timeWent = new WhereTimeWent(store, frame, this.trigger);
    this.empty = el("div", { class: "sq-empty", "data-part": "empty" }, frame);
    el("p", { class: "sq-empty-title", text: "No race yet" }, this.empty);
    el("p", { class: "sq-empty-text", text: ABOUT }, this.empty);
  }

  paint() {
    const { store, root } = this;
    const some = store.lanes.length > 0;
    if (this.built !== store.built) this.buildLanes();
    for (const part of [this.grid, this.charts.root]) show(part, some);
    show(this.empty, !some && store.hasHeard);
    root.classList.toggle("is-empty", !some);
    root.classList.toggle("is-live", store.live && !store.done);
    root.dataset.state = store.state;
    root.dataset.steps = String(store.steps.length);
    for (const part of [this.header, this.verdict, this.scrubber, this.charts]) part.paint();
    this.paintLanes();
    this.tree.paint();
    this.check.paint();
    this.timeWent.paint();
  }

  buildLanes() {
    const { store, grid } = this;
    this.built = store.built;
    grid.replaceChildren();
    grid.dataset.lanes = String(store.lanes.length);
    const styles = laneStyles(store.lanes);
    const act = { trigger: this.trigger, showTree: (lane) => this.showTree(lane) };
    this.lanes = styles.map((style, i) => new LaneView(store, grid, i, style, act));
  }

  /**
   * Show the tree of a lane, and bring it into view.
   * @param {number} lane
   */
  showTree(lane) {
    this.tree.choose(lane);
    this.tree.root.scrollIntoView({ block: "nearest" });
  }

  paintLanes() {
    for (const lane of this.lanes) lane.paint(this.store.base(lane.index));
  }
}

/**
 * Build the Race view inside `root`.
 * @param {HTMLElement} root a `.sq-stage`
 * @param {Options} [options]
 * @returns {any} the interface for the view's component and for tests; `seek` takes a race time
 *   in seconds
 */
export function mountRace(root, options) {
  const view = new RaceView(root, options);
  const { store } = view;
  return {
    ingest: (message) => store.ingest(message),
    seek: (t) => store.seek(t),
    store,
    stage: view,
  };
}

const WORDS = {
  bar: "Race time",
  slider: "Race time",
  first: "Start of the race (Home)",
  last: "End of the race (End)",
  live: TOOLTIPS["button live in a race"],
  rates: [REAL, slowed(0.25), slowed(0.1), ["s4", "4 steps / s"]],
};

/** The bar with the playback buttons and the track. */
class RaceScrubber extends PlaybackBar {
  drawn = ""; // the state that the lines show, as a key

  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    super(store, host, WORDS);
  }

  paint() {
    const { end, t } = this.store;
    const some = end > 0;
    this.paintControls(some);
    text(this.place, some ? `${clock(t)} / ${clock(end)} s` : "no steps");
    const words = some ? `${clock(t)} seconds of ${clock(end)}` : "no steps yet";
    this.paintSlider(0, clock(end), clock(t), words);
    this.paintLines(end);
    if (some) this.head.style.transform = `translateX(${(t / end) * this.size.w}px)`;
  }

  /**
   * Draw one line per lane; its length shows the lane's decode time.
   * @param {number} end the longest of these decode times, in seconds
   */
  paintLines(end) {
    const { totals, lanes, built } = this.store;
    const lengths = totals.map((total) => Math.round((total.clock / end || 0) * this.size.w));
    const key = [built, ...lengths].join();
    if (this.drawn === key) return;
    this.drawn = key;
    this.chart.replaceChildren();
    const styles = laneStyles(lanes);
    const tall = (TRACK_HEIGHT - 4) / totals.length;
    lengths.forEach((length, i) => {
      if (length) drawLine(this.chart, styles[i], 2 + tall * (i + 0.5), length, length - 6);
    });
  }

  at(share) {
    return share * this.store.end;
  }

  /**
   * How many tokens each lane has at time t, in words.
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

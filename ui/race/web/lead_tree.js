/* The token tree of the leading lane or of a chosen lane, at the race time shown.
   Until a lane has completed a step, no lane leads, and only the tree of a chosen lane is shown.
   While the race time moves, the last complete step is shown (at the start, the first step). In a
   slow replay, the current step is animated instead. While the race is paused, the step at the
   paused time is shown. At the end of the race, the lane's best step is shown: the one that
   emitted the most tokens. */
import { laneName } from "./lane.js";
import { leadingLane } from "./lane_totals.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { count, ms } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { prefersStillness } from "../../shared/web/playback.js";
import { rove } from "../../shared/web/roving_focus.js";
import { StepStage } from "../../shared/web/step_stage.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {import("./race_store.js").RaceStore} RaceStore */
/**
 * The step that is shown: `i` is its index in its lane. `within`: seconds since the step began,
 * null to show its result. `isBest`: whether it is shown as the lane's best step.
 * @typedef {{lane: number, i: number, within: number | null, isBest: boolean}} Moment
 */

const HEIGHT = 300; // of the tree, in px
const EACH = { done: 100, running: 300 }; // ms between two trees while the race time moves
const LEAD_KEPT = 800; // the least ms that a leader is shown: a short lead would flicker
const READABLE = 0.5; // a step that is on screen for this many seconds or more is animated
const STANDS = 400; // ms that the race must be paused at a step's end before the step is played

/** The panel below the lanes. */
export class LeadTree {
  /** @type {number | null} the chosen lane; null: the leading one */
  chosen = null;
  #version = -1; // the store's `version` at the last paint
  #built = -1; // the store's `built` at the last paint
  #key = ""; // the state that is drawn
  #drawnAt = -Infinity; // when it was drawn, in ms
  #timer = 0;
  #playing = 0; // the timer that plays a step
  #isVisible = false;
  #within = /** @type {number | null} */ (null); // `within` of the moment that is drawn
  #lead = { lane: -1, since: -Infinity };

  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    this.panel = makePanel(host, { part: "lead-tree", title: "Token tree", cls: "race-tree" });
    this.root = this.panel.root;
    this.title = this.panel.titleBox.firstElementChild;
    this.where = el("span", { class: "sq-word", "data-part": "where" }, this.panel.titleBox);
    const look = { class: "sq-segments", role: "group", "aria-label": "Lane whose tree is shown" };
    this.choice = el("div", { ...look, "data-part": "tree-lane" }, this.panel.tools);
    this.stage = new StepStage(this.panel.body);
    for (const group of [this.choice, this.stage.buttons.root, this.stage.card.root]) rove(group);
    new IntersectionObserver((entries) => {
      this.#isVisible = entries.at(-1).isIntersecting;
      if (this.#isVisible) this.repaint();
    }).observe(this.root);
    window.addEventListener("beforeprint", () => this.store.lanes.length && this.draw());
  }

  /**
   * Show the tree of a lane.
   * @param {number | null} lane null: the leading lane
   */
  choose(lane) {
    if (lane !== null && !this.store.lanes[lane]) return;
    this.chosen = lane;
    this.repaint();
  }

  // -- what is shown ------------------------------------------------------------------------------

  /** Whether the race time shown is moving. */
  get moves() {
    const { playing, live, done } = this.store;
    return playing || (live && !done);
  }

  /** The leading lane. While the race time moves, each leader stays for at least LEAD_KEPT. */
  get leader() {
    const { totals, t, isOver } = this.store;
    const now = performance.now();
    const lane = leadingLane(totals, t, isOver);
    if (lane === this.#lead.lane) return lane;
    if (this.moves && this.#lead.lane >= 0 && now - this.#lead.since < LEAD_KEPT)
      return this.#lead.lane;
    this.#lead = { lane, since: now };
    return lane;
  }

  /**
   * The step to show at the race time shown.
   * @returns {Moment | null} null if no lane leads yet, or the chosen lane has no steps
   */
  get moment() {
    const { totals, t, isOver } = this.store;
    const lane = this.chosen ?? this.leader;
    const made = totals[lane]?.steps.length ?? 0;
    if (!made) return null;
    if (isOver) return { lane, i: totals[lane].best, within: null, isBest: true };
    const begun = totals[lane].count(t);
    const within = t - totals[lane].sums[begun].seconds;
    const isBetween = begun > 0 && (within <= 0 || begun === made);
    if (isBetween || (this.moves && !this.isReadable(lane, begun)))
      return { lane, i: Math.max(begun - 1, 0), within: null, isBest: false };
    return { lane, i: begun, within, isBest: false };
  }

  /**
   * Whether a step takes long enough on screen to be animated. False while the race still runs, or
   * if the playback rate is in steps per second.
   * @param {number} lane
   * @param {number} i
   * @returns {boolean}
   */
  isReadable(lane, i) {
    const { rate, totals, done } = this.store;
    if (rate[0] !== "x" || !done) return false;
    const { sums } = totals[lane];
    return (sums[i + 1].seconds - sums[i].seconds) / Number(rate.slice(1)) >= READABLE;
  }

  // -- paint --------------------------------------------------------------------------------------

  paint() {
    const { version, built, lanes } = this.store;
    show(this.root, lanes.length > 0);
    if (this.#version !== version) this.start();
    if (this.#built !== built) this.buildChoice();
    this.#version = version;
    this.#built = built;
    if (!lanes.length || this.#timer) return;
    if (!this.#isVisible && !this.store.isOver) return;
    const pause = EACH[this.store.done ? "done" : "running"];
    const early = this.moves ? pause - (performance.now() - this.#drawnAt) : 0;
    if (early > 0) this.#timer = setTimeout(() => this.repaint(), early);
    else this.draw();
  }

  repaint() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#key = "";
    this.store.changed();
  }

  /** Called when another race is on screen. */
  start() {
    this.chosen = null;
    this.#key = "";
    this.#lead = { lane: -1, since: -Infinity };
  }

  buildChoice() {
    const add = (words, hint, lane) => {
      const act = () => this.choose(lane);
      const made = button(this.choice, { text: words, hint, act });
      made.dataset.lane = lane === null ? "leader" : String(lane);
    };
    this.choice.replaceChildren();
    add("In front", TOOLTIPS["button tree of the leader"], null);
    this.store.lanes.forEach((lane, i) =>
      add(laneName(lane, i), `${TOOLTIPS["button tree of a lane"]} (${i + 1})`, i),
    );
  }

  draw() {
    const moment = this.moment;
    const key = JSON.stringify([moment, this.chosen, this.moves]);
    if (this.#key === key) return;
    this.#key = key;
    this.#drawnAt = performance.now();
    clearTimeout(this.#playing);
    this.paintHead(moment);
    if (moment) this.drawStep(moment);
    else this.stage.show(null);
  }

  /** @param {Moment} moment */
  drawStep({ lane, i, within, isBest }) {
    const { stage, store, moves } = this;
    stage.source = store.word;
    const look = { room: { rows: store.rows(lane), levels: 1 }, height: HEIGHT, isMoving: moves };
    if (this.#within !== null) stage.player.stand(null);
    stage.show(store.view(lane, i), look);
    this.#within = within;
    if (within !== null) stage.player.standAt(within);
    else if (!moves && !isBest && !prefersStillness())
      this.#playing = setTimeout(() => stage.player.play(), STANDS);
  }

  /** @param {Moment | null} moment */
  paintHead(moment) {
    const { lanes, totals, isOver } = this.store;
    for (const one of this.choice.children) {
      const isChosen = one.getAttribute("data-lane") === String(this.chosen ?? "leader");
      attr(one, "aria-pressed", String(isChosen));
    }
    const name = moment ? laneName(lanes[moment.lane], moment.lane) : "";
    const title =
      this.chosen === null && !isOver ? "Token tree of the lane in front" : "Token tree";
    text(this.title, [title, name].filter(Boolean).join(": "));
    text(this.where, moment ? stepInWords(totals[moment.lane], moment) : "");
  }
}

/**
 * Which step is shown, how many tokens it emitted and how long it took, in words.
 * @param {import("./lane_totals.js").LaneTotals} total
 * @param {Moment} moment
 * @returns {string}
 */
function stepInWords({ steps, sums }, { i, isBest }) {
  const seconds = sums[i + 1].seconds - sums[i].seconds;
  const gave = count(steps[i].text.length, "token");
  const which = isBest ? "its best step, step " : "step ";
  return `${which}${i + 1} of ${steps.length}: ${gave} in ${ms(seconds)}`;
}

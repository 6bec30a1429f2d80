/* The part of the race that the page has received, and the race time shown. */
import { Following, Playback, SLOWEST_FRAME } from "../../shared/web/playback.js";
import { viewStep } from "../../shared/web/step_view.js";
import { LaneTotals, referenceLane } from "./lane_totals.js";

/**
 * @import { StepsMessage } from "../../shared/web/playback.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 */

/**
 * Made by the server; see ui/race/messages.py.
 * @typedef {import("../../shared/web/schema.js").LaneShown} Lane
 * @typedef {import("../../shared/web/schema.js").Result} Result
 * @typedef {import("../../shared/web/schema.js").AnalysisShown} Analysis
 * @typedef {import("../../shared/web/schema.js").PairVerdict} Pair
 * @typedef {import("../../shared/web/schema.js").Headline} Headline
 * @typedef {import("../../shared/web/schema.js").PoolShown} Pool
 * @typedef {import("../../shared/web/schema.js").RunShown} PooledRun
 */
/**
 * Who won and how sure that is. `reasons`, `details`: the sentences under "How sure?".
 * @typedef {import("../../shared/web/schema.js").RaceVerdict &
 *   {reasons: string[], details: string[]}} Verdict
 */
/**
 * A message from the server; see ui/race/messages.py. A message without a `race` has only words to
 * show.
 * @typedef {StepsMessage & {race?: string | null, meta?: any, notes?: string[], lanes?: Lane[],
 *   step_lanes?: number[], done?: boolean, end?: string, stopped?: boolean,
 *   error?: string | null, notice?: string | null, results?: (Result | null)[],
 *   analysis?: Analysis[], verdict?: Verdict | null, pool?: Pool | null}} RaceMessage
 */

/**
 * Whether a message is about further runs of a race that is over.
 * @param {RaceMessage} message
 * @returns {boolean}
 */
const isOfFurtherRuns = ({ pool, done }) => pool !== undefined && done === undefined;

const SHORT = 2; // seconds; shorter recorded races play at 0.25× until a speed is chosen

/** The state of the Race view. */
export class RaceStore extends Playback {
  following = new Following();
  hasHeard = false; // whether a message has arrived

  get what() {
    return /** @type {const} */ ("race");
  }

  /**
   * Forget the race, because another race follows.
   * @param {string | null} race the name of the next race
   */
  reset(race) {
    this.race = race;
    /** @type {any} */
    this.meta = {};
    /** @type {string[]} sentences about the choice of the trees */
    this.notes = [];
    /** @type {Lane[]} */
    this.lanes = [];
    /** @type {LaneTotals[]} */
    this.totals = [];
    this.forgetSteps();
    /** @type {number[]} the lane of each step */
    this.stepLanes = [];
    /** @type {(Result | null)[]} */
    this.results = [];
    /** @type {Analysis[]} */
    this.analysis = [];
    /** @type {Verdict | null} */
    this.verdict = null;
    /** @type {Pool | null} */
    this.pool = null;
    this.done = false;
    this.stopped = false;
    this.paused = false; // whether the requested steps were made, and the race can go on
    this.failed = false;
    this.error = null;
    this.notice = null;
    this.isEarlier = false; // whether the form was changed since the race appeared
    this.t = 0; // the race time shown, in seconds
    this.follow = true;
    this.playing = false;
    this.clock = 0; // for playback in steps per second: seconds since the last step
    this.before = null; // time of the previous frame, in milliseconds
    this.opened = false;
    this.version = (this.version || 0) + 1; // counts the calls of `reset`
    this.built = (this.built || 0) + 1; // counts how often `totals` was replaced
  }

  // -- messages ------------------------------------------------------------------------------

  /** @param {RaceMessage} message */
  take(message) {
    this.hasHeard = true;
    const race = message.race ?? null;
    if (isOfFurtherRuns(message) && race !== this.race) return; // the page shows another race
    if (race !== null && race !== this.race) this.reset(race);
    const before = this.steps.length;
    if (message.meta) this.meta = message.meta;
    message.step_lanes?.forEach((lane, k) => (this.stepLanes[message.from + k] = lane));
    this.takeSteps(message);
    if (message.lanes) this.takeLanes(message.lanes);
    else for (let i = before; i < this.steps.length; i++) this.add(i);
    this.takeState(message);
    this.settle();
    this.changed();
  }

  /** @param {RaceMessage} message */
  takeState(message) {
    if (message.done !== undefined) {
      this.done = Boolean(message.done);
      this.stopped = Boolean(message.stopped);
      this.paused = message.end === "paused";
    }
    const isOfItsSteps = (message.race ?? null) !== null && message.done !== undefined;
    if (message.error !== undefined && isOfItsSteps) this.failed = Boolean(message.error);
    for (const name of ["notes", "error", "notice", "results", "analysis", "verdict", "pool"])
      if (message[name] !== undefined) this[name] = message[name];
  }

  /** @param {number} i index of a step */
  add(i) {
    const step = this.steps[i];
    this.totals[this.stepLanes[i]].add(step, this.trees[step.tree].n);
  }

  /**
   * Take the lanes, and compute their totals again.
   * @param {Lane[]} lanes
   */
  takeLanes(lanes) {
    this.built += 1;
    this.lanes = lanes;
    this.totals = this.lanes.map(() => new LaneTotals());
    this.steps.forEach((_, i) => this.add(i));
  }

  /**
   * A step of a lane, prepared for a picture.
   * @param {number} lane
   * @param {number} i its index among the lane's steps
   * @returns {StepView | null} null if there is no such step
   */
  view(lane, i) {
    const step = this.totals[lane]?.steps[i];
    if (!step) return null;
    const meta = { ...this.meta, verifier: this.lanes[lane].verifier };
    return viewStep(step, this.trees[step.tree], this.pieces, meta);
  }

  /**
   * The number of rows of a lane's tallest tree so far.
   * @param {number} lane
   * @returns {number}
   */
  rows(lane) {
    return Math.max(1, ...this.totals[lane].steps.map(({ tree }) => this.trees[tree].rows));
  }

  /**
   * The lane that a lane is compared with: as in the verdict, or while there is none, as the lanes
   * stand at the time shown.
   * @param {number} lane
   * @returns {number} its index, which may be `lane` itself; -1 if there is none
   */
  base(lane) {
    const { verdict, lanes, totals, t } = this;
    if (!verdict) return referenceLane(lanes, totals, t, lane);
    return verdict.speedups[lane]?.over ?? lane;
  }

  // -- the moment shown ----------------------------------------------------------------------

  /** The most decode time of any lane so far, in seconds. */
  get end() {
    return Math.max(0, ...this.totals.map((total) => total.clock));
  }
  get last() {
    return this.end;
  }
  get state() {
    if (!this.race) return "none";
    if (!this.done) return "running";
    if (this.stopped) return "stopped";
    return this.failed ? "broken" : "finished";
  }
  /** Whether the race is over at the time shown. */
  get isOver() {
    return this.done && this.end > 0 && this.t >= this.end;
  }
  /** The finish line: the token limit, or if that is not known, the most tokens of any lane. */
  get line() {
    const most = this.meta.params?.max_new_tokens;
    return most > 0 ? most : Math.max(...this.totals.map((total) => total.at(this.end).tokens), 1);
  }

  /** Called after each message: play a new recorded race, or show the newest step if `follow`. */
  settle() {
    if (!this.end) return;
    if (!this.opened) {
      this.opened = true;
      const isShort = this.recorded && this.done && this.end < SHORT;
      if (!this.isRateChosen) this.rate = isShort ? "x0.25" : "x1";
      if (this.recorded) {
        this.play();
        return;
      }
    }
    if (this.follow) this.t = this.end;
  }

  /**
   * Show the state at a race time, and pause there.
   * @param {number} t seconds
   */
  seek(t) {
    if (!this.end || !Number.isFinite(t)) return;
    const shown = Math.max(0, Math.min(this.end, t));
    this.set({ follow: false, playing: false, t: shown });
  }

  /**
   * The nearest race time, after or before the time shown, at which a step ended. If there is none,
   * the end or the start of the race.
   * @param {number} by 1: after, -1: before
   * @returns {number}
   */
  beside(by) {
    const times = this.totals.map(({ sums }, i) => {
      const k = this.totals[i].count(this.t);
      const before = sums[k].seconds < this.t ? k : k - 1;
      return sums[by > 0 ? k + 1 : before]?.seconds;
    });
    const found = times.filter((time) => time !== undefined);
    return by > 0 ? Math.min(...found, this.end) : Math.max(...found, 0);
  }

  /** @param {number} by number of steps: 1 or -1 */
  step(by) {
    this.seek(this.beside(by));
  }

  goLive() {
    if (this.end) this.set({ playing: false, follow: true, t: this.end });
  }

  play() {
    if (!this.end) return;
    if (this.t >= this.end && this.done) this.t = 0;
    this.set({ playing: true, follow: false, clock: 0, before: null });
  }

  /**
   * Move the time shown. The rate "x0.25" is a quarter of real time, "s4" is 4 steps per second.
   * @param {number} now milliseconds
   */
  advance(now) {
    const passed = this.before ? Math.min((now - this.before) / 1000, SLOWEST_FRAME) : 0;
    const by = Number(this.rate.slice(1));
    this.before = now;
    if (this.rate[0] === "x") this.t = Math.min(this.end, this.t + passed * by);
    else this.advanceBySteps(passed, 1 / by);
    if (this.t < this.end) return;
    this.playing = false;
    this.follow = !this.done;
  }

  /**
   * @param {number} passed seconds since the previous frame
   * @param {number} pause seconds between two steps
   */
  advanceBySteps(passed, pause) {
    this.clock += passed;
    while (this.clock >= pause) {
      this.t = this.beside(1);
      this.clock -= pause;
    }
  }
}

/* The state of a view of a run: what has arrived, the lane and the moment shown, and the playback.
   The moment is a step of the chosen lane, and the time since that step began or ended. The other
   lanes are shown at the same time of their own clocks. Independent of the DOM. */
import { Arrived } from "./arrived.js";
import { CLOSE } from "./lane_run.js";
import { bestStep } from "./steps_to_show.js";
import { SLOWEST_FRAME, prefersStillness } from "../../shared/web/playback.js";
import { SHARES } from "../../shared/web/speeds.js";
import { SlowMotion } from "../../shared/web/step_motion.js";
import { LARGE } from "../../shared/web/tree_layout.js";

/**
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 * @import { LaneRun } from "./lane_run.js"
 */

const EASY = 5; // playing a recording should take at least this many seconds
const STEP = 0.2; // least seconds of a step at the rate "easy"

/** A run with its playback. */
export class RunStore extends Arrived {
  rate = "x1";
  isRateChosen = false; // whether the visitor chose the rate
  showsFigures = false; // whether the cards of the lanes show their figures
  /** @type {"focus" | "all" | null} which nodes are drawn; null: depends on the size of the
   * chosen lane's largest tree */
  mode = null;
  heat = false;
  query = "";
  isPaced = false; // whether a run that is not `recorded` is played instead of followed
  slow = new SlowMotion(this);

  reset(name) {
    super.reset(name);
    this.at = -1;
    this.follow = true; // whether the newest step is always shown
    this.playing = false;
    // whether it started to play by itself, and the visitor has not chosen a step or pressed Play
    // since
    this.opening = false;
    this.isWhole = false; // whether the whole text is shown beside one step
    // `slow` is not set yet when the base constructor calls `reset`
    if (this.slow) this.slow.picture = null;
    this.clock = 0; // seconds since the step in progress began
    this.after = 0; // seconds since the chosen lane ended, which another lane may have taken longer
    /** @type {number | null} time of the last call of `advance`, ms */
    this.before = null;
    this.forgetNodes();
  }

  forgetNodes() {
    /** @type {NodeId | null} */
    this.hover = null;
    /** @type {NodeId | null} */
    this.pin = null;
    /** @type {Set<string>} */
    this.opened = new Set();
  }

  /**
   * Show the steps of another lane, at the same moment.
   * @param {number} lane its index; nothing happens if there is none
   */
  choose(lane) {
    if (!this.lanes[lane] || lane === this.chosen) return;
    const { time } = this;
    this.chosen = lane;
    this.forgetNodes();
    this.stand(time);
    this.changed();
  }

  /**
   * Step `i` of the chosen lane as the panels need it.
   * @param {number} [i]
   * @returns {StepView | null} null if there is no such step
   */
  view(i = this.at) {
    return this.lane.view(i, this);
  }

  get focused() {
    return this.mode ? this.mode === "focus" : this.largest.n > LARGE;
  }

  // -- the step shown ----------------------------------------------------------------------------

  // When the first steps have arrived, opens the run. After that, shows the newest step if the run
  // is followed, or if it continues after a pause.
  settle(before) {
    if (!this.steps.length) return;
    if (before === 0 || this.at < 0) this.open();
    else if (this.follow) this.move(this.last);
    else if (this.hasPaused && this.last >= before && !this.playing) this.goOn(before);
  }

  // A paused run continues: show its new steps, from step `first` on.
  goOn(first) {
    if (!this.isPaced || prefersStillness()) return this.goLive();
    this.isWhole = false;
    this.move(first - 1);
    this.play();
  }

  // Follow the run, or play it from its start. A recording is not played if it has only one step,
  // or if the visitor's system asks for reduced motion.
  open() {
    this.follow = !this.recorded && !this.isPaced;
    this.at = this.follow ? this.last : 0;
    if (this.follow || (this.recorded && this.arrived.length === 1)) return;
    if (!this.isRateChosen) this.rate = this.recorded ? this.easyRate : "easy";
    if (this.recorded && prefersStillness()) return this.rest();
    if (this.rate === "slow") this.slow.picture = 0;
    this.play();
    this.opening = true;
    if (this.recorded && this.meta.opening) this.openSlowly();
  }

  // Play the first step in slow motion, unless the visitor chose a rate.
  openSlowly() {
    if (!this.isRateChosen) this.rate = "slow";
    this.slow.picture = this.rate === "slow" ? 0 : null;
  }

  // The fastest rate, up to real time, at which the whole takes at least EASY seconds. If there is
  // none, the slowest of SHARES.
  get easyRate() {
    const rate = SHARES.findLast((one) => this.end / one >= EASY) ?? SHARES[0];
    return this.end >= EASY ? "x1" : "x" + rate;
  }

  move(i) {
    const to = Math.max(0, Math.min(this.last, i));
    this.after = 0;
    if (this.last < 0 || to === this.at) return;
    const tree = this.steps[this.at]?.tree;
    this.at = to;
    this.slow.picture = null;
    this.hover = null;
    if (this.steps[to]?.tree !== tree) this.forgetNodes();
  }

  /**
   * Go to a step of the chosen lane and stay there.
   * @param {number} i
   * @param {{pin?: NodeId}} [options] the node to pin
   */
  seek(i, { pin } = {}) {
    if (this.last < 0) return;
    this.halt();
    this.slow.picture = null;
    this.move(Math.round(i));
    if (pin !== undefined) this.pin = pin;
    this.changed();
  }

  /**
   * Go to a moment and stay there.
   * @param {number} time in seconds of decode time
   */
  seekTime(time) {
    this.halt();
    this.stand(Math.max(0, Math.min(this.end, time)));
    this.changed();
  }

  seekEnd() {
    this.seekTime(this.end);
  }

  halt() {
    this.follow = false;
    this.playing = false;
    this.isWhole = false;
    this.opening = false;
  }

  // Show a moment. Within a step of the chosen lane, this is the picture of that moment.
  stand(time) {
    const { lane, last } = this;
    this.clock = 0;
    this.slow.picture = null;
    if (last < 0) this.at = -1;
    else if (this.follow) this.move(last);
    else if (this.isWhole) this.move(bestStep(this));
    else this.standAfter(lane.count(time), time);
  }

  // ended: how many steps of the chosen lane have ended by then.
  standAfter(ended, time) {
    const { lane } = this;
    const start = lane.until(ended - 1);
    const since = Math.max(0, time - start);
    this.move(ended - 1);
    if (ended > this.last) this.after = since;
    else if (this.playing && this.rate !== "slow")
      this.clock = ended && this.duration(ended) * (since / (lane.until(ended) - start));
    else if (!ended || since > CLOSE) this.standWithin(ended, since);
  }

  standWithin(i, since) {
    this.move(i);
    const line = this.slow.timeline();
    this.slow.picture = line.frameAtClock(since);
    this.clock = line.slowAt(since);
  }

  /** @param {number} by */
  step(by) {
    const isAtLast = this.at >= this.last && !this.slow.isInStep;
    if (by > 0 && isAtLast) this.seekEnd();
    else
      this.seek(isAtLast && this.time > this.lane.until(this.at) + CLOSE ? this.at : this.at + by);
  }

  /** Go to the newest step, and on to each new one. */
  goLive() {
    if (this.last < 0) return;
    this.halt();
    this.follow = true;
    this.move(this.last);
    this.changed();
  }

  // -- the moment shown --------------------------------------------------------------------------

  /** Index of the last step of the chosen lane whose tokens are in the text. */
  get written() {
    if (this.isWhole) return this.last;
    return this.slow.isInStep ? this.at - 1 : this.at;
  }

  /**
   * How many steps of a lane are in its text.
   * @param {LaneRun} lane
   * @returns {number}
   */
  shown(lane) {
    return lane === this.lane ? this.written + 1 : lane.count(this.time);
  }

  /** The moment shown, in seconds of decode time of each lane. */
  get time() {
    const { lane, at, end } = this;
    if (this.isWhole || this.follow) return end;
    const line = this.slow.picture === null ? null : this.slow.timeline();
    if (line) return lane.until(at - 1) + line.clockAt(this.clock);
    if (at >= this.last) return Math.min(end, lane.until(at) + this.after);
    if (!this.playing) return lane.until(at);
    const share = Math.min(1, this.clock / this.duration(at + 1));
    return lane.until(at) + (lane.until(at + 1) - lane.until(at)) * share;
  }

  /** Whether it is over at the moment shown. */
  get isOver() {
    return this.done && this.end > 0 && this.time >= this.end - CLOSE;
  }

  /** For how many seconds the slowest lane goes on after the chosen one. */
  get overtime() {
    return this.end - this.lane.seconds;
  }

  // Whether the chosen lane has ended, and only others go on.
  get isPastLane() {
    return this.done && this.at >= this.last && this.slow.picture === null;
  }

  /**
   * The node to explain: the one under the pointer or with the keyboard focus, else the pinned one,
   * else `decisive` of the StepView. Null if `view` returns null.
   */
  get selected() {
    const view = this.view();
    if (!view) return null;
    const fits = (node) =>
      node !== null && (node === "bonus" ? view.kind !== "none" : node < view.topo.n);
    return [this.hover, this.pin].find(fits) ?? view.decisive;
  }

  /**
   * Unfold a cell of the tree (see tree_layout.js), or fold it again.
   * @param {string} key
   */
  unfold(key) {
    if (!this.opened.delete(key)) this.opened.add(key);
    this.changed();
  }

  // -- the playback ------------------------------------------------------------------------------

  get live() {
    return this.follow && !this.playing;
  }

  /** Whether the moment shown moves on by itself. */
  get moves() {
    return this.playing || (this.follow && !this.done);
  }

  pause() {
    if (this.follow) this.after = this.overtime;
    this.playing = false;
    this.follow = false;
    this.changed();
  }

  toggle() {
    if (this.moves) this.pause();
    else this.play();
  }

  /** @param {string} rate that the visitor chose */
  chooseRate(rate) {
    // if paused in mid-step, stay at that moment
    this.set({ rate, clock: this.playing ? 0 : this.clock, isRateChosen: true });
  }

  /** Play from the moment shown, or from the start if that is the end. */
  play() {
    if (this.last < 0) return;
    const isSlow = this.rate === "slow";
    const isOver = this.isWhole || (this.isPastLane && this.isOver);
    const isPast = !isOver && this.isPastLane;
    if (isOver) this.move(0);
    else if (isSlow && this.slow.picture === null && !isPast) this.move(this.at + 1);
    if (isSlow && !isPast) this.slow.picture ??= 0;
    this.isWhole = false;
    const clock = isSlow ? this.slow.start : 0;
    this.set({ playing: true, follow: false, opening: false, clock, before: null });
  }

  /**
   * How long step `i` takes at the chosen rate.
   * @param {number} i
   * @returns {number} seconds
   */
  duration(i) {
    if (this.rate === "slow") return this.slow.timeline(i)?.seconds ?? STEP;
    const own = this.lane.until(i) - this.lane.until(i - 1);
    if (this.rate === "easy") return Math.max(own, STEP);
    const by = Number(this.rate.slice(1));
    return this.rate[0] === "s" ? 1 / by : own / by;
  }

  /**
   * Move on by the time since the last frame.
   * @param {number} now time of this frame in ms
   */
  advance(now) {
    const passed = this.before ? Math.min((now - this.before) / 1000, SLOWEST_FRAME) : 0;
    this.before = now;
    this.clock += passed;
    if (this.isPastLane && this.overtime > CLOSE) this.advanceOthers(passed);
    else if (this.rate === "slow") this.advanceSlowly();
    else this.advanceSteps();
  }

  advanceSteps() {
    this.slow.picture = null;
    while (this.at < this.last && this.clock >= this.duration(this.at + 1)) {
      this.clock -= this.duration(this.at + 1);
      this.move(this.at + 1);
    }
    if (this.at >= this.last) this.arrive();
  }

  // In slow motion, the step on screen is in progress. At other rates, the next step is. `clock` is
  // the time since the step in progress began.
  advanceSlowly() {
    while (this.clock >= this.duration(this.at)) {
      if (this.at >= this.last) return this.standAtResult();
      this.clock -= this.duration(this.at);
      if (this.opening && !this.isRateChosen) return this.speedUp();
      this.move(this.at + 1);
    }
    this.slow.follow(this.clock);
  }

  // The first step of an opening was shown in slow motion: play the rest faster.
  speedUp() {
    this.rate = this.easyRate;
    this.slow.picture = null;
  }

  // In slow motion, the newest step stands at its result until the next one arrives.
  standAtResult() {
    if (this.done) return this.arrive();
    this.clock = this.duration(this.at);
    this.slow.follow(this.clock);
  }

  arrive() {
    this.slow.picture = null;
    this.clock = 0;
    if (this.done && this.overtime <= CLOSE) this.rest();
  }

  // At a rate that is no share of real time, the others go on in real time.
  advanceOthers(passed) {
    this.after += passed * (this.rate[0] === "x" ? Number(this.rate.slice(1)) : 1);
    if (this.after >= this.overtime) this.rest();
  }

  // Stop playing. If `opening`, or if the visitor's system asks for reduced motion, show the best
  // step of the chosen lane beside the whole text.
  rest() {
    this.playing = false;
    this.after = this.overtime;
    if (this.opening || prefersStillness()) {
      this.move(bestStep(this));
      this.isWhole = true;
    }
    this.opening = false;
  }
}

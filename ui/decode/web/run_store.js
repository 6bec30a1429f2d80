/* The state of the Decode view: what has arrived of the run, the step shown, and the playback.
   Independent of the DOM. */
import { Following, Playback, SLOWEST_FRAME, prefersStillness } from "../../shared/web/playback.js";
import { PlainClock, RunTotals, SlotCounts } from "./run_totals.js";
import { SlowMotion } from "../../shared/web/step_motion.js";
import { bestStep } from "./steps_to_show.js";
import { LARGE } from "../../shared/web/tree_layout.js";
import { SHARES } from "../../shared/web/speeds.js";
import { viewStep } from "../../shared/web/step_view.js";

/**
 * @import { StepsMessage } from "../../shared/web/playback.js"
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 * @import { Totals } from "./run_totals.js"
 */

/**
 * A message from the server (ui/decode/messages.py). A message without `run` changes only `error`
 * and `notice`.
 * @typedef {StepsMessage & RunState} RunMessage
 * @typedef {object} RunState
 * @property {string} [run] name of the run
 * @property {Meta} [meta]
 * @property {boolean} [done]
 * @property {boolean} [again] whether further runs are being made for the verdict
 * @property {string} [end] why the run ended or paused
 * @property {string} [tail] text held back after the last token, such as an incomplete character
 * @property {string | null} [error]
 * @property {string | null} [notice]
 */

const EASY = 5; // playing a recorded run should take at least this many seconds
const STEP = 0.2; // least seconds of a step at the rate "easy"
const VIEWS_KEPT = 200;

/** A run with its playback. */
export class RunStore extends Playback {
  /** @type {"focus" | "all" | null} which nodes are drawn; null: depends on the size of the
   * run's largest tree */
  mode = null;
  heat = false;
  query = "";
  following = new Following();
  isPaced = false; // whether a run that is not `recorded` is played instead of followed
  plain = new PlainClock(this);
  slow = new SlowMotion(this);

  get what() {
    return /** @type {const} */ ("run");
  }

  /** @param {string | null} run */
  reset(run) {
    this.run = run;
    this.meta = {};
    this.forgetSteps();
    this.done = false;
    this.hasPaused = false; // whether the run had ended or paused before the newest step
    this.isRunAgain = false; // whether further runs are being made for the verdict
    /** @type {string | null} */
    this.end = null;
    this.tail = "";
    this.error = null;
    /** @type {string | null} */
    this.notice = null;
    this.at = -1;
    this.follow = true;
    this.playing = false;
    // whether the run started to play by itself, and the visitor has not chosen a step or pressed
    // Play since
    this.opening = false;
    this.isWhole = false; // whether the whole text is shown beside one step
    // `slow` is not set yet when the base constructor calls `reset`
    if (this.slow) this.slow.picture = null;
    this.clock = 0;
    /** @type {NodeId | null} */
    this.hover = null;
    /** @type {NodeId | null} */
    this.pin = null;
    /** @type {Set<string>} */
    this.opened = new Set();
    this.sums = new RunTotals();
    this.slots = new SlotCounts();
    /** @type {Map<number, StepView>} */
    this.views = new Map();
    this.version += 1;
  }

  // -- messages ----------------------------------------------------------------------------------

  /** @param {RunMessage} message */
  take(message) {
    if (message.run !== undefined && message.run !== this.run) this.reset(message.run);
    const before = this.steps.length;
    this.hasPaused ||= this.done;
    const { steps = [] } = message;
    if (message.meta) this.meta = message.meta;
    this.takeSteps(message);
    this.takeStatus(message);
    this.settle(before);
    if (steps.length) this.hasPaused = false;
    this.changed();
  }

  /** @param {RunMessage} message */
  takeStatus({ done, end = null, tail = "", again = false, error, notice }) {
    this.isRunAgain = again;
    if (done !== undefined) {
      this.done = Boolean(done);
      this.end = end;
      this.tail = String(tail);
    }
    if (error !== undefined) this.error = error;
    if (notice !== undefined) this.notice = notice;
  }

  put(step) {
    super.put(step);
    this.sums.add(step);
    this.slots.add(step, this.trees[step.tree]);
  }

  /**
   * How often the node at one position of a tree was accepted.
   * @param {number} tree
   * @param {number} node
   * @returns {number} the share of the steps with this tree, 0 to 1
   */
  share(tree, node) {
    return this.slots.share(tree, node);
  }

  /**
   * In how many steps the node at one position of a tree was accepted, and how many had the tree.
   * @param {number} tree
   * @param {number} node
   * @returns {[number, number]}
   */
  slotCounts(tree, node) {
    return this.slots.counts(tree, node);
  }

  /**
   * Totals of the run up to the end of step `i`.
   * @param {number} [i]
   * @returns {Totals}
   */
  totals(i = this.at) {
    return this.sums.upTo(i);
  }

  /**
   * Step `i` as the panels need it.
   * @param {number} [i]
   * @returns {StepView | null} null if there is no such step
   */
  view(i = this.at) {
    const step = this.steps[i];
    if (!step) return null;
    let view = this.views.get(i);
    if (!view) {
      view = viewStep(step, this.trees[step.tree], this.pieces, this.meta);
      if (this.views.size > VIEWS_KEPT) this.views.clear();
      this.views.set(i, view);
    }
    return view;
  }

  // -- the step shown ----------------------------------------------------------------------------

  /** Why the run ended or paused, as a key of run_words.js; null while it is in progress. */
  get ending() {
    // without `end`, as in a run file, the last step says why
    return this.done ? this.end || this.steps[this.last]?.finish || "stopped" : null;
  }

  get last() {
    return this.steps.length - 1;
  }

  get focused() {
    return this.mode ? this.mode === "focus" : this.largest.n > LARGE;
  }

  /**
   * The most nodes, rows and levels of any tree of the run. The layout uses these, so it does not
   * change when a step has a smaller tree.
   */
  get largest() {
    const most = (name, least) =>
      this.trees.reduce((top, topo) => Math.max(top, topo[name]), least);
    return { n: most("n", 0), rows: most("rows", 1), levels: most("levels", 1) };
  }

  // Called after each message. When the first steps have arrived, opens the run. After that, shows
  // the newest step if the run is followed, or if it continues after a pause.
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

  // Follow the run, or play it from its start. A recorded run is not played if it has only one
  // step, or if the visitor's system asks for reduced motion.
  open() {
    this.follow = !this.recorded && !this.isPaced;
    this.at = this.follow ? this.last : 0;
    if (this.follow || (this.recorded && this.steps.length === 1)) return;
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

  // The fastest rate, up to real time, at which the whole run takes at least EASY seconds. If there
  // is none, the slowest of SHARES.
  get easyRate() {
    const seconds = this.sums.seconds(this.last);
    const rate = SHARES.findLast((one) => seconds / one >= EASY) ?? SHARES[0];
    return seconds >= EASY ? "x1" : "x" + rate;
  }

  move(i) {
    const to = Math.max(0, Math.min(this.last, i));
    if (this.last < 0 || to === this.at) return;
    const tree = this.steps[this.at]?.tree;
    this.at = to;
    this.slow.picture = null;
    this.hover = null;
    if (this.steps[to]?.tree === tree) return;
    this.pin = null;
    this.opened = new Set();
  }

  /**
   * Go to a step and stay there.
   * @param {number} i
   * @param {{pin?: NodeId}} [options] the node to pin
   */
  seek(i, { pin } = {}) {
    if (this.last < 0) return;
    this.follow = false;
    this.playing = false;
    this.isWhole = false;
    this.opening = false;
    this.slow.picture = null;
    this.move(Math.round(i));
    if (pin !== undefined) this.pin = pin;
    this.changed();
  }

  /** @param {number} by */
  step(by) {
    this.seek(this.at + by);
  }

  /** Go to the newest step, and on to each new one. */
  goLive() {
    if (this.last < 0) return;
    this.playing = false;
    this.opening = false;
    this.isWhole = false;
    this.follow = true;
    this.move(this.last);
    this.changed();
  }

  play() {
    if (this.last < 0) return;
    const isOver = this.isWhole || (this.at >= this.last && this.slow.picture === null);
    if (isOver && this.done) this.move(0);
    else if (this.rate === "slow" && this.slow.picture === null) this.move(this.at + 1);
    this.isWhole = false;
    const clock = this.rate === "slow" ? this.slow.start : 0;
    this.set({ playing: true, follow: false, opening: false, clock, before: null });
  }

  // -- the moment shown --------------------------------------------------------------------------

  /** Index of the last step whose tokens are in the text. */
  get written() {
    if (this.isWhole) return this.last;
    return this.slow.isInStep ? this.at - 1 : this.at;
  }

  /** The moment shown, in seconds of the run's own clock. */
  get time() {
    const until = (i) => this.sums.seconds(i);
    if (this.isWhole) return until(this.last);
    const line = this.slow.picture === null ? null : this.slow.timeline();
    if (line) return until(this.at - 1) + line.clockAt(this.clock);
    if (!this.playing || this.at >= this.last) return until(this.at);
    const share = Math.min(1, this.clock / this.duration(this.at + 1));
    return until(this.at) + (until(this.at + 1) - until(this.at)) * share;
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

  // -- time and paint ----------------------------------------------------------------------------

  /**
   * How long step `i` takes at the chosen rate.
   * @param {number} i
   * @returns {number} seconds
   */
  duration(i) {
    if (this.rate === "slow") return this.slow.timeline(i)?.seconds ?? STEP;
    const own = this.sums.seconds(i) - this.sums.seconds(i - 1);
    if (this.rate === "easy") return Math.max(own, STEP);
    const by = Number(this.rate.slice(1));
    return this.rate[0] === "s" ? 1 / by : own / by;
  }

  /** @param {number} now */
  advance(now) {
    const passed = this.before ? Math.min((now - this.before) / 1000, SLOWEST_FRAME) : 0;
    this.before = now;
    this.clock += passed;
    if (this.rate === "slow") this.advanceSlowly();
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
    if (this.done) this.rest();
  }

  // Stop playing. If `opening`, or if the visitor's system asks for reduced motion, show the run's
  // best step beside the whole text.
  rest() {
    this.playing = false;
    if (this.opening || prefersStillness()) {
      this.move(bestStep(this));
      this.isWhole = true;
    }
    this.opening = false;
  }
}

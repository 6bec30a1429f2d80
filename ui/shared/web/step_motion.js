/* A step in slow motion, as a series of still pictures, when each of them begins and ends, and
   which of them is shown. First the draft adds one level after another. Then the target checks all
   nodes in one pass. Then the verifier walks through the tree and tries one child after another
   (the verifier Traversal: one path after another). The last picture shows the result. A picture is
   plain data; nothing here draws. */
import * as captions from "./step_words.js";

/**
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_layout.js"
 */

/** @typedef {"guess" | "check" | "walk" | "result"} Phase */

/**
 * One picture.
 * @typedef {object} StepFrame
 * @property {Phase} phase
 * @property {string[]} states of the nodes: those of StepView, or "hidden" (not drafted yet),
 *   "checked" (during the target's pass), or "drafted" (not decided)
 * @property {boolean} hasBonus whether the token from the target is visible
 * @property {number | null} trial index of the trial (of a child or a path) that is shown; null if
 *   none is
 * @property {string} words the caption
 * @property {number} hold seconds for which the picture is shown in slow motion
 */

// Seconds for which pictures are shown.
const LEVEL = 0.55;
const ALL_LEVELS = 2.6; // at most, for all levels together; the last one gets LEVEL more
const PASS = 1.6;
const TRIAL = 0.85;
const TURN = 1.9; // for the rejection that ends a chain's step, while the tree has a next guess
const ALL_TRIALS = 6; // at most, for all other trials together
const RESULT = 2.4;

/**
 * All pictures of a step.
 * @param {StepView} step
 * @returns {StepFrame[]}
 */
export function stepFrames(step) {
  return [...guesses(step), check(step), ...walk(step), result(step)];
}

/**
 * Whether a step has any picture of a phase.
 * @param {StepView} step
 * @param {Phase} phase
 * @returns {boolean}
 */
export function hasPhase({ topo, trials }, phase) {
  if (phase === "guess") return topo.levels > 1;
  return phase !== "walk" || trials.length > 0;
}

/** @type {(step: StepView) => StepFrame[]} */
function guesses(step) {
  const { topo } = step;
  const count = topo.levels - 1;
  const hold = Math.min(LEVEL, ALL_LEVELS / Math.max(count, 1));
  return Array.from({ length: count }, (_, k) => ({
    phase: "guess",
    states: drawnAs(step, (node) => (topo.depth[node] <= k + 1 ? "drafted" : "hidden")),
    hasBonus: false,
    trial: null,
    words: captions.guess(step, k + 1),
    hold: k + 1 < count ? hold : hold + LEVEL,
  }));
}

/** @type {(step: StepView) => StepFrame} */
const check = (step) => ({
  phase: "check",
  states: drawnAs(step, () => "checked"),
  hasBonus: false,
  trial: null,
  words: captions.check(step),
  hold: PASS,
});

// A picture after each trial.
/** @type {(step: StepView) => StepFrame[]} */
function walk(step) {
  const { trials, topo } = step;
  const hold = Math.min(TRIAL, ALL_TRIALS / Math.max(trials.length, 1));
  return trials.map((trial, i) => {
    const tried = new Map(trials.slice(0, i + 1).map((one) => [one.node, one.accepted]));
    const accepted = [...tried.keys()].filter((node) => tried.get(node));
    const chosen = new Map(accepted.map((node) => [topo.parents[node], node]));
    const isPassed = (node) => (chosen.get(topo.parents[node]) ?? node) !== node;
    const isDropped = (node) => {
      for (let up = topo.parents[node]; up > 0; up = topo.parents[up])
        if (tried.get(up) === false || isPassed(up)) return true;
      return false;
    };
    const stateOf = (node) => {
      if (tried.has(node)) return tried.get(node) ? "accepted" : "rejected";
      if (isDropped(node)) return "never";
      return isPassed(node) ? "untested" : "drafted";
    };
    return {
      phase: "walk",
      // with Traversal, an accepted path decides all nodes
      states: step.fromLeaves && trial.accepted ? step.state : drawnAs(step, stateOf),
      hasBonus: false,
      trial: i,
      words: captions.trialCaption(step, i),
      hold: captions.chainEnd(step) === i ? TURN : hold,
    };
  });
}

/** @type {(step: StepView) => StepFrame} */
const result = (step) => ({
  phase: "result",
  states: step.state,
  hasBonus: step.kind !== "none",
  trial: null,
  words: captions.result(step),
  hold: RESULT,
});

function drawnAs({ topo }, stateOf) {
  return topo.parents.map((_, node) => (node ? stateOf(node) : "root"));
}

/** For each phase of the pictures, the keys in a step's `seconds` whose times belong to it. */
const CLOCKS = { guess: ["draft"], check: ["verify"], walk: ["overhead"], result: [] };

// The seconds of each level's draft pass; null if they are not known.
/** @type {(step: StepView) => number[] | null} */
function levelTimes({ step, topo }) {
  const { level_seconds: seconds = [] } = step;
  return seconds.length === topo.levels - 1 ? seconds : null;
}

/** The pictures of one step, with their times on two clocks: slow motion and real time. */
export class StepTimeline {
  /** @type {number[]} end of each picture, in seconds of slow motion */
  ends = [];
  /** @type {number[]} end of each picture, in seconds of real time */
  clock = [];

  /** @param {StepView} step */
  constructor(step) {
    /** @type {StepFrame[]} */
    this.frames = stepFrames(step);
    const times = this.times(step.step.seconds ?? {}, levelTimes(step));
    let end = 0;
    let passed = 0;
    this.frames.forEach(({ hold }, i) => {
      end += hold;
      passed += times[i];
      this.ends.push(end);
      this.clock.push(passed);
    });
  }

  /** Length of the whole step in seconds of slow motion. */
  get seconds() {
    return this.ends.at(-1);
  }

  /**
   * When a picture begins in slow motion.
   * @param {number} i its index
   * @returns {number} seconds of slow motion
   */
  start(i) {
    return i ? this.ends[i - 1] : 0;
  }

  /**
   * The picture at a moment of slow motion.
   * @param {number} at seconds of slow motion
   * @returns {number} its index
   */
  frameAt(at) {
    const found = this.ends.findIndex((end) => at < end);
    return found < 0 ? this.ends.length - 1 : found;
  }

  /**
   * When a picture begins in real time.
   * @param {number} i its index
   * @returns {number} seconds
   */
  clockStart(i) {
    return i ? this.clock[i - 1] : 0;
  }

  /**
   * The picture at a moment of real time. A picture that took no time is skipped.
   * @param {number} at seconds
   * @returns {number} its index; after the end of the step, that of the last picture
   */
  frameAtClock(at) {
    const found = this.clock.findIndex((end) => at < end);
    return found < 0 ? this.clock.length - 1 : found;
  }

  /**
   * The first picture of a phase.
   * @param {string} phase
   * @returns {number} its index; -1 if the phase has no picture
   */
  first(phase) {
    return this.frames.findIndex((frame) => frame.phase === phase);
  }

  /**
   * Convert a moment of slow motion to real time.
   * @param {number} at seconds of slow motion
   * @returns {number} seconds of real time
   */
  clockAt(at) {
    const i = this.frameAt(at);
    const from = this.start(i);
    const before = this.clockStart(i);
    const share = Math.min(1, (at - from) / (this.ends[i] - from));
    return before + (this.clock[i] - before) * share;
  }

  /**
   * Convert a moment of real time to slow motion.
   * @param {number} at seconds of real time, before the end of the step
   * @returns {number} seconds of slow motion
   */
  slowAt(at) {
    const i = this.frameAtClock(at);
    const from = this.start(i);
    const before = this.clockStart(i);
    return from + (this.ends[i] - from) * ((at - before) / (this.clock[i] - before));
  }

  // The real seconds of each picture. The time of a phase without pictures is added to the check.
  times(seconds, levels) {
    const share = (phase) => {
      const count = this.frames.filter((frame) => frame.phase === phase).length;
      const total = CLOCKS[phase].reduce((sum, name) => sum + (seconds[name] ?? 0), 0);
      return count ? total / count : 0;
    };
    const each = Object.fromEntries(Object.keys(CLOCKS).map((phase) => [phase, share(phase)]));
    if (this.first("guess") < 0) each.check += seconds.draft ?? 0;
    if (this.first("walk") < 0) each.check += seconds.overhead ?? 0;
    return this.frames.map(({ phase }, i) => levels?.[i] ?? each[phase]);
  }
}

/** Which picture is shown. A subclass defines `step`, `turn` and `stand`. */
export class StepMotion {
  /** @type {number | null} index of the picture that is shown; null for the result */
  picture = null;
  /** @type {WeakMap<StepView, StepTimeline>} */
  #timelines = new WeakMap();

  /** @returns {StepView | null} the step on screen */
  get step() {
    throw new Error("a subclass must define `step`");
  }

  /** @type {(by: number) => void} shows the next picture (1) or the previous one (-1) */
  turn() {
    throw new Error("a subclass must define turn()");
  }

  /** @type {(picture: number | null) => void} shows one picture of the step; null: the result */
  stand() {
    throw new Error("a subclass must define stand()");
  }

  /**
   * Show the step's first picture of a phase. Nothing happens if the phase has no picture.
   * @param {string} phase
   */
  turnTo(phase) {
    const first = this.line?.first(phase) ?? -1;
    if (first >= 0) this.stand(first);
  }

  /**
   * The pictures of a step with their times.
   * @param {StepView | null} step
   * @returns {StepTimeline | null}
   */
  timelineOf(step) {
    if (!step) return null;
    if (!this.#timelines.has(step)) this.#timelines.set(step, new StepTimeline(step));
    return this.#timelines.get(step);
  }

  /** The pictures of the step on screen, with their times; null if there is no step. */
  get line() {
    return this.timelineOf(this.step);
  }

  /** Index of the last picture, the result. */
  get most() {
    return (this.line?.frames.length ?? 1) - 1;
  }

  /** @returns {StepFrame | null} the picture at index `picture`; null if `picture` is null, or if
   *   there is no step */
  get shown() {
    return this.picture === null ? null : (this.line?.frames[this.picture] ?? null);
  }

  /** Whether the picture that is shown comes before the result. */
  get isInStep() {
    return this.shown !== null && this.shown.phase !== "result";
  }

  /** @type {number | null} the node whose trial the picture shows; null if it shows none */
  get tried() {
    const index = this.shown?.trial ?? null;
    return index === null ? null : this.step.trials[index].node;
  }

  /**
   * The node that the card beside the picture is about. Before the result: the node that is tried,
   * or null if none is. At the result: the token from the target, if there is one and the step has
   * residuals. Otherwise: the step's `decisive` node. Without a step: null.
   * @returns {NodeId | null}
   */
  get explained() {
    if (!this.step) return null;
    if (this.isInStep) return this.tried;
    const { residualHeads, kind, decisive } = this.step;
    return residualHeads.length && kind !== "none" ? "bonus" : decisive;
  }

  /**
   * The state of a node in the picture.
   * @param {NodeId} node
   * @returns {string}
   */
  stateOf(node) {
    const { shown, step } = this;
    if (!shown) return step.stateOf(node);
    if (node === "bonus") return shown.hasBonus ? step.kind : "hidden";
    return shown.states[node];
  }

  /** How the speed of the pictures compares with real time, in words. */
  get pace() {
    return "in slow motion, not to scale";
  }

  /** When the current picture begins, in seconds of slow motion; 0 if `picture` is null. */
  get start() {
    return this.picture === null ? 0 : (this.line?.start(this.picture) ?? 0);
  }

  /**
   * Turn to the picture at a moment of slow motion.
   * @param {number} clock seconds of slow motion since the step began
   */
  follow(clock) {
    this.picture = this.line?.frameAt(clock) ?? null;
  }
}

/**
 * @typedef {object} Stepped a run with the step on screen: its index, that of the last step, and
 *   how to get and choose a step
 * @property {number} at
 * @property {number} last
 * @property {(i?: number) => StepView | null} view
 * @property {(i: number) => void} seek
 * @property {(values: {clock: number}) => void} set
 */

/** The pictures of a step of a run, then those of its next step, and so on. */
export class SlowMotion extends StepMotion {
  /** @param {Stepped} store */
  constructor(store) {
    super();
    this.store = store;
  }

  get step() {
    return this.store.view();
  }

  /**
   * The pictures of step `i`.
   * @param {number} [i]
   * @returns {StepTimeline | null} null if the step is missing
   */
  timeline(i = this.store.at) {
    return this.timelineOf(this.store.view(i));
  }

  /**
   * Show the next or the previous picture. After a step's last picture comes the first picture of
   * the next step. Before a step's first picture comes the last picture of the step before.
   * @param {number} by 1 for the next picture, -1 for the previous one
   */
  turn(by) {
    const { at, last } = this.store;
    const { most } = this;
    const to = (this.picture ?? most) + by;
    if (to > most && at < last) this.show(at + 1, 0);
    else if (to < 0 && at > 0) this.show(at - 1, null);
    else this.stand(Math.max(0, Math.min(most, to)));
  }

  stand(picture) {
    this.show(this.store.at, picture);
  }

  show(i, picture) {
    this.store.seek(i);
    this.picture = picture === null || picture >= this.most ? null : picture;
    this.store.set({ clock: this.start });
  }
}

/* What runs and races share: the steps that have arrived, the playback, which moves through time,
   and the painters, called once per frame. Independent of the DOM. */
import { topology } from "./tree_layout.js";

/**
 * @import { Step } from "./step_view.js"
 * @import { Topology } from "./tree_layout.js"
 */

/**
 * The part of a message that has steps.
 * @typedef {object} StepsMessage
 * @property {number} [from] index of the first of `steps`
 * @property {number[][]} [trees] the trees that no earlier message had, each as the parents of its
 *   nodes; if `from` is 0, all trees so far
 * @property {Record<string, string>} [pieces] texts by token id: those that no earlier message had
 * @property {Step[]} [steps]
 */

/** A frame advances by at most this many seconds, so that a tab that slept does not jump ahead. */
export const SLOWEST_FRAME = 0.25;
const PAINTS_KEPT = 600;

/** @returns {boolean} whether the visitor's system asks for no motion */
export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The common part; a subclass adds the methods that throw here. */
export class Playback {
  /** @type {Record<string, any>} */
  meta = {};
  /** @type {string | null} */
  error = null;
  done = false; // whether the run or race has ended or paused
  follow = true; // whether the newest step is always shown
  playing = false;
  rate = "x1";
  isRateChosen = false; // whether the visitor chose the rate
  clock = 0; // seconds since the step in progress began
  /** @type {number | null} time of the last call of `advance`, ms */
  before = null;
  frame = 0;
  version = 0; // counts the calls of `reset`
  /** @type {((store: any) => void)[]} */
  listeners = [];
  /** @type {number[]} durations of the last paints in ms, for tests */
  paints = [];

  constructor() {
    this.reset(null);
  }

  /** @type {(name: string | null) => void} forgets the run or race on screen, and begins `name` */
  reset() {
    throw new Error("a subclass must define reset()");
  }

  /** @returns {"run" | "race"} the field that has the name of what is on screen */
  get what() {
    throw new Error("a subclass must define what");
  }

  /**
   * Take a message.
   * @type {(message: any) => void}
   */
  take() {
    throw new Error("a subclass must define take()");
  }

  // -- the steps that have arrived ---------------------------------------------------------------

  forgetSteps() {
    /** @type {Topology[]} */
    this.trees = [];
    /** @type {Map<string, string>} */
    this.pieces = new Map();
    /** @type {Step[]} */
    this.steps = [];
  }

  /** @param {StepsMessage} message */
  takeSteps({ from = this.steps.length, steps = [], trees = [], pieces = {} }) {
    const before = this.steps.length;
    // A message that begins with the first step has all trees so far.
    const first = from === 0 ? 0 : this.trees.length;
    const isRepeated = steps.length > 0 && from + steps.length <= before;
    if (!isRepeated) trees.forEach((tree, k) => (this.trees[first + k] ??= topology(tree)));
    for (const [id, text] of Object.entries(pieces)) this.pieces.set(id, text);
    for (const step of steps.slice(before - from)) this.put(step);
  }

  /** @param {Step} step the next one */
  put(step) {
    this.steps.push(step);
  }

  // -- the playback ------------------------------------------------------------------------------

  /** Play from the current point, or from the start if the current point is the end. */
  play() {
    throw new Error("a subclass must define play()");
  }

  /**
   * Move on by the time since the last frame.
   * @param {number} _now time of this frame in ms
   * @returns {void}
   */
  advance(_now) {
    throw new Error("a subclass must define advance()");
  }

  /**
   * Take a message, unless steps before it are missing.
   * @param {any} message
   */
  ingest(message) {
    if (this.lacksSteps(message))
      this.set({ error: "Some steps did not arrive. Reload the page." });
    else this.take(message);
  }

  /**
   * @param {any} message
   * @returns {boolean} whether steps before those of the message did not arrive
   */
  lacksSteps(message) {
    const isSame = message[this.what] === this[this.what];
    return (message.from ?? 0) > (isSame ? this.steps.length : 0);
  }

  // Whether the run is shown as recorded: always if labelled "recorded", never if "measured". Any
  // other run, such as a simulated one, is shown as recorded after it has ended or paused.
  get recorded() {
    const { label } = this.meta;
    return label === "recorded" || (label !== "measured" && this.done);
  }

  /** Source of the numbers on screen: "measured", "recorded" or "simulated"; "" if unknown. */
  get word() {
    return this.meta.label || "";
  }

  get live() {
    return this.follow && !this.playing;
  }

  pause() {
    this.playing = false;
    this.follow = false;
    this.changed();
  }

  toggle() {
    if (this.playing || (this.follow && !this.done)) this.pause();
    else this.play();
  }

  /** @param {string} rate that the visitor chose */
  chooseRate(rate) {
    // if paused in mid-step, stay at that moment
    this.set({ rate, clock: this.playing ? 0 : this.clock, isRateChosen: true });
  }

  /** @param {Record<string, any>} values of fields */
  set(values) {
    Object.assign(this, values);
    this.changed();
  }

  /** @param {(store: any) => void} listener */
  onPaint(listener) {
    this.listeners.push(listener);
  }

  /** Have the next frame painted. Several calls before that frame cause only one paint. */
  changed() {
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.paint(now));
  }

  paint(now) {
    this.frame = 0;
    if (this.playing) this.advance(now);
    const start = performance.now();
    for (const listener of this.listeners) listener(this);
    this.paints.push(performance.now() - start);
    if (this.paints.length > PAINTS_KEPT) this.paints.shift();
    if (this.playing) this.changed();
  }
}

/**
 * The fields of a message that matter for following. `wait`: the visitor's own run is waiting;
 * `follow`: another visitor's run can be followed; `followed`: the message is about another
 * visitor's run.
 * @typedef {{run?: string, race?: string | null, wait?: object, follow?: boolean,
 *   followed?: boolean, error?: string | null, notice?: string | null}} Message
 */

/** The state of following in one view. */
export class Following {
  canFollow = false; // whether there is another visitor's run to follow
  isFollowed = false; // whether the run on screen is another visitor's
  isWaiting = false; // whether the visitor's own run is waiting
  // whether the visitor asked to follow; reset when a run is shown that is not another visitor's
  isWanted = false;

  /**
   * Update the state from a message. Errors and notices about another visitor's run are not shown.
   * While the visitor's own run waits, the notice on screen is kept.
   * @template {Message} M
   * @param {M} message
   * @param {string | null} notice that is on screen
   * @returns {M | null} the message to show; null if it is about another visitor's run and the
   *   visitor does not want to follow
   */
  note(message, notice) {
    if (message.followed) return this.noteFollowed(message, notice);
    if (message.run ?? message.race) {
      this.isFollowed = false;
      this.isWanted = false;
    }
    this.canFollow = Boolean(message.follow);
    this.isWaiting = Boolean(message.wait);
    return message;
  }

  noteFollowed(message, notice) {
    if (!this.isWanted) return null;
    this.isFollowed = true;
    return { ...message, error: undefined, notice: this.isWaiting ? notice : undefined };
  }

  /**
   * Whether to offer to follow a run.
   * @param {boolean} isOver whether the run on screen has ended or paused
   * @returns {boolean}
   */
  isOffered(isOver) {
    return this.canFollow && (!this.isFollowed || isOver);
  }
}

/* What runs and races share: the steps that have arrived, the playback, which moves through time,
   and the painters, called once per frame. Independent of the DOM. */
import { topology } from "./tree_layout.js";

/**
 * @import { Server } from "./connect_component.js"
 * @import { Step } from "./step_view.js"
 * @import { Topology } from "./tree_layout.js"
 */

/**
 * The part of a message that has steps.
 * @typedef {object} StepsMessage
 * @property {number} [from] index of the first of `steps`
 * @property {number[][]} [trees] the trees that no earlier message had, each as the parents of its
 *   nodes; in an answer to `get_steps`, all trees
 * @property {Record<string, string>} [pieces] texts by token id: those that no earlier message had;
 *   in an answer to `get_steps`, all of them
 * @property {Step[]} [steps]
 */

/** A frame advances by at most this many seconds, so that a tab that slept does not jump ahead. */
export const SLOWEST_FRAME = 0.25;
const PAINTS_KEPT = 600;
let files = 0; // number of files opened on this page

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
  /** @type {string | null} */
  lastRaw = null;
  /** @type {((store: any) => void)[]} */
  listeners = [];
  /** @type {number[]} durations of the last paints in ms, for tests */
  paints = [];

  /** @param {Server} [server] */
  constructor(server) {
    this.server = server || {};
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
   * Take a message. `refill` says whether this page had asked for it, because steps were missing.
   * @type {(message: any, refill: boolean) => void}
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
    /** @type {(Step | null)[]} null where one is missing */
    this.steps = [];
    /** @type {{a: number, b: number} | null} steps from a to b - 1 did not arrive */
    this.gap = null;
  }

  /**
   * @param {StepsMessage} message
   * @param {boolean} refill whether the message answers `get_steps`
   */
  takeSteps({ from = this.steps.length, steps = [], trees = [], pieces = {} }, refill) {
    const before = this.steps.length;
    const isRepeated = !refill && steps.length > 0 && from + steps.length <= before;
    // An answer to `get_steps` contains all trees so far, and so does the first message.
    const first = refill || from === 0 ? 0 : null;
    if (!isRepeated) addTrees(this.trees, trees.map(topology), first, steps);
    for (const [id, text] of Object.entries(pieces)) this.pieces.set(id, text);
    if (from > before) this.missing(before, from);
    steps.forEach((step, k) => {
      if (!this.steps[from + k]) this.put(from + k, step);
    });
  }

  /**
   * @param {number} i
   * @param {Step} step
   */
  put(i, step) {
    this.steps[i] = step;
  }

  // Steps a to b - 1 did not arrive: reserve their indices, show the gap, and ask for them once.
  missing(a, b) {
    for (let i = a; i < b; i++) this.steps[i] = null;
    this.gap = { a: this.gap?.a ?? a, b };
    if (typeof this.server.get_steps === "function") this.ask(a);
  }

  async ask(from) {
    const { what } = this;
    const name = this[what];
    try {
      const answer = await this.server.get_steps([name, from]);
      const message = typeof answer === "string" ? JSON.parse(answer) : answer;
      if (!message || this[what] !== name) return;
      this.take({ ...message, [what]: name, done: undefined, notice: undefined }, true);
      if (!this.steps.includes(null)) this.gap = null;
      this.changed();
    } catch {
      // the view still shows the gap
    }
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
   * Take a message or a whole run file. Empty values are ignored, and so is a text equal to the
   * last one. A value that is neither an object nor the JSON text of an object sets `error`.
   * @param {any} value as JSON text or as an object
   */
  ingest(value) {
    const isText = typeof value === "string";
    if (value === null || value === undefined || value === "") return;
    if (isText && value === this.lastRaw) return;
    const message = isText ? parsed(value) : value;
    if (!message || typeof message !== "object" || Array.isArray(message)) {
      this.set({ error: "A message from the server could not be read." });
      return;
    }
    this.take(message.format === "sequoia-run" ? fromFile(message) : message, false);
    if (isText) this.lastRaw = value;
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

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const fromFile = (file) => ({ ...file, run: "file-" + ++files, from: 0, done: true });

/**
 * Add the trees of a message to those known. A tree that is known stays the same object.
 * @template T
 * @param {T[]} known by number; empty where a tree has not arrived. New trees are added here
 * @param {T[]} trees of the message, with consecutive numbers
 * @param {number | null} first the number of the first of them; null: find it from the steps
 * @param {{tree: number}[]} steps of the message
 */
export function addTrees(known, trees, first, steps) {
  const start = first ?? firstNew(trees.length, steps) ?? known.length;
  trees.forEach((tree, k) => (known[start + k] ??= tree));
}

// The number of the first of `count` new trees. New trees have the highest numbers, and the steps
// of the same message use all of them. Null if the message has no steps that use them.
/** @type {(count: number, steps: {tree: number}[]) => number | null} */
function firstNew(count, steps) {
  const first = Math.max(...steps.map(({ tree }) => tree)) + 1 - count;
  return first >= 0 && Number.isFinite(first) ? first : null;
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

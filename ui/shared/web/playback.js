/* The playback that runs and races share: it takes messages, moves through time, and calls painters
   once per frame. Independent of the DOM. */

/** @import { Server } from "./connect_component.js" */

/** A frame advances by at most this many seconds, so that a tab that slept does not jump ahead. */
export const SLOWEST_FRAME = 0.25;
const PAINTS_KEPT = 600;
let files = 0; // number of files opened on this page

/** @returns {boolean} whether the visitor's system asks for no motion */
export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The common part; a subclass adds the four methods that throw here. */
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

  /**
   * Take a message. `refill` says whether this page had asked for it, because steps were missing.
   * @type {(message: any, refill: boolean) => void}
   */
  take() {
    throw new Error("a subclass must define take()");
  }

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

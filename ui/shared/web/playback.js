/* What a run and a race have in common on the page: messages come in, a point in time is shown, and
   frames are painted. Independent of the DOM. */

/** @import { Server } from "./connect_component.js" */

/** Seconds; a tab that was asleep does not jump ahead by the time it slept. */
export const SLOWEST_FRAME = 0.25;
const PAINTS_KEPT = 600;
let files = 0; // opened on this page

/** @returns {boolean} whether the visitor's system asks for no motion */
export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The common part; a subclass adds the four methods that throw here. */
export class Playback {
  /** @type {Record<string, any>} */
  meta = {};
  /** @type {string | null} */
  error = null;
  done = false; // no more messages come
  follow = true; // the newest is shown
  playing = false;
  rate = "x1";
  isRateChosen = false; // by the visitor
  /** @type {number | null} when the last frame was advanced, ms */
  before = null;
  frame = 0;
  version = 0; // of the run or race, counted on this page
  /** @type {string | null} */
  lastRaw = null;
  /** @type {((store: any) => void)[]} */
  listeners = [];
  /** @type {number[]} milliseconds of the last paints, for tests */
  paints = [];

  /** @param {Server} [server] */
  constructor(server) {
    this.server = server || {};
    this.reset(null);
  }

  /** @type {(name: string | null) => void} forgets everything of the run or race before */
  reset() {
    throw new Error("a subclass resets");
  }

  /** @type {(message: any, refill: boolean) => void} takes a message, or the answer to a gap */
  take() {
    throw new Error("a subclass takes");
  }

  /** Play from here, or from the start where this is the end. */
  play() {
    throw new Error("a subclass plays");
  }

  /**
   * Move on to the time of a frame.
   * @param {number} _now in ms
   * @returns {void}
   */
  advance(_now) {
    throw new Error("a subclass advances");
  }

  /**
   * Take a message or a whole run file. Never throws: what cannot be read becomes `error`.
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

  // A simulated run that comes as a whole is from a file, as a recorded one is.
  get recorded() {
    const { label } = this.meta;
    return label === "recorded" || (label !== "measured" && this.done);
  }

  /** Where the numbers on screen come from: "measured" or "recorded". */
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
    this.set({ rate, clock: 0, isRateChosen: true });
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

  /** However often this is called, one frame paints once, and paints the newest state only. */
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

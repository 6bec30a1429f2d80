/* What a run and a race have in common on the page: messages come in, a point in time is shown, and a
   frame is painted. Knows no elements. */

/** Seconds; a tab that was asleep does not jump ahead by the time it slept. */
export const SLOWEST_FRAME = 0.25;
const PAINTS_KEPT = 600;
let files = 0; // opened on this page

/** A subclass has `reset(name)`, `take(message, refill)`, `play()` and `advance(now)`. */
export class Playback {
  constructor(server) {
    this.server = server || {};
    this.listeners = [];
    this.paints = []; // milliseconds of the last paints, for tests
    this.rate = "x1";
    this.frame = 0;
    this.reset(null);
  }

  /** A message, or a whole run file, as JSON text or as an object. Never throws: what cannot be read becomes `error`. */
  ingest(value) {
    if (value === null || value === undefined || value === "") return;
    if (typeof value === "string" && value === this.lastRaw) return;
    let message = value;
    if (typeof value === "string") {
      try {
        message = JSON.parse(value);
      } catch {
        message = null;
      }
    }
    if (!message || typeof message !== "object" || Array.isArray(message)) {
      this.error = "A message from the server could not be read.";
      return this.changed();
    }
    if (message.format === "sequoia-run")
      message = { ...message, run: "file-" + ++files, from: 0, done: true };
    this.take(message, false);
    if (typeof value === "string") this.lastRaw = value;
  }

  get recorded() {
    return this.meta.label === "recorded" || (!this.meta.label && this.done);
  }

  /** Where the numbers on screen come from: "measured" or "recorded". */
  get word() {
    return this.meta.label || "";
  }

  get live() {
    return this.follow && !this.playing;
  }

  pause() {
    this.playing = this.follow = false;
    this.changed();
  }

  toggle() {
    if (this.playing || (this.follow && !this.done)) this.pause();
    else this.play();
  }

  set(values) {
    Object.assign(this, values);
    this.changed();
  }

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
    if (this.paints.length > 600) this.paints.shift();
    if (this.playing) this.changed();
  }
}

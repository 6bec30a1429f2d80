/* Plays one step picture by picture. In slow motion, each picture stays long enough to be read.
   Otherwise the pictures keep the times that the step really took, at real speed or a fraction of
   it. */
import { SLOWEST_FRAME, prefersStillness } from "./playback.js";
import { STEP_RATES } from "./speeds.js";
import { StepMotion } from "./step_motion.js";

/**
 * @import { StepRate } from "./speeds.js"
 * @import { StepView } from "./step_view.js"
 */

/** Plays a step. */
export class StepPlayer extends StepMotion {
  /** @type {StepView | null} */
  #step = null;
  #rate = /** @type {StepRate} */ ("slow");
  #frame = 0; // id of the requested animation frame; 0: none
  #before = 0; // time of the last frame in ms; 0: none yet
  clock = 0; // seconds since the step began: slow-motion seconds at the rate "slow", else real ones
  playing = false;

  /** @param {() => void} changed called when the picture, the rate or `playing` changes. `take` and
   *   `pause` do not call it */
  constructor(changed) {
    super();
    this.changed = changed;
  }

  get step() {
    return this.#step;
  }

  /** The rate that was set; "slow" for a step without times. */
  get rate() {
    const isUntimed = this.#step && !this.#step.step.seconds;
    return isUntimed ? "slow" : this.#rate;
  }

  get pace() {
    const [, name] = STEP_RATES.find(([rate]) => rate === this.rate);
    return this.rate === "slow" ? super.pace : "at " + name;
  }

  /**
   * Show the result of a step. If the step is shown already, nothing changes.
   * @param {StepView | null} step
   */
  take(step) {
    if (step === this.#step) return;
    this.#step = step;
    this.pause();
    this.picture = null;
  }

  /** @param {StepRate} rate */
  setRate(rate) {
    this.#rate = rate;
    this.clock = this.begin();
    this.changed();
  }

  // -- picture by picture -------------------------------------------------------------------------

  turn(by) {
    const to = (this.picture ?? this.most) + by;
    this.stand(Math.max(0, Math.min(this.most, to)));
  }

  /**
   * Stop playing and show one picture.
   * @param {number | null} picture null: the result
   */
  stand(picture) {
    this.playing = false;
    this.picture = picture === null || picture >= this.most ? null : picture;
    this.clock = this.begin();
    this.changed();
  }

  // -- playing ------------------------------------------------------------------------------------

  /** Play from the current picture, or from the first one if the result is shown. If the visitor's
   * system asks for reduced motion, show that picture without playing. */
  play() {
    if (!this.#step) return;
    if (prefersStillness()) this.stand(this.picture ?? 0);
    else this.#start();
  }

  #start() {
    this.picture ??= 0;
    this.clock = this.begin();
    this.playing = true;
    this.#before = 0;
    this.#next();
    this.changed();
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  toggle() {
    if (this.playing) {
      this.pause();
      this.changed();
    } else this.play();
  }

  // The value of `clock` when the current picture begins; 0 if `picture` is null.
  begin() {
    if (this.rate === "slow") return this.start;
    return this.picture === null ? 0 : (this.line?.clockStart(this.picture) ?? 0);
  }

  #next() {
    if (!this.#frame) this.#frame = requestAnimationFrame((now) => this.#tick(now));
  }

  #tick(now) {
    this.#frame = 0;
    if (!this.playing) return;
    const passed = this.#before ? Math.min((now - this.#before) / 1000, SLOWEST_FRAME) : 0;
    this.#before = now;
    const old = this.picture;
    this.advance(passed);
    if (this.picture !== old || !this.playing) this.changed();
    if (this.playing) this.#next();
  }

  /**
   * Move on by the time that has passed.
   * @param {number} passed seconds
   */
  advance(passed) {
    const { line } = this;
    const isSlow = this.rate === "slow";
    this.clock += isSlow ? passed : passed * Number(this.rate.slice(1));
    const total = isSlow ? line.seconds : line.clock.at(-1);
    if (this.clock >= total) this.finish();
    else this.picture = isSlow ? line.frameAt(this.clock) : line.frameAtClock(this.clock);
  }

  finish() {
    this.playing = false;
    this.picture = null;
    this.clock = 0;
  }
}

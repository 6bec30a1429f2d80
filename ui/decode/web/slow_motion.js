/* Slow motion: which picture of the step is shown, and how one goes from picture to picture. */
import { StepTimeline } from "../../shared/web/step_timeline.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { StepFrame } from "../../shared/web/step_frames.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 */

/** The slow motion of one run. */
export class SlowMotion {
  /** @type {number | null} index of the picture of the step; null: its result */
  picture = null;
  /** @type {WeakMap<StepView, StepTimeline>} */
  #timelines = new WeakMap();

  /** @param {RunStore} store */
  constructor(store) {
    this.store = store;
  }

  /**
   * The pictures of step `i`.
   * @param {number} [i]
   * @returns {StepTimeline | null} null where the step is missing
   */
  timeline(i = this.store.at) {
    const view = this.store.view(i);
    if (!view) return null;
    if (!this.#timelines.has(view)) this.#timelines.set(view, new StepTimeline(view));
    return this.#timelines.get(view);
  }

  /** @returns {StepFrame | null} the picture that is shown, where that is not the result */
  get shown() {
    return this.picture === null ? null : (this.timeline()?.frames[this.picture] ?? null);
  }

  /** Whether the step on screen is not over yet. */
  get isInStep() {
    return this.shown !== null && this.shown.phase !== "result";
  }

  /** When the picture that is shown begins, in seconds of slow motion. */
  get start() {
    return this.picture === null ? 0 : (this.timeline()?.start(this.picture) ?? 0);
  }

  /**
   * Show the next picture of the step, or the one before; beyond its last and first, of the steps
   * beside it.
   * @param {number} by
   */
  turn(by) {
    const { at, last } = this.store;
    const most = (this.timeline()?.frames.length ?? 1) - 1;
    const to = (this.picture ?? most) + by;
    if (to > most && at < last) this.show(at + 1, 0);
    else if (to < 0 && at > 0) this.show(at - 1, null);
    else this.show(at, Math.max(0, Math.min(most, to)));
  }

  /**
   * Show the first picture of a phase of the step.
   * @param {string} phase
   */
  turnTo(phase) {
    const first = this.timeline()?.first(phase) ?? -1;
    if (first >= 0) this.show(this.store.at, first);
  }

  show(i, picture) {
    this.store.seek(i);
    const most = (this.timeline()?.frames.length ?? 1) - 1;
    this.picture = picture === null || picture >= most ? null : picture;
    this.store.set({ clock: this.start });
  }

  /**
   * Show the picture at a moment of slow motion.
   * @param {number} clock seconds since the step began
   */
  follow(clock) {
    this.picture = this.timeline()?.frameAt(clock) ?? null;
  }
}

/* The slow motion of a run: the pictures of a step, then those of the next step, and so on. */
import { StepMotion } from "../../shared/web/step_motion.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { StepTimeline } from "../../shared/web/step_motion.js"
 */

/** The slow motion of one run. */
export class SlowMotion extends StepMotion {
  /** @param {RunStore} store */
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
    else this.show(at, Math.max(0, Math.min(most, to)));
  }

  /**
   * Show the step's first picture of a phase. Nothing happens if the phase has no picture.
   * @param {string} phase
   */
  turnTo(phase) {
    const first = this.line?.first(phase) ?? -1;
    if (first >= 0) this.show(this.store.at, first);
  }

  show(i, picture) {
    this.store.seek(i);
    this.picture = picture === null || picture >= this.most ? null : picture;
    this.store.set({ clock: this.start });
  }
}

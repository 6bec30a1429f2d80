/* The slow motion of a run: the pictures of a step, then those of the next step, and so on. */
import { StepMotion } from "../../shared/web/step_motion.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { StepTimeline } from "../../shared/web/step_timeline.js"
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
   * Show the next picture, or the previous one. The picture after the last one of a step is the
   * first one of the next step, and the other way round.
   * @param {number} by 1 or -1
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
   * Show the first picture of a phase of the step, if it has one.
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

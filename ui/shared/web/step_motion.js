/* Slow motion of a step: which of its pictures is shown. Independent of the DOM. */
import { StepTimeline } from "./step_timeline.js";

/**
 * @import { StepFrame } from "./step_frames.js"
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_scene.js"
 */

/** The picture that is shown; a subclass turns to others. */
export class StepMotion {
  /** @type {number | null} index of the picture of the step; null: its result */
  picture = null;
  /** @type {WeakMap<StepView, StepTimeline>} */
  #timelines = new WeakMap();

  /** @returns {StepView | null} the step on screen */
  get step() {
    throw new Error("a subclass has the step");
  }

  /** @type {(by: number) => void} shows the next picture, or with -1 the one before */
  turn() {
    throw new Error("a subclass turns");
  }

  /** @type {(phase: string) => void} shows the first picture of a phase */
  turnTo() {
    throw new Error("a subclass turns");
  }

  /**
   * The pictures of a step.
   * @param {StepView | null} step
   * @returns {StepTimeline | null}
   */
  timelineOf(step) {
    if (!step) return null;
    if (!this.#timelines.has(step)) this.#timelines.set(step, new StepTimeline(step));
    return this.#timelines.get(step);
  }

  /** The pictures of the step on screen. */
  get line() {
    return this.timelineOf(this.step);
  }

  /** Index of the last picture, the result. */
  get most() {
    return (this.line?.frames.length ?? 1) - 1;
  }

  /** @returns {StepFrame | null} the picture that is shown, where that is not the result */
  get shown() {
    return this.picture === null ? null : (this.line?.frames[this.picture] ?? null);
  }

  /** Whether the step on screen is not over yet. */
  get isInStep() {
    return this.shown !== null && this.shown.phase !== "result";
  }

  /** @type {number | null} the node whose trial the picture shows */
  get tried() {
    const index = this.shown?.trial ?? null;
    return index === null ? null : this.step.trials[index].node;
  }

  /**
   * The node whose card belongs to the picture: the one that is tried, and at the end the token
   * from the target where one can see what it was drawn from.
   * @returns {NodeId | null}
   */
  get explained() {
    if (this.isInStep) return this.tried;
    const { residuals, kind, decisive } = this.step;
    return residuals.length && kind !== "none" ? "bonus" : decisive;
  }

  /**
   * The state of a node in the picture: one of StepFrame or of StepView.
   * @param {NodeId} node
   * @returns {string}
   */
  stateOf(node) {
    const { shown, step } = this;
    if (!shown) return step.stateOf(node);
    if (node === "bonus") return shown.hasBonus ? step.kind : "hidden";
    return shown.states[node];
  }

  /** How the time of the pictures compares with the step's own, in words. */
  get pace() {
    return "slowed, not to scale";
  }

  /** When the picture that is shown begins, in seconds of slow motion. */
  get start() {
    return this.picture === null ? 0 : (this.line?.start(this.picture) ?? 0);
  }

  /**
   * Show the picture at a moment of slow motion.
   * @param {number} clock seconds since the step began
   */
  follow(clock) {
    this.picture = this.line?.frameAt(clock) ?? null;
  }
}

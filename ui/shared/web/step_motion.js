/* Keeps track of which picture of a step in slow motion is shown. Independent of the DOM. */
import { StepTimeline } from "./step_timeline.js";

/**
 * @import { StepFrame } from "./step_frames.js"
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_scene.js"
 */

/** Which picture is shown. A subclass defines `step`, `turn` and `turnTo`. */
export class StepMotion {
  /** @type {number | null} index of the picture that is shown; null for the result */
  picture = null;
  /** @type {WeakMap<StepView, StepTimeline>} */
  #timelines = new WeakMap();

  /** @returns {StepView | null} the step on screen */
  get step() {
    throw new Error("a subclass must define `step`");
  }

  /** @type {(by: number) => void} shows the next picture (1) or the previous one (-1) */
  turn() {
    throw new Error("a subclass must define turn()");
  }

  /** @type {(phase: string) => void} shows the first picture of a phase */
  turnTo() {
    throw new Error("a subclass must define turnTo()");
  }

  /**
   * The pictures of a step with their times.
   * @param {StepView | null} step
   * @returns {StepTimeline | null}
   */
  timelineOf(step) {
    if (!step) return null;
    if (!this.#timelines.has(step)) this.#timelines.set(step, new StepTimeline(step));
    return this.#timelines.get(step);
  }

  /** The pictures of the step on screen, with their times; null if there is no step. */
  get line() {
    return this.timelineOf(this.step);
  }

  /** Index of the last picture, the result. */
  get most() {
    return (this.line?.frames.length ?? 1) - 1;
  }

  /** @returns {StepFrame | null} the picture at index `picture`; null if `picture` is null, or if
   *   there is no step */
  get shown() {
    return this.picture === null ? null : (this.line?.frames[this.picture] ?? null);
  }

  /** Whether the picture that is shown comes before the result. */
  get isInStep() {
    return this.shown !== null && this.shown.phase !== "result";
  }

  /** @type {number | null} the node whose trial the picture shows; null if it shows none */
  get tried() {
    const index = this.shown?.trial ?? null;
    return index === null ? null : this.step.trials[index].node;
  }

  /**
   * The node that the card beside the picture is about. Before the result: the node that is tried,
   * or null if none is. At the result: the token from the target, if there is one and the step has
   * residuals. Otherwise: the step's `decisive` node.
   * @returns {NodeId | null}
   */
  get explained() {
    if (this.isInStep) return this.tried;
    const { residualHeads, kind, decisive } = this.step;
    return residualHeads.length && kind !== "none" ? "bonus" : decisive;
  }

  /**
   * The state of a node in the picture.
   * @param {NodeId} node
   * @returns {string}
   */
  stateOf(node) {
    const { shown, step } = this;
    if (!shown) return step.stateOf(node);
    if (node === "bonus") return shown.hasBonus ? step.kind : "hidden";
    return shown.states[node];
  }

  /** How the speed of the pictures compares with real time, in words. */
  get pace() {
    return "in slow motion, not to scale";
  }

  /** When the current picture begins, in seconds of slow motion; 0 if `picture` is null. */
  get start() {
    return this.picture === null ? 0 : (this.line?.start(this.picture) ?? 0);
  }

  /**
   * Turn to the picture at a moment of slow motion.
   * @param {number} clock seconds of slow motion since the step began
   */
  follow(clock) {
    this.picture = this.line?.frameAt(clock) ?? null;
  }
}

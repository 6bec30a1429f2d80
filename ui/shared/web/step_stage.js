/* Shows one step as an animation: a caption, the token tree, buttons for the four phases, the time
   of the current phase, and a card that explains one node. Independent of runs, of the page around
   the stage and of the server.

   The shortest use, inside an element of class "sq-stage":

     const stage = new StepStage(host);
     stage.show(viewStep(step, topology(parents), pieces, { params: { temperature: 0.6 } }));
     stage.play();

   Events, as CustomEvent with `detail`:
     frame  {picture, frame}  another picture or step is shown. `picture` is the picture's index,
                              `frame` its content. Both are null at the result, unless slow
                              motion is playing
     hover  {node}            the pointer or the focus is on another node; null: on none
     press  {node}            a node was pressed */
import { el } from "./dom.js";
import { PhaseBar } from "./phase_bar.js";
import { StepButtons } from "./step_buttons.js";
import { StepPlayer } from "./step_player.js";
import { StepPointer } from "./step_pointer.js";
import { StepTree } from "./step_tree.js";
import { WalkCard } from "./walk_card.js";

/**
 * @import { StepMotion } from "./step_motion.js"
 * @import { StepActions, StepLook } from "./step_tree.js"
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_scene.js"
 */

/**
 * The parts of a stage and what controls it.
 * @typedef {object} StageOptions
 * @property {string} [source] the source of the times: "measured", "recorded" or "simulated"
 * @property {boolean} [hasCard] whether a card beside the tree explains one node; default: true
 * @property {Element} [controls] the element for all buttons; default: one below the caption
 * @property {StepMotion} [motion] decides which picture is shown. With it, the stage neither plays
 *   nor handles keys, and has no buttons for playing. Call `paint` after each change of the motion
 * @property {StepActions} [actions] what happens when a person acts on the tree. With it, the stage
 *   dispatches neither hover nor press
 */

/** The display of one step. */
export class StepStage extends EventTarget {
  /** @type {StepView | null} */
  step = null;
  /** @type {StepLook} */
  look = {};
  #shown = /** @type {{step: StepView | null, picture: number | null}} */ ({
    step: null,
    picture: null,
  });

  /**
   * @param {Element} host inside an element of class "sq-stage"
   * @param {StageOptions} [options]
   */
  constructor(host, options = {}) {
    super();
    const { source = "", controls, motion, actions, hasCard = true } = options;
    this.source = source;
    /** @type {StepPlayer | null} */
    this.player = motion ? null : new StepPlayer(() => this.paint());
    this.motion = motion ?? this.player;
    this.pointer = actions ? null : new StepPointer(this);
    this.root = el("div", { class: hasCard ? "sq-step has-card" : "sq-step" }, host);
    const above = el("div", {}, this.root);
    const buttons = controls ?? el("div", { class: "sq-step-controls" }, this.root);
    this.buttons = this.player && new StepButtons(this.player, buttons);
    this.phases = new PhaseBar(this.motion, buttons, above);
    this.tree = new StepTree(this.motion, this.root, actions ?? this.pointer);
    this.card = hasCard ? new WalkCard(this.root) : null;
    if (this.player) this.#listen();
    this.paint();
  }

  // -- what is shown ------------------------------------------------------------------------------

  /**
   * Show a step, at its result. If the step is shown already, the picture stays the same. With the
   * option `motion`, `step` must be `motion.step`, and the motion chooses the picture.
   * @param {StepView | null} step null: show nothing
   * @param {StepLook} [look]
   */
  show(step, look = {}) {
    if (step !== this.step) this.pointer?.reset();
    this.step = step;
    this.look = look;
    this.player?.take(step);
    this.paint();
  }

  /**
   * Stop playing and show the picture at a moment of real time.
   * @param {number} seconds since the step began
   */
  showAt(seconds) {
    this.player.standAt(seconds);
  }

  /**
   * Stop playing and show one picture.
   * @param {number | null} picture its index; null: the result
   */
  showPicture(picture) {
    this.player.stand(picture);
  }

  /**
   * Show the next or the previous picture.
   * @param {number} by 1 or -1
   */
  turn(by) {
    this.motion.turn(by);
  }

  /**
   * Show the first picture of a phase.
   * @param {import("./step_frames.js").Phase} phase
   */
  turnTo(phase) {
    this.motion.turnTo(phase);
  }

  // -- playing ------------------------------------------------------------------------------------

  /** Play from the current picture, or from the first one if the result is shown. If the visitor's
   * system asks for reduced motion, show that picture without playing. */
  play() {
    this.player.play();
  }

  pause() {
    this.player.pause();
    this.paint();
  }

  /**
   * Handle a key: "." and "," turn to the next and the previous picture, space plays or pauses.
   * @param {string} key
   * @returns {boolean} whether the key has a meaning here
   */
  key(key) {
    if (key === ".") this.turn(1);
    else if (key === ",") this.turn(-1);
    else if (key === " ") this.player.toggle();
    else return false;
    return true;
  }

  /** Stop playing, and remove all elements. */
  destroy() {
    this.player?.pause();
    this.buttons?.root.remove();
    this.phases.root.remove();
    this.root.remove();
    this.step = null;
  }

  // -- paint --------------------------------------------------------------------------------------

  /** Draw the current picture. With the option `motion`, call this after each change of the motion.
   * Without it, the stage repaints by itself. */
  paint() {
    this.phases.paint(this.source);
    const { step, tried } = this.motion;
    this.tree.paint(this.pointer ? this.#ownLook() : this.look);
    const node = step ? this.#explained() : null;
    const state = node === null ? "" : this.motion.stateOf(node);
    this.card?.paint(step, node, state, node === tried);
    this.buttons?.paint();
    if (this.player) this.tree.settle(); // with `motion`, the stage's owner calls `settle`
    this.#report();
  }

  // The look that was passed. What it does not set comes from the pointer.
  #ownLook() {
    const { opened, node } = this.pointer;
    return { opened, selected: node, ...this.look };
  }

  /** @type {() => NodeId | null} the node that the card explains */
  #explained() {
    return this.pointer?.node ?? this.look.selected ?? this.motion.explained;
  }

  /**
   * Dispatch an event.
   * @param {string} name
   * @param {Record<string, any>} detail
   */
  emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #report() {
    const { step, picture, shown } = this.motion;
    const isSame = step === this.#shown.step && picture === this.#shown.picture;
    this.#shown = { step, picture };
    if (!isSame && step) this.emit("frame", { picture, frame: shown });
  }

  // -- its own controls ---------------------------------------------------------------------------

  #listen() {
    this.root.addEventListener("keydown", (event) => {
      const { target, key, ctrlKey, metaKey, altKey } = event;
      const used = /** @type {Element} */ (target).closest("select");
      const presses = key === " " && /** @type {Element} */ (target).closest("button");
      if (used || presses || ctrlKey || metaKey || altKey) return;
      if (this.key(key)) event.preventDefault();
    });
  }
}

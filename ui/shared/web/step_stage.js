/* One step as a picture that moves: a caption of what happens, the token tree, the four phases with
   their real times, and the draw u against p/q. It is independent of runs, of the page around it
   and of the server, so that every view shows steps in the same way.

   Shortest use, inside an element of class "sq-stage":

     const stage = new StepStage(host);
     stage.show(viewStep(step, topology(parents), pieces, { policy: { temperature: 0.6 } }));
     stage.play();

   Events, as CustomEvent with `detail`:
     frame  {picture, frame}  another picture is shown; both are null where it is the result
     play   {playing}         playing began or ended
     hover  {node}            a node is pointed at or has the focus; null: none any more
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
 * @import { StepRate } from "./speeds.js"
 * @import { StepActions, StepLook } from "./step_tree.js"
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_scene.js"
 */

/**
 * What a stage has and who is in charge. All of it may be left out.
 * @typedef {object} StageOptions
 * @property {string} [source] where the times come from: "measured", "recorded", "simulated"
 * @property {boolean} [hasCard] the card beside the tree; usual: true
 * @property {boolean} [hasPlayer] a button to play and a menu of speeds; usual: true, without
 *   `motion`
 * @property {Element} [controls] where the buttons stand; usual: below the caption
 * @property {StepMotion} [motion] who says which picture is shown; then the stage neither plays
 *   nor takes keys, and `paint` draws what the motion says
 * @property {StepActions} [actions] what a person may do to the tree; then the stage dispatches
 *   no hover and press
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
  #isPlaying = false;

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
    const hasButtons = this.player !== null && (options.hasPlayer ?? true);
    this.buttons = hasButtons ? new StepButtons(this.player, buttons) : null;
    this.phases = new PhaseBar(this.motion, buttons, above);
    this.tree = new StepTree(this.motion, this.root, actions ?? this.pointer);
    this.card = hasCard ? new WalkCard(this.root) : null;
    if (this.player) this.#listen();
    this.paint();
  }

  // -- what is shown ------------------------------------------------------------------------------

  /**
   * Show a step: its result, until it is played or turned. The same step again keeps the picture.
   * @param {StepView | null} step null: nothing
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
   * Show the picture at a moment of the step's own clock, for a view that has a clock.
   * @param {number} seconds since the step began
   */
  showAt(seconds) {
    this.player.standAt(seconds);
  }

  /**
   * Show one picture and stay there.
   * @param {number | null} picture its index, null: the result
   */
  showPicture(picture) {
    this.player.stand(picture);
  }

  /** How many pictures the step has. */
  get pictures() {
    return this.step ? this.motion.most + 1 : 0;
  }

  /**
   * Show the next picture, or with -1 the one before.
   * @param {number} by
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

  /** Play from the picture that is shown, or from the start; where the visitor's system asks for no
   * motion, show the first picture and stay. */
  play() {
    this.player.play();
  }

  pause() {
    this.player.pause();
    this.paint();
  }

  /** @param {StepRate} rate slowed for reading, or a share of real time */
  setRate(rate) {
    this.player.setRate(rate);
  }

  /**
   * Do what a key does: "." and "," turn a picture, space plays or pauses.
   * @param {string} key
   * @returns {boolean} whether it does anything
   */
  key(key) {
    if (key === ".") this.turn(1);
    else if (key === ",") this.turn(-1);
    else if (key === " ") this.player.toggle();
    else return false;
    return true;
  }

  /** Remove everything, and end what plays. */
  destroy() {
    this.player?.pause();
    this.buttons?.root.remove();
    this.phases.root.remove();
    this.root.remove();
    this.step = null;
  }

  // -- paint --------------------------------------------------------------------------------------

  /** Draw what is shown now; the stage does so by itself unless it has a `motion` from outside. */
  paint() {
    this.phases.paint(this.source);
    const { step } = this.motion;
    this.tree.paint(this.pointer ? this.#ownLook() : this.look);
    const node = step ? this.#explained() : null;
    this.card?.paint(step, node, node === null ? "" : this.motion.stateOf(node));
    this.buttons?.paint();
    if (this.player) this.tree.settle(); // otherwise the view does, once all of it is painted
    this.#report();
  }

  // The node that the pointer chose is the one explained.
  #ownLook() {
    const { opened, node } = this.pointer;
    return { opened, selected: node, ...this.look };
  }

  /** @type {() => NodeId | null} whose card is shown */
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
    const playing = Boolean(this.player?.playing);
    if (playing !== this.#isPlaying) this.emit("play", { playing });
    this.#isPlaying = playing;
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

/* Shows one step as an animation: a caption, the token tree, buttons for the four phases, the time
   of the current phase, and a card that explains one node. Independent of runs, of the page around
   the stage and of the server.

   The shortest use, inside an element of class "sq-stage":

     const stage = new StepStage(host);
     stage.show(viewStep(step, topology(parents), pieces, { params: { temperature: 0.6 } }));
     stage.player.play();

   Events, as CustomEvent with `detail`:
     frame  {picture, frame}  another picture or step is shown. `picture` is the picture's index,
                              `frame` its content. Both are null at the result, unless slow
                              motion is playing
     hover  {node}            the pointer or the focus is on another node; null: on none
     press  {node}            a node was pressed */
import { attr, button, el, setIcon, show } from "./dom.js";
import { PhaseBar } from "./phase_bar.js";
import { STEP_RATES } from "./speeds.js";
import { StepPlayer } from "./step_player.js";
import { StepPointer } from "./step_pointer.js";
import { StepTree } from "./step_tree.js";
import { WalkCard } from "./walk_card.js";

/**
 * @import { StepRate } from "./speeds.js"
 * @import { StepLook } from "./step_tree.js"
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_layout.js"
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
   * @param {{source?: string, hasCard?: boolean}} [options] source: where the times come from:
   *   "measured", "recorded" or "simulated". hasCard: whether a card beside the tree explains one
   *   node
   */
  constructor(host, { source = "", hasCard = true } = {}) {
    super();
    this.source = source;
    this.player = new StepPlayer(() => this.paint());
    this.pointer = new StepPointer(this);
    this.root = el("div", { class: hasCard ? "sq-step has-card" : "sq-step" }, host);
    const above = el("div", {}, this.root);
    const buttons = el("div", { class: "sq-step-controls" }, this.root);
    this.buttons = new StepButtons(this.player, buttons);
    this.phases = new PhaseBar(this.player, buttons, above);
    this.tree = new StepTree(this.player, this.root, this.pointer);
    this.card = hasCard ? new WalkCard(this.root) : null;
    this.#listen();
    this.paint();
  }

  /**
   * Show a step, at its result. If the step is shown already, the picture stays the same.
   * @param {StepView | null} step null: show nothing
   * @param {StepLook} [look]
   */
  show(step, look = {}) {
    if (step !== this.step) this.pointer.reset();
    this.step = step;
    this.look = look;
    this.player.take(step);
    this.paint();
  }

  /**
   * Handle a key: "." and "," turn to the next and the previous picture, space plays or pauses.
   * @param {string} key
   * @returns {boolean} whether the key has a meaning here
   */
  key(key) {
    if (key === ".") this.player.turn(1);
    else if (key === ",") this.player.turn(-1);
    else if (key === " ") this.player.toggle();
    else return false;
    return true;
  }

  /** Stop playing, and remove all elements. */
  destroy() {
    this.player.pause();
    this.root.remove();
    this.step = null;
  }

  // -- paint --------------------------------------------------------------------------------------

  /** Draw the current picture. */
  paint() {
    this.phases.paint(this.source);
    const { step, tried } = this.player;
    const { opened, node: pointed } = this.pointer;
    // the look that was passed; what it does not set comes from the pointer
    this.tree.paint({ opened, selected: pointed, ...this.look });
    const node = step ? this.#explained() : null;
    const state = node === null ? "" : this.player.stateOf(node);
    this.card?.paint(step, node, state, node === tried);
    this.buttons.paint();
    this.tree.settle();
    this.#report();
  }

  /** @type {() => NodeId | null} the node that the card explains */
  #explained() {
    return this.pointer.node ?? this.look.selected ?? this.player.explained;
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
    const { step, picture, shown } = this.player;
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

/** Back, play or pause, next, and the menu of speeds. */
class StepButtons {
  /**
   * @param {StepPlayer} player
   * @param {Element} host
   */
  constructor(player, host) {
    this.player = player;
    this.root = el("div", { class: "sq-step-buttons", "data-part": "step-buttons" }, host);
    const back = () => player.turn(-1);
    const label = "Previous frame of the step (,)";
    this.back = button(this.root, { icon: "back", label, part: "step-back", act: back });
    const toggle = () => player.toggle();
    this.play = button(this.root, { icon: "play", part: "step-play", act: toggle });
    const next = () => player.turn(1);
    const about = { icon: "next", label: "Next frame of the step (.)", part: "step-next" };
    this.next = button(this.root, { ...about, act: next });
    const look = { class: "sq-input sq-speed", "aria-label": "Playback speed of the step" };
    this.speed = el("select", { ...look, "data-part": "step-speed" }, this.root);
    for (const [value, name] of STEP_RATES) el("option", { value, text: name }, this.speed);
    this.speed.addEventListener("change", () =>
      player.setRate(/** @type {StepRate} */ (this.speed.value)),
    );
  }

  paint() {
    const { step, picture, playing, rate } = this.player;
    setIcon(this.play, playing ? "pause" : "play");
    const label = playing ? "Pause (space)" : "Play the step (space)";
    attr(this.play, "aria-label", label);
    attr(this.play, "title", label);
    this.back.disabled = !step || picture === 0;
    this.play.disabled = !step;
    this.next.disabled = !step || picture === null; // null: the result, which is the end
    if (this.speed.value !== rate) this.speed.value = rate;
    // A step without times plays only in slow motion, so it needs no menu of speeds.
    show(this.speed, !step || Boolean(step.step.seconds));
  }
}

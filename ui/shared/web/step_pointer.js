/* The default actions of a step's tree: when a person points at a node, focuses or presses it, the
   stage explains the node and dispatches an event. */
import { keysAbove } from "./focus_layout.js";
import { spokenNode } from "./step_words.js";
import { keyOf, nodeOf } from "./tree_scene.js";

/**
 * @import { StepStage } from "./step_stage.js"
 * @import { NodeId } from "./tree_scene.js"
 */

/** The default actions, and the state that they change. */
export class StepPointer {
  /** @type {NodeId | null} the node pointed at or focused */
  node = null;
  /** @type {Set<string>} keys of the cells that are unfolded */
  opened = new Set();

  /** @param {StepStage} stage */
  constructor(stage) {
    this.stage = stage;
  }

  /** Forget the node pointed at and the unfolded cells. Called before another step is shown. */
  reset() {
    this.node = null;
    this.opened = new Set();
  }

  changed() {
    this.stage.paint();
  }

  scrolled() {
    this.stage.paint();
  }

  /** @param {string | null} key */
  hover(key) {
    const node = nodeOf(key);
    if (this.node === node) return;
    this.node = node;
    this.stage.emit("hover", { node });
    this.stage.paint();
  }

  /** @param {string} key */
  focus(key) {
    this.hover(key);
  }

  /** @param {string} key of a node, whose children are then unfolded or folded if `canFold` allows
   * it, or of folded siblings, which are then unfolded */
  press(key) {
    const node = nodeOf(key);
    const canFold = node === null || this.canFold(node);
    if (canFold && !this.opened.delete(key)) this.opened.add(key);
    if (node !== null) this.stage.emit("press", { node });
    this.stage.paint();
  }

  // Whether the children of a node can be folded away. Those of a node on the accepted path
  // always stay.
  canFold(node) {
    const { topo, path } = this.stage.step;
    return node !== "bonus" && !path.includes(node) && topo.children[node].length > 0;
  }

  /** @param {number} node pressed in the minimap; the tree then draws it and scrolls to it */
  pick(node) {
    for (const key of keysAbove(this.stage.step.topo, node)) this.opened.add(key);
    this.hover(keyOf(node));
    this.stage.tree.reveal(node);
    this.stage.emit("press", { node });
  }

  /**
   * A cell's token with its state, for a screen reader.
   * @param {string} key
   * @returns {string | null} null: use the text of the cell
   */
  name(key) {
    const { step } = this.stage;
    const node = nodeOf(key);
    return step && node !== null ? spokenNode(step, node) : null;
  }
}

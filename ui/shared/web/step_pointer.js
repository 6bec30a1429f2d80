/* What happens by default when a person acts on the tree of a step: the stage explains the node
   that is pointed at or focused, and dispatches the events hover and press. */
import { keyOf, keysAbove, nodeOf } from "./tree_layout.js";
import { spokenNode } from "./step_words.js";

/**
 * @import { StepStage } from "./step_stage.js"
 * @import { NodeId } from "./tree_layout.js"
 */

/** The default actions, and the state that they change. */
export class StepPointer {
  /** @type {NodeId | null} the node pointed at, focused or picked in the minimap */
  node = null;
  /** @type {Set<string>} keys of the cells that are unfolded */
  opened = new Set();

  /** @param {StepStage} stage */
  constructor(stage) {
    this.stage = stage;
  }

  /** Forget the node and the unfolded cells. */
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

  /** Unfold the children of a node, or fold them again. If the cell stands for folded siblings,
   * unfold the siblings.
   * @param {string} key of the cell */
  press(key) {
    const node = nodeOf(key);
    const canFold = node === null || this.canFold(node);
    if (canFold && !this.opened.delete(key)) this.opened.add(key);
    if (node !== null) this.stage.emit("press", { node });
    this.stage.paint();
  }

  // Whether the children of a node can be folded. Those of a node on the accepted path cannot.
  canFold(node) {
    const { topo, path } = this.stage.step;
    return node !== "bonus" && !path.includes(node) && topo.children[node].length > 0;
  }

  /** @param {number} node pressed in the minimap; the tree scrolls to it */
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

/* What happens by default when a person acts on the tree of a step: the stage explains the node
   that is pointed at or focused, and dispatches the events hover and press. */
import { keyOf, keysAbove, nodeOf } from "./tree_layout.js";
import { spokenNode } from "./step_words.js";

/**
 * @import { StepStage } from "./step_stage.js"
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_layout.js"
 */

/**
 * A cell's token with its state, for a screen reader.
 * @param {StepView | null} step
 * @param {string} key of the cell
 * @returns {string | null} null: use the text of the cell
 */
export function nameOf(step, key) {
  const node = nodeOf(key);
  return step && node !== null ? spokenNode(step, node) : null;
}

/**
 * Whether the children of a node can be folded. Those of a node on the accepted path cannot.
 * @param {StepView} step
 * @param {NodeId} node
 * @returns {boolean}
 */
export const canFold = ({ path, topo }, node) =>
  node !== "bonus" && !path.includes(node) && topo.children[node]?.length > 0;

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
    const isFold = node === null || canFold(this.stage.step, node);
    if (isFold && !this.opened.delete(key)) this.opened.add(key);
    if (node !== null) this.stage.emit("press", { node });
    this.stage.paint();
  }

  /** @param {number} node pressed in the minimap; the tree scrolls to it */
  pick(node) {
    for (const key of keysAbove(this.stage.step.topo, node)) this.opened.add(key);
    this.hover(keyOf(node));
    this.stage.tree.reveal(node);
    this.stage.emit("press", { node });
  }

  /** @type {(key: string) => string | null} see `nameOf` */
  name(key) {
    return nameOf(this.stage.step, key);
  }
}

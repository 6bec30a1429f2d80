/* What happens when a person points at a node of the step's tree, clicks it or focuses it. */
import { keysAbove } from "../../shared/web/focus_layout.js";
import { spokenNode } from "../../shared/web/step_words.js";
import { nodeOf } from "../../shared/web/tree_scene.js";

/** @import { TreePanel } from "./tree_panel.js" */

/** The actions of the step's tree. */
export class TreePointer {
  /** @param {TreePanel} tree */
  constructor(tree) {
    this.tree = tree;
    this.store = tree.store;
  }

  changed() {
    this.store.changed();
  }

  scrolled() {
    if (!this.tree.drawing.mini.root.hidden) this.store.changed();
  }

  /** @param {string | null} key */
  hover(key) {
    const node = nodeOf(key);
    if (this.store.hover !== node) this.store.set({ hover: node });
  }

  /**
   * A press on a cell of folded siblings unfolds the cell. A press on a node pins or unpins the
   * node, unless its children can be folded. In that case, the first press pins the node and
   * unfolds its children. While the node is pinned, further presses fold or unfold its children.
   * @param {string} key of the cell
   */
  press(key) {
    const { store } = this;
    const node = nodeOf(key);
    const isPinned = store.pin === node;
    const canFold = this.canFold(node);
    if (node === null || (canFold && (isPinned || !store.opened.has(key)))) store.unfold(key);
    if (node !== null) store.set({ pin: isPinned && !canFold ? null : node });
  }

  // Whether the children of a node can be folded. This needs the focus layout (focus_layout.js) and
  // a node that is not on the accepted path.
  canFold(node) {
    const { path, topo } = this.store.view();
    return this.store.focused && !path.includes(node) && topo.children[node]?.length > 0;
  }

  /**
   * Pin a node and scroll it into view. In the focus layout, unfold every cell that may hide it.
   * @param {number} node
   */
  pick(node) {
    const { store } = this;
    const hiding = store.focused ? keysAbove(store.view().topo, node) : [];
    for (const key of hiding) store.opened.add(key);
    this.tree.drawing.revealNext(node);
    store.set({ pin: node, hover: null });
  }

  /**
   * Explain the node of the cell that received the keyboard focus.
   * @param {string} key
   */
  focus(key) {
    const node = nodeOf(key);
    if (node !== null && this.store.view()) this.store.set({ hover: node });
  }

  /**
   * A cell's node in words, for a screen reader. Null if the cell has no node or no step is shown.
   * @param {string} key
   * @returns {string | null}
   */
  name(key) {
    const step = this.store.view();
    const node = nodeOf(key);
    return step && node !== null ? spokenNode(step, node) : null;
  }
}

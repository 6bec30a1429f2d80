/* What happens when a person points at a node of the Lab's tree, presses it, or presses a key. */
import { formatShare } from "./export_tree.js";
import { nodeOf } from "../../shared/web/tree_layout.js";

/**
 * The `Actions` (see tree_keys.js) of the Lab's tree. `key` identifies a node's cell, as in
 * tree_layout.js; `node` is the node's number.
 */
export class LabTreePointer {
  /** @param {import("./lab_tree.js").LabTree} tree */
  constructor(tree) {
    this.tree = tree;
  }

  changed() {
    this.tree.state.changed();
  }

  scrolled() {
    this.tree.paint();
  }

  /** @param {string | null} key */
  hover(key) {
    this.tree.point(nodeOf(key));
  }

  /** @param {string} key */
  focus(key) {
    this.tree.at = Number(nodeOf(key));
    this.changed();
  }

  /**
   * A node's name for screen readers.
   * @param {string} key
   * @returns {string}
   */
  name(key) {
    const { topo, f } = this.tree;
    const node = Number(nodeOf(key));
    const name = node ? "node " + this.tree.numberOf(node) : "root";
    const chance = formatShare(f[node]);
    return `${name}, level ${topo.depth[node] + 1}, accepted with probability ${chance}`;
  }

  /**
   * In a tree drawn by hand, add a child or, with shift, remove the node. In any other tree, expand
   * a node with hidden children, and collapse an expanded one.
   * @param {string} key
   * @param {boolean} [shift]
   */
  press(key, shift = false) {
    const { tree } = this;
    const node = Number(nodeOf(key));
    tree.at = node;
    if (tree.state.shown === "hand") this.edit(shift ? "remove" : "add", node);
    else if (tree.byNode.get(node)?.hidden) this.unfold(node);
    else tree.opened.delete(node);
    tree.state.changed();
  }

  // Expands a node. An only child is expanded too, and so on, so that a chain expands at once.
  unfold(node) {
    const { opened, topo } = this.tree;
    let at = node;
    opened.add(at);
    while (topo.children[at].length === 1) {
      [at] = topo.children[at];
      opened.add(at);
    }
  }

  edit(what, node) {
    const { tree } = this;
    const { hand, past, n, cap } = tree.state;
    try {
      tree.setHandTree(what === "add" ? past.add(hand, node, n, cap) : past.remove(hand, node));
      if (what === "remove") tree.at = Math.max(hand[node], 0);
    } catch (problem) {
      tree.refuse(problem.message);
    }
  }

  /**
   * Handle a key press.
   * @param {KeyboardEvent} event
   * @param {string | null} cell the cell that has the keyboard focus; null: none
   * @returns {boolean} whether the key press was handled
   */
  type({ key, ctrlKey, metaKey, altKey }, cell) {
    const { tree } = this;
    const isCommand = ctrlKey || metaKey;
    if (tree.state.shown !== "hand") return false;
    if (isCommand && key.toLowerCase() === "z") {
      tree.undo();
      return true;
    }
    if (isCommand || altKey || cell === null) return false;
    if (key === "+") this.press(cell);
    else if (key === "Delete" || key === "Backspace") this.edit("remove", Number(nodeOf(cell)));
    else return false;
    tree.view.refocus();
    return true;
  }
}

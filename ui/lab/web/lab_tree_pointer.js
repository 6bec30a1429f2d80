/* What a person does to the Lab's tree with the pointer and the keyboard. */
import { formatShare } from "./export_tree.js";
import { attr } from "../../shared/web/dom.js";

const nodeOf = (pill) => (pill ? Number(pill.dataset.node) : null);

/** Presses and keys on the nodes of a tree. */
export class LabTreePointer {
  /** @param {import("./lab_tree.js").LabTree} tree */
  constructor(tree) {
    this.tree = tree;
    const { canvas } = tree;
    const { scroller } = canvas;
    canvas.listen(
      {
        hover: (pill) => tree.point(nodeOf(pill)),
        press: (pill, event) => this.press(nodeOf(pill), event.shiftKey),
        focus: (pill) => this.focused(pill),
        key: (event, pill) => this.key(event, nodeOf(pill)),
      },
      tree.pan,
    );
    const scrolled = () => tree.scrolled(scroller.scrollLeft, scroller.scrollTop);
    scroller.addEventListener("scroll", scrolled, { passive: true });
  }

  focused(pill) {
    const { tree } = this;
    const node = nodeOf(pill);
    if (node === null) return;
    tree.at = node;
    const name = node ? "node " + node : "root";
    const level = tree.topo.depth[node] + 1;
    const chance = formatShare(tree.f[node]);
    attr(pill, "aria-label", `${name}, level ${level}, accepted with probability ${chance}`);
    tree.state.changed();
  }

  // By hand: one more child (with shift: remove it). Otherwise: expand.
  press(node, remove = false) {
    const { tree } = this;
    tree.at = node;
    if (tree.state.shown === "hand") return this.edit(remove ? "remove" : "add", node);
    if (tree.byNode.get(node)?.hidden) this.unfold(node);
    else tree.opened.delete(node);
    tree.state.changed();
  }

  // The children of a node, and below an only child its own in turn: a chain expands at once.
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

  key(event, node) {
    if (!this.act(event, node)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Whether the key means something here.
  act({ key, ctrlKey, metaKey, altKey }, node) {
    const hand = this.tree.state.shown === "hand";
    if ((ctrlKey || metaKey) && key.toLowerCase() === "z" && hand) this.tree.undo();
    else if (ctrlKey || metaKey || altKey || node === null) return false;
    else if (hand && (key === "Delete" || key === "Backspace")) {
      this.edit("remove", node);
      this.refocus();
    } else if (key === "Enter" || (hand && key === "+")) {
      this.press(node);
      this.refocus();
    } else if (key.startsWith("Arrow")) this.walk(key);
    else return false;
    return true;
  }

  /** Focus the node again once it is drawn. */
  refocus() {
    requestAnimationFrame(() => requestAnimationFrame(() => this.tree.focus(this.tree.at)));
  }

  // Right: to the first child; left: to the parent; up and down: to the nearest node there.
  walk(arrow) {
    const { byNode, at } = this.tree;
    const here = byNode.get(at) || byNode.get(0);
    const items = [...byNode.values()];
    const next = {
      ArrowRight: () => items.find((item) => item.parent === here),
      ArrowLeft: () => here.parent,
      ArrowDown: () => nearest(items, here, (item) => item.row > here.row),
      ArrowUp: () => nearest(items, here, (item) => item.row < here.row),
    }[arrow]();
    if (next) this.tree.focus(next.node);
  }
}

function nearest(items, here, fits) {
  const far = (item) => Math.abs(item.row - here.row) + 3 * Math.abs(item.col - here.col);
  return items.filter(fits).sort((a, b) => far(a) - far(b))[0];
}

/* What a person does to the lab's tree: zoom and drag as in pan.js, hover, press, walk it by keyboard. Draws nothing itself. */
import { formatShare } from "./export_tree.js";
import { attr } from "../../shared/web/dom.js";
import { PanAndZoom } from "../../shared/web/pan_and_zoom.js";

export class LabTreePointer extends PanAndZoom {
  constructor(tree) {
    super(tree, () => tree.state.changed());
    this.tree = tree;
    const { canvas, scroller } = tree;
    const nodeOf = (event) => {
      const g = event.target.closest?.(".sq-n");
      return g ? Number(g.dataset.node) : null;
    };
    canvas.addEventListener("pointerover", (event) => tree.point(nodeOf(event)));
    canvas.addEventListener("pointerleave", () => tree.point(null));
    canvas.addEventListener(
      "click",
      (event) =>
        nodeOf(event) !== null && !this.dragged && this.press(nodeOf(event), event.shiftKey),
    );
    canvas.addEventListener("focusin", (event) => this.focused(nodeOf(event)));
    canvas.addEventListener("keydown", (event) => this.key(event, nodeOf(event)));
    scroller.addEventListener(
      "scroll",
      () => tree.scrolled(scroller.scrollLeft, scroller.scrollTop),
      { passive: true },
    );
  }

  focused(node) {
    if (node === null) return;
    const { tree } = this;
    const item = tree.byNode?.get(node);
    tree.at = node;
    if (item)
      attr(
        tree.nodes.made.get(item.key).g,
        "aria-label",
        (node ? "node " + node : "root") +
          ", level " +
          (item.col + 1) +
          ", accepted with chance " +
          formatShare(tree.f[node]),
      );
    tree.state.changed();
  }

  /** By hand: one more child (with shift: away with it). Otherwise: unfold. */
  press(node, away) {
    const { tree } = this;
    tree.at = node;
    if (tree.state.shown === "hand")
      return away ? this.change("remove", node) : this.change("add", node);
    if (tree.byNode.get(node)?.hidden) this.unfold(node);
    else tree.opened.delete(node);
    tree.state.changed();
  }

  /** The children of a node, and below an only child its own in turn: a chain unfolds at once. */
  unfold(node) {
    const {
      tree: { opened, topo },
    } = this;
    for (
      let at = node;
      at !== undefined;
      at = topo.children[at].length === 1 ? topo.children[at][0] : undefined
    )
      opened.add(at);
  }

  change(what, node) {
    const {
      tree,
      tree: { state, hand },
    } = this;
    const above = state.hand[node];
    try {
      tree.draw(
        what === "add"
          ? hand.add(state.hand, node, state.n, state.cap)
          : hand.remove(state.hand, node),
      );
      if (what === "remove") tree.at = Math.max(above, 0);
    } catch (problem) {
      tree.refuse(problem.message);
    }
  }

  key(event, node) {
    const hand = this.tree.state.shown === "hand";
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && hand)
      this.tree.undo();
    else if (event.ctrlKey || event.metaKey || event.altKey || node === null) return;
    else if (hand && (event.key === "Delete" || event.key === "Backspace"))
      (this.change("remove", node), this.refocus());
    else if (event.key === "Enter" || (hand && event.key === "+"))
      (this.press(node), this.refocus());
    else if (/^Arrow/.test(event.key)) this.walk(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  refocus() {
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const item = this.tree.byNode.get(this.tree.at);
        if (item) this.tree.nodes.made.get(item.key).g.focus({ preventScroll: false });
      }),
    );
  }

  /** Right: to the first child; left: to the parent; up and down: to the nearest cell above or below. */
  walk(arrow) {
    const { byNode, at, nodes } = this.tree;
    const here = byNode.get(at) || byNode.get(0);
    const items = [...byNode.values()];
    const next = {
      ArrowRight: () => items.find((item) => item.parent === here),
      ArrowLeft: () => here.parent,
      ArrowDown: () => nearest(items, here, (item) => item.row > here.row),
      ArrowUp: () => nearest(items, here, (item) => item.row < here.row),
    }[arrow]();
    if (next) nodes.made.get(next.key).g.focus({ preventScroll: false });
  }
}

function nearest(items, here, fits) {
  const far = (item) => Math.abs(item.row - here.row) + 3 * Math.abs(item.col - here.col);
  return items.filter(fits).sort((a, b) => far(a) - far(b))[0];
}

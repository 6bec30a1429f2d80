/* What a person does to the tree: zoom and drag as in pan_and_zoom.js, hover, press, and walk it
   with the keyboard. Draws nothing itself. */
import { attr } from "../../shared/web/dom.js";
import { PanAndZoom } from "../../shared/web/pan_and_zoom.js";
import * as stepWords from "./step_words.js";

/** @import { TreeView } from "./tree_view.js" */

const HEADS = 24; // px of the names above the columns
const ASIDE = 4; // how much further a cell to the side counts

const nodeOf = (key) => {
  if (!key || key[0] === "g") return null;
  return key === "bonus" ? key : Number(key.slice(1));
};

/** Pointer and keyboard of the tree. */
export class TreePointer extends PanAndZoom {
  /** @param {TreeView} tree */
  constructor(tree) {
    super(tree.canvas, () => tree.store.changed(), HEADS);
    this.tree = tree;
    this.store = tree.store;
    tree.canvas.listen(
      {
        hover: (cell) => this.hover(cell),
        press: (cell) => this.press(cell),
        focus: (cell) => this.focused(cell),
        key: (event, cell) => this.key(event, cell),
      },
      this,
    );
    const scrolled = () => !tree.mini.root.hidden && tree.store.changed();
    tree.canvas.scroller.addEventListener("scroll", scrolled, { passive: true });
  }

  // -- pointing at nodes -------------------------------------------------------------------------

  hover(cell) {
    const node = nodeOf(cell?.dataset.key);
    if (this.store.hover !== node) this.store.set({ hover: node });
  }

  // A fold opens; a node is pinned or unpinned, and in the focus layout shows its children.
  press(cell) {
    const { store } = this;
    const { key } = cell.dataset;
    const node = nodeOf(key);
    if (node === null) return store.unfold(key);
    const isPinned = store.pin === node;
    const canFold = this.canFold(node);
    if (canFold && (isPinned || !store.opened.has(key))) store.unfold(key);
    store.set({ pin: isPinned && !canFold ? null : node });
  }

  canFold(node) {
    const { path, topo } = this.store.view();
    if (!this.store.focused || node === "bonus" || path.includes(node)) return false;
    return topo.children[node].length > 0;
  }

  /**
   * Pin a node from elsewhere, unfolding whatever hides it.
   * @param {number} node
   */
  pick(node) {
    const { store, tree } = this;
    const { parents } = store.view().topo;
    for (let up = parents[node]; store.focused && up >= 0; up = parents[up])
      for (const key of ["n" + up, `g${up}:untried`, `g${up}:rejected`]) store.opened.add(key);
    store.set({ pin: node, hover: null });
    if (!store.focused && tree.full) tree.reveal(tree.full.items[node]);
  }

  // -- keyboard in the tree ----------------------------------------------------------------------

  key(event, cell) {
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") this.press(cell);
    else if (/^Arrow/.test(event.key)) this.walk(event.key, cell.dataset.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Arrow keys: the nearest shown cell in that direction.
  walk(arrow, from) {
    const { tree } = this;
    const cells = tree.cells();
    const here = cells.find((cell) => cell.key === from);
    if (!here) return;
    const isAcross = arrow === "ArrowLeft" || arrow === "ArrowRight";
    const sign = arrow === "ArrowRight" || arrow === "ArrowDown" ? 1 : -1;
    const distances = cells.map(({ x, y }) => {
      const along = (isAcross ? x - here.x : y - here.y) * sign;
      const aside = Math.abs(isAcross ? y - here.y : x - here.x);
      return along > 0.5 ? along + aside * ASIDE : Infinity;
    });
    const least = Math.min(...distances);
    if (least === Infinity) return;
    tree.nodes.made.get(cells[distances.indexOf(least)].key).g.focus();
  }

  // The focused cell is the one explained; its label gives its state to a screen reader.
  focused(cell) {
    const view = this.store.view();
    const node = nodeOf(cell?.dataset.key);
    if (!view || node === null) return;
    const level = node === "bonus" ? "" : ", level " + (view.topo.depth[node] + 1);
    const state = stepWords.states[view.stateOf(node)];
    attr(cell, "aria-label", `${view.label(node)}${level}, ${state}`);
    this.store.set({ hover: node });
  }
}

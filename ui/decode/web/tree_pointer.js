/* What a person does to the tree: zoom and drag as in pan.js, hover, press, and walk it by keyboard. Draws nothing itself. */
import { attr } from "../../shared/web/dom.js";
import { PanAndZoom } from "../../shared/web/pan_and_zoom.js";
import * as stepWords from "../../shared/web/step_words.js";

const nodeOf = (key) =>
  !key || key[0] === "g" ? null : key === "bonus" ? key : Number(key.slice(1));
const cellOf = (event) => event.target.closest?.(".sq-n");

export class TreePointer extends PanAndZoom {
  constructor(tree) {
    super(tree, () => tree.store.changed(), 24);
    this.tree = tree;
    this.store = tree.store;
    const { canvas, scroller, store } = tree;
    canvas.addEventListener("pointerover", (event) => this.hover(cellOf(event)));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener(
      "click",
      (event) => cellOf(event) && !this.dragged && this.press(cellOf(event)),
    );
    canvas.addEventListener("keydown", (event) => this.key(event, cellOf(event)));
    canvas.addEventListener("focusin", (event) => this.focused(cellOf(event)));
    scroller.addEventListener("scroll", () => !tree.mini.root.hidden && store.changed(), {
      passive: true,
    });
  }

  // -- pointing at nodes -------------------------------------------------------------------------------------------

  hover(cell) {
    const node = nodeOf(cell?.dataset.key);
    if (this.store.hover !== node) this.store.set({ hover: node });
  }

  /** A fold opens; a node is pinned or let go, and in the focus layout shows its children. */
  press(cell) {
    const { store } = this;
    const key = cell.dataset.key;
    const node = nodeOf(key);
    const view = store.view();
    if (node === null) return store.unfold(key);
    const folds =
      store.focused &&
      node !== "bonus" &&
      !view.path.includes(node) &&
      view.topo.children[node].length;
    if (folds && (store.pin === node || !store.opened.has(key))) store.unfold(key);
    store.set({ pin: store.pin === node && !folds ? null : node });
  }

  /** Pin a node from elsewhere, unfolding whatever hides it. */
  pick(node) {
    const { store, tree } = this;
    const { topo } = store.view();
    for (let up = topo.parents[node]; store.focused && up >= 0; up = topo.parents[up]) {
      store.opened
        .add("n" + up)
        .add("g" + up + ":untried")
        .add("g" + up + ":rejected");
    }
    store.set({ pin: node, hover: null });
    if (!store.focused && tree.full) tree.reveal(tree.full.items[node]);
  }

  // -- keyboard in the tree ----------------------------------------------------------------------------------------

  key(event, cell) {
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") this.press(cell);
    else if (/^Arrow/.test(event.key)) this.walk(event.key, cell.dataset.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Arrow keys: the nearest shown cell in that direction. */
  walk(arrow, from) {
    const { tree } = this;
    const cells = tree.cells();
    const here = cells.find((cell) => cell.key === from);
    if (!here) return;
    const across = arrow === "ArrowLeft" || arrow === "ArrowRight";
    const sign = arrow === "ArrowRight" || arrow === "ArrowDown" ? 1 : -1;
    let best = null;
    let least = Infinity;
    for (const cell of cells) {
      const dx = cell.x - here.x;
      const dy = cell.y - here.y;
      const along = (across ? dx : dy) * sign;
      const aside = Math.abs(across ? dy : dx);
      if (along > 0.5 && along + aside * 4 < least) [best, least] = [cell, along + aside * 4];
    }
    if (best) tree.nodes.made.get(best.key).g.focus();
  }

  /** The focused cell is the one explained, and says its state to a screen reader. */
  focused(cell) {
    const view = this.store.view();
    const node = nodeOf(cell?.dataset.key);
    if (!view || node === null) return;
    const level = node === "bonus" ? "" : ", level " + (view.topo.depth[node] + 1);
    attr(
      cell,
      "aria-label",
      view.label(node) + level + ", " + stepWords.states[view.stateOf(node)],
    );
    this.store.set({ hover: node });
  }
}

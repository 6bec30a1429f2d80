/* What a person does to the tree: zoom, drag, hover, press, and walk it by keyboard. Draws nothing itself. */
(function (S) {
  "use strict";

  const { attr } = S.dom;
  const ZOOM = [0.25, 5];
  const nodeOf = (key) => (!key || key[0] === "g" ? null : key === "bonus" ? key : Number(key.slice(1)));
  const cellOf = (event) => event.target.closest?.(".sq-n");

  S.TreeHands = class {
    constructor(tree) {
      this.tree = tree;
      this.store = tree.store;
      const { canvas, scroller, store } = tree;
      canvas.addEventListener("pointerover", (event) => this.hover(cellOf(event)));
      canvas.addEventListener("pointerleave", () => this.hover(null));
      canvas.addEventListener("click", (event) => cellOf(event) && !this.dragged && this.press(cellOf(event)));
      canvas.addEventListener("keydown", (event) => this.key(event, cellOf(event)));
      canvas.addEventListener("focusin", (event) => this.focused(cellOf(event)));
      scroller.addEventListener("scroll", () => !tree.mini.root.hidden && store.changed(), { passive: true });
      scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      this.drag(scroller);
    }

    // -- zoom and pan ------------------------------------------------------------------------------------------------

    /** Zoom about a point of the window, or about the middle of what is in view. */
    zoomTo(zoom, at) {
      const { tree } = this, { scroller } = tree;
      const before = tree.zoom, next = Math.max(ZOOM[0], Math.min(ZOOM[1], zoom));
      if (!tree.frame || next === before) return;
      const box = scroller.getBoundingClientRect();
      const px = at ? at.x - box.left : scroller.clientWidth / 2, py = at ? at.y - box.top : scroller.clientHeight / 2;
      const x = (scroller.scrollLeft + px) / before, y = (scroller.scrollTop + py) / before;
      tree.zoom = next;
      tree.scale();
      scroller.scrollLeft = x * next - px;
      scroller.scrollTop = y * next - py;
      this.store.changed();
    }

    zoomBy(factor) { this.zoomTo(this.tree.zoom * factor); }

    /** The whole tree in the box; once more: back to the size at which it can be read. */
    zoomFit() {
      const { frame, size, zoom } = this.tree;
      if (!frame) return;
      const whole = Math.min(1, size.w / frame.width, (size.h - 24) / frame.height);
      this.zoomTo(Math.abs(zoom - whole) < 0.001 ? 1 : whole);
    }

    wheel(event) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoomTo(this.tree.zoom * Math.exp(-event.deltaY * 0.002), { x: event.clientX, y: event.clientY });
    }

    /** Dragging moves what is in view; a press that moved is no click. Touch scrolls by itself. */
    drag(scroller) {
      let start = null;
      scroller.addEventListener("pointerdown", (event) => {
        this.dragged = false;
        if (event.button || event.pointerType === "touch") return;
        start = { x: event.clientX + scroller.scrollLeft, y: event.clientY + scroller.scrollTop, id: event.pointerId };
      });
      scroller.addEventListener("pointermove", (event) => {
        if (!start) return;
        const dx = start.x - event.clientX - scroller.scrollLeft, dy = start.y - event.clientY - scroller.scrollTop;
        if (!this.dragged && Math.hypot(dx, dy) < 5) return;
        if (!this.dragged) scroller.setPointerCapture(start.id);
        this.dragged = true;
        scroller.scrollLeft += dx;
        scroller.scrollTop += dy;
      });
      for (const name of ["pointerup", "pointercancel"]) scroller.addEventListener(name, () => { start = null; });
    }

    // -- pointing at nodes -------------------------------------------------------------------------------------------

    hover(cell) {
      const node = nodeOf(cell?.dataset.key);
      if (this.store.hover !== node) this.store.set({ hover: node });
    }

    /** A fold opens; a node is pinned or let go, and in the focus layout shows its children. */
    press(cell) {
      const { store } = this, key = cell.dataset.key, node = nodeOf(key), view = store.view();
      if (node === null) return store.unfold(key);
      const folds = store.focused && node !== "bonus" && !view.path.includes(node) && view.topo.children[node].length;
      if (folds && (store.pin === node || !store.opened.has(key))) store.unfold(key);
      store.set({ pin: store.pin === node && !folds ? null : node });
    }

    /** Pin a node from elsewhere, unfolding whatever hides it. */
    pick(node) {
      const { store, tree } = this, { topo } = store.view();
      for (let up = topo.parents[node]; store.focused && up >= 0; up = topo.parents[up]) {
        store.opened.add("n" + up).add("g" + up + ":untried").add("g" + up + ":rejected");
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
      const { tree } = this, cells = tree.cells(), here = cells.find((cell) => cell.key === from);
      if (!here) return;
      const across = arrow === "ArrowLeft" || arrow === "ArrowRight", sign = arrow === "ArrowRight" || arrow === "ArrowDown" ? 1 : -1;
      let best = null, least = Infinity;
      for (const cell of cells) {
        const dx = cell.x - here.x, dy = cell.y - here.y;
        const along = (across ? dx : dy) * sign, aside = Math.abs(across ? dy : dx);
        if (along > 0.5 && along + aside * 4 < least) [best, least] = [cell, along + aside * 4];
      }
      if (best) tree.nodes.made.get(best.key).g.focus();
    }

    /** The focused cell is the one explained, and says its state to a screen reader. */
    focused(cell) {
      const view = this.store.view(), node = nodeOf(cell?.dataset.key);
      if (!view || node === null) return;
      const level = node === "bonus" ? "" : ", level " + (view.topo.depth[node] + 1);
      attr(cell, "aria-label", view.label(node) + level + ", " + S.words.states[view.stateOf(node)]);
      this.store.set({ hover: node });
    }
  };
})((window.Sequoia = window.Sequoia || {}));

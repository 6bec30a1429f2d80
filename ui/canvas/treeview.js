/* The token tree: all nodes in a comb, or the step's own part of a large tree; hover, click, keyboard, zoom and pan. */
(function (S) {
  "use strict";

  const { el, svg, attr, text, show, pool } = S.dom;
  const ZOOM = [0.25, 5];
  const FLAT = 5; // rows; so flat a tree leaves room for the text below it

  S.TreeView = class {
    /** `onShape(flat)` tells the stage whether the tree is a chain or nearly one. */
    constructor(store, host, onShape) {
      this.store = store;
      this.onShape = onShape;
      this.zoom = 1;
      this.pass = 0;
      const panel = S.panel(host, { part: "tree", title: "Token tree", cls: "sq-tree" });
      this.panel = panel;
      this.tools = new S.TreeTools(store, panel.tools, this);
      const split = el("div", { class: "sq-tree-split" }, panel.body);
      this.scroller = el("div", { class: "sq-tree-scroll" }, split);
      this.heads = el("div", { class: "sq-cols", "aria-hidden": "true" }, this.scroller);
      this.headPool = pool(() => el("span", { class: "sq-col" }, this.heads));
      this.canvas = svg("svg", { class: "sq-tree-svg" }, this.scroller);
      this.nodes = new S.Nodes(this.canvas);
      this.mini = new S.Minimap(split, (node) => this.pick(node));
      this.legend = new S.Legend(panel.foot);
      this.listen();
      this.size = S.dom.sized(this.scroller, () => store.changed());
      this.split = split;
      document.fonts?.ready.then(() => {
        this.family = null;
        store.changed();
      });
    }

    // -- layout and paint --------------------------------------------------------------------------------------------

    paint() {
      const { store } = this, view = store.view();
      this.tools.paint(view);
      this.legend.paint(store, view);
      this.panel.root.classList.toggle("is-focused", store.focused);
      this.panel.root.classList.toggle("sq-heat", store.heat && Boolean(view));
      if (!view) return this.blank();
      this.family ||= getComputedStyle(this.canvas).fontFamily;
      const focus = store.focused;
      this.resize(view.topo, focus);
      if (!this.size.w) return; // not on screen yet: the observer calls again
      const plan = focus ? this.focusPlan(view) : this.fullPlan(view);
      this.fitBox(plan, focus);
      this.arrange(plan, view);
      this.edges(plan, view);
      this.marks(view);
      this.columns(plan);
      this.overview(view, focus);
      this.follow(plan, view);
    }

    blank() {
      this.topo = null;
      this.nodes.clear();
      this.nodes.draw([]);
      this.headPool.take(0);
      show(this.mini.root, false);
    }

    /** How tall the panel would like to be: by rows for a small tree, by the window for a large one. */
    resize(topo, focus) {
      const least = topo.rows * S.frame.LEAST_PITCH + 14;
      const roof = Math.max(430, Math.min(window.innerHeight - 530, 780));
      const wish = focus ? Math.max(roof, 450) : Math.max(Math.min(topo.rows * 42 + 14, roof), Math.min(least, 690), 230);
      this.onShape(topo.rows <= FLAT);
      const basis = Math.round(topo.rows <= FLAT && !focus ? Math.max(topo.rows * 46 + 30, 104) : wish + 22) + "px";
      if (this.split.style.flexBasis !== basis) this.split.style.flexBasis = basis;
    }

    fullPlan(view) {
      const { topo } = view;
      if (this.full?.topo !== topo) {
        const items = topo.row.map((row, node) => ({
          key: "n" + node, kind: "node", node, col: topo.depth[node], row, folded: 0,
          end: !topo.children[node].length,
        }));
        items.forEach((item) => { item.parent = item.node ? items[topo.parents[item.node]] : null; });
        this.full = { topo, items, rows: topo.rows, cols: topo.levels + 1 };
      }
      const end = view.path[view.path.length - 1];
      const bonus = view.kind === "none" ? [] : [{
        key: "bonus", kind: "bonus", node: -1, parent: this.full.items[end], col: topo.levels, row: topo.row[end], folded: 0,
      }];
      return { ...this.full, bonus, byNode: (node) => this.full.items[node] };
    }

    focusPlan(view) {
      const plan = S.layout.focus(view.topo, view, this.store.opened, view.kind !== "none");
      const found = new Map(plan.items.map((item) => [item.node, item]));
      return { ...plan, topo: view.topo, bonus: [], byNode: (node) => found.get(node) };
    }

    fitBox(plan, focus) {
      if (this.topo !== plan.topo) {
        this.topo = plan.topo;
        this.nodes.clear();
        this.zoom = 1;
      }
      const wide = this.size.w, tall = this.size.h - 22;
      const shape = [plan.rows, plan.cols, wide, tall, focus, this.family].join();
      if (this.shape !== shape) {
        this.shape = shape;
        this.frame = S.frame.frame({ rows: plan.rows, cols: plan.cols, width: wide, height: tall, focus });
        this.panel.root.style.setProperty("--sq-size", this.frame.size.toFixed(1) + "px");
      }
      const { frame, zoom } = this;
      attr(this.canvas, "viewBox", `0 0 ${frame.width} ${frame.height}`);
      attr(this.canvas, "width", Math.round(frame.width * zoom));
      attr(this.canvas, "height", Math.round(frame.height * zoom));
      this.canvas.classList.toggle("sq-dots", frame.size * zoom < 6);
    }

    /** A row's last cell may use the free room to its right; the last column is the target's. */
    room(item, plan) {
      const { frame } = this;
      if (!item.end) return frame.text;
      const free = this.store.focused ? 240 : (plan.cols - 1 - item.col) * frame.column - frame.gutter - 20;
      return Math.max(frame.text, Math.min(free, 240));
    }

    arrange(plan, view) {
      const { nodes, frame, store, family } = this, pass = ++this.pass;
      for (const item of [...plan.items, ...plan.bonus]) {
        const made = nodes.get(item.key, item.col + 1);
        nodes.place(made, frame, item, item.parent, pass);
        if (item.kind === "more") {
          nodes.say(made, frame, family, "… " + item.count + " more (" + item.nodes + " nodes)", "", "more-" + item.what, 300);
          continue;
        }
        const node = item.kind === "bonus" ? "bonus" : item.node;
        nodes.say(made, frame, family, view.label(node), item.folded ? "▸" + item.folded : "", view.stateOf(node), this.room(item, plan));
        nodes.note(made, frame, frame.roomy && node !== "bonus" && node !== 0 ? this.odds(view, node) : "");
        if (store.heat && node !== "bonus") made.g.style.setProperty("--h", Math.sqrt(store.share(view.step.tree, node)).toFixed(3));
      }
      nodes.sweep(pass);
    }

    odds(view, node) {
      const p = view.p(node), q = view.q(node);
      return (q === null ? "" : "q " + S.num.short(q)) + (p === null ? "" : "  p " + S.num.short(p));
    }

    /** Rejected first, accepted over them, the target's own last. */
    edges(plan, view) {
      const { frame } = this, drawn = [];
      for (const s of ["rejected", "accepted"]) {
        for (const item of plan.items) {
          if (item.kind === "node" && item.parent && view.state[item.node] === s) {
            drawn.push({ d: (s === "rejected" ? S.frame.branch : S.frame.edge)(frame, item.parent, item), s });
          }
        }
      }
      for (const item of [...plan.items, ...plan.bonus]) {
        if (item.kind !== "bonus") continue;
        const way = item.parent.row === item.row ? S.frame.bonus : S.frame.branch;
        drawn.push({ d: way(frame, item.parent, item, view.kind === "bonus"), s: "own" });
      }
      this.nodes.draw(drawn);
    }

    /** Selection, hover and search as classes on the few nodes concerned. */
    marks(view) {
      const { store, nodes } = this;
      const key = (node) => (node === null ? null : node === "bonus" ? "bonus" : "n" + node);
      this.swap("is-selected", new Set([key(store.selected)]));
      this.swap("is-pinned", new Set([key(store.pin)]));
      const hits = store.query ? this.found(view) : [];
      this.swap("is-match", new Set(hits.map(key)));
      this.nodes.pills.classList.toggle("sq-searching", hits.length > 0);
      const home = store.selected === null || !nodes.made.has(key(store.selected)) ? "n0" : key(store.selected);
      this.swap("is-home", new Set([home]), (g, on) => attr(g, "tabindex", on ? "0" : "-1"));
    }

    swap(name, keys, also) {
      this.marked ||= {};
      for (const key of this.marked[name] || []) {
        const item = this.nodes.made.get(key);
        if (keys.has(key) || !item) continue;
        item.g.classList.remove(name);
        also?.(item.g, false);
      }
      for (const key of keys) {
        const item = key && this.nodes.made.get(key);
        if (!item) continue;
        item.g.classList.add(name);
        also?.(item.g, true);
      }
      this.marked[name] = keys;
    }

    /** Nodes whose text holds the query, and the target's own token. */
    found(view) {
      const query = this.store.query.toLowerCase();
      const holds = (node) => view.piece(node).toLowerCase().includes(query) || view.label(node).toLowerCase().includes(query);
      const hits = [];
      for (let node = 0; node < view.topo.n; node++) if (holds(node)) hits.push(node);
      if (view.kind !== "none" && holds("bonus")) hits.push("bonus");
      return hits;
    }

    columns(plan) {
      const { frame, zoom } = this, levels = plan.topo.levels;
      const count = plan.bonus.length || plan.cols > levels ? Math.max(plan.cols, 1) : plan.cols;
      const key = [this.shape, zoom, count, levels, plan.cols].join();
      if (this.headed === key) return;
      this.headed = key;
      const offset = this.store.focused ? 0 : Math.max(0, (this.size.w - frame.width * zoom) / 2);
      this.headPool.take(count).slice(0, count).forEach((head, col) => {
        const wide = frame.column * zoom;
        const own = col >= levels;
        text(head, own ? "target" : wide > 56 ? "level " + (col + 1) : wide > 20 ? String(col + 1) : "");
        head.style.left = (offset + (frame.x(col) + 1) * zoom).toFixed(1) + "px";
        head.classList.toggle("sq-col-own", own);
      });
      this.heads.style.width = Math.max(frame.width * zoom, 1) + "px";
    }

    overview(view, focus) {
      const { size, frame, zoom } = this;
      const overflowing = frame.height * zoom > size.h + 4 || frame.width * zoom > size.w + 4;
      const wanted = view.topo.n > 60 && (focus || overflowing || view.topo.rows * S.frame.LEAST_PITCH > 700);
      show(this.mini.root, wanted);
      if (!wanted) return;
      this.mini.paint(view.topo, view, this.store.selected);
      this.mini.frame(focus || !overflowing ? null : this.part());
    }

    part() {
      const { scroller, size, frame, zoom } = this, w = frame.width * zoom, h = frame.height * zoom;
      return {
        x: scroller.scrollLeft / w, y: scroller.scrollTop / h,
        w: Math.min(1, size.w / w), h: Math.min(1, (size.h - 22) / h),
      };
    }

    /** When a step is new and the tree larger than its box, bring the end of the path into view. */
    follow(plan, view) {
      const place = this.store.version + ":" + view.i + ":" + this.shape;
      if (this.shown === place) return;
      this.shown = place;
      const item = plan.byNode(view.path[view.path.length - 1]);
      if (item) this.reveal(item);
    }

    reveal(item) {
      const { scroller, frame, zoom, size } = this;
      if (frame.height * zoom <= size.h && frame.width * zoom <= size.w) return;
      const x = frame.x(item.col) * zoom, y = frame.y(item.row) * zoom, edge = 40;
      const left = scroller.scrollLeft, top = scroller.scrollTop, wide = scroller.clientWidth, tall = scroller.clientHeight - 22;
      const far = frame.column * zoom + edge;
      if (x < left + edge || x + far > left + wide) scroller.scrollLeft = x - wide / 2;
      if (y < top + edge || y > top + tall - edge) scroller.scrollTop = y - tall / 2;
    }

    // -- zoom, pan, pick ---------------------------------------------------------------------------------------------

    zoomTo(zoom, at) {
      const { scroller } = this;
      const before = this.zoom, next = Math.max(ZOOM[0], Math.min(ZOOM[1], zoom));
      if (!this.frame || next === before) return;
      const box = scroller.getBoundingClientRect();
      const px = at ? at.x - box.left : scroller.clientWidth / 2, py = at ? at.y - box.top : scroller.clientHeight / 2;
      const x = (scroller.scrollLeft + px) / before, y = (scroller.scrollTop + py) / before;
      this.zoom = next;
      attr(this.canvas, "width", Math.round(this.frame.width * next));
      attr(this.canvas, "height", Math.round(this.frame.height * next));
      scroller.scrollLeft = x * next - px;
      scroller.scrollTop = y * next - py;
      this.store.changed();
    }

    /** The whole tree in the box; once more: back to the size at which it can be read. */
    zoomFit() {
      if (!this.frame) return;
      const whole = Math.min(1, this.scroller.clientWidth / this.frame.width, (this.scroller.clientHeight - 24) / this.frame.height);
      this.zoomTo(Math.abs(this.zoom - whole) < 0.001 ? 1 : whole);
    }

    pick(node) {
      const { store } = this, { topo } = store.view();
      if (store.focused) for (let up = topo.parents[node]; up >= 0; up = topo.parents[up]) this.open(up, node);
      store.set({ pin: node, hover: null });
      const item = !store.focused && this.full?.items[node];
      if (item) this.reveal(item);
    }

    /** Unfold what hides the way to a node. */
    open(parent) {
      const { opened } = this.store;
      opened.add("n" + parent).add("g" + parent + ":untried").add("g" + parent + ":rejected");
    }

    press(target) {
      const { store } = this, key = target.dataset.key;
      if (key[0] === "g") return store.unfold(key);
      const node = key === "bonus" ? "bonus" : Number(key.slice(1));
      const folds = store.focused && node !== "bonus" && !store.view().path.includes(node) && store.view().topo.children[node].length;
      if (folds && (store.pin === node || !store.opened.has(key))) store.unfold(key);
      store.set({ pin: store.pin === node && !folds ? null : node });
    }

    listen() {
      const { canvas, scroller, store } = this;
      const nodeOf = (event) => event.target.closest?.(".sq-n");
      canvas.addEventListener("pointerover", (event) => this.hover(nodeOf(event)));
      canvas.addEventListener("pointerleave", () => this.hover(null));
      canvas.addEventListener("click", (event) => nodeOf(event) && !this.dragged && this.press(nodeOf(event)));
      canvas.addEventListener("keydown", (event) => this.key(event, nodeOf(event)));
      canvas.addEventListener("focusin", (event) => this.spoken(nodeOf(event)));
      scroller.addEventListener("scroll", () => !this.mini.root.hidden && store.changed(), { passive: true });
      scroller.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoomTo(this.zoom * Math.exp(-event.deltaY * 0.002), { x: event.clientX, y: event.clientY });
      }, { passive: false });
      this.drag();
    }

    drag() {
      const { scroller } = this;
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

    hover(target) {
      const key = target?.dataset.key;
      const node = !key || key[0] === "g" ? null : key === "bonus" ? "bonus" : Number(key.slice(1));
      if (this.store.hover !== node) this.store.set({ hover: node });
    }

    // -- keyboard in the tree ----------------------------------------------------------------------------------------

    key(event, target) {
      if (!target || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Enter") this.press(target);
      else if (/^Arrow/.test(event.key)) this.walk(event.key, target.dataset.key);
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    /** Arrow keys: the nearest shown cell in that direction. */
    walk(arrow, from) {
      const items = [...this.nodes.made].filter(([, item]) => item.seen === this.pass).map(([key, item]) => ({ key, at: place(item) }));
      const here = items.find((item) => item.key === from);
      if (!here) return;
      const across = arrow === "ArrowLeft" || arrow === "ArrowRight", sign = arrow === "ArrowRight" || arrow === "ArrowDown" ? 1 : -1;
      let best = null, least = Infinity;
      for (const item of items) {
        const dx = item.at.x - here.at.x, dy = item.at.y - here.at.y;
        const along = (across ? dx : dy) * sign, aside = Math.abs(across ? dy : dx);
        if (along > 0.5 && along + aside * 4 < least) [best, least] = [item, along + aside * 4];
      }
      if (best) this.nodes.made.get(best.key).g.focus({ preventScroll: false });
    }

    /** The focused cell is the one explained, and says its state to a screen reader. */
    spoken(target) {
      if (!target) return;
      const view = this.store.view(), key = target.dataset.key;
      if (!view || key[0] === "g") return;
      const node = key === "bonus" ? "bonus" : Number(key.slice(1));
      const level = node === "bonus" ? "" : ", level " + (view.topo.depth[node] + 1);
      attr(target, "aria-label", view.label(node) + level + ", " + S.words.states[view.stateOf(node)]);
      this.store.set({ hover: node });
    }
  };

  const place = (item) => {
    const [x, y] = item.where.split("|")[0].split(",").map(Number);
    return { x, y };
  };
})((window.Sequoia = window.Sequoia || {}));

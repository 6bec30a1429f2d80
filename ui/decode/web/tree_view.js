/* The token tree: all nodes in a comb, or the step's own part of a large tree. What a hand does to it is in treehands.js. */
import { makePanel } from "../../shared/web/panel.js";
import { Minimap } from "./minimap.js";
import { TreePointer } from "./tree_pointer.js";
import { Legend, Stump, TreeTools, heatShade } from "./tree_tools.js";
import * as dom from "../../shared/web/dom.js";
import { attr, el, pool, show, svg, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import * as treeFrame from "../../shared/web/tree_frame.js";
import * as treeLayout from "../../shared/web/tree_layout.js";
import { Nodes } from "../../shared/web/tree_nodes.js";

const FLAT = 5; // rows; so flat a tree leaves room for the text below it

/** What stands above column `col`, as far as `room` px hold it; the target's own token stands behind the `levels` of the tree. */
function columnName(col, levels, room) {
  if (col >= levels) return "target";
  return room > 56 || (!col && room > 42) ? "level " + (col + 1) : room > 20 ? String(col + 1) : "";
}

export class TreeView {
  /** `onShape(flat)` tells the stage whether the tree is a chain or nearly one. */
  constructor(store, host, onShape) {
    this.store = store;
    this.onShape = onShape;
    this.zoom = 1;
    this.pass = 0;
    const panel = makePanel(host, { part: "tree", title: "Token tree", cls: "sq-tree" });
    this.panel = panel;
    this.tools = new TreeTools(store, panel.tools, this);
    this.legend = new Legend(panel.body);
    this.stump = new Stump(store, panel.body);
    const split = el("div", { class: "sq-tree-split" }, panel.body);
    this.scroller = el("div", { class: "sq-tree-scroll" }, split);
    this.heads = el("div", { class: "sq-cols", "aria-hidden": "true" }, this.scroller);
    this.headPool = pool(() => el("span", { class: "sq-col" }, this.heads));
    this.canvas = svg("svg", { class: "sq-tree-svg" }, this.scroller);
    this.nodes = new Nodes(this.canvas);
    this.mini = new Minimap(split, (node) => this.hands.pick(node));
    this.hands = new TreePointer(this);
    this.size = dom.sized(this.scroller, () => store.changed());
    this.split = split;
    document.fonts?.ready.then(() => {
      this.family = null;
      store.changed();
    });
  }

  // -- layout and paint --------------------------------------------------------------------------------------------

  paint() {
    const { store } = this;
    const view = store.view();
    this.tools.paint(view);
    this.legend.paint(store, view);
    this.stump.paint();
    this.panel.root.classList.toggle("is-focused", store.focused);
    this.panel.root.classList.toggle("sq-heat", store.heat && Boolean(view));
    if (!view) return this.blank();
    this.family ||= getComputedStyle(this.canvas).fontFamily;
    const focus = store.focused;
    this.resize(store.largest, focus);
    if (!this.size.w) return; // not on screen yet: the observer calls again
    const plan = focus ? this.focusPlan(view) : this.fullPlan(view);
    this.fitBox(plan, view, focus);
    this.arrange(plan, view);
    this.edges(plan, view);
    this.marks(view);
    this.columns(plan);
    this.overview(view, focus);
    this.follow(plan, view);
    this.drawn = { view, plan };
  }

  blank() {
    this.topo = this.drawn = this.headed = null;
    this.nodes.clear();
    this.nodes.draw([]);
    this.headPool.take(0);
    show(this.mini.root, false);
  }

  /** How tall the panel would like to be: by rows for a small tree, by the window for a large one. */
  resize({ rows }, focus) {
    const least = rows * treeFrame.LEAST_PITCH + 14;
    const roof = Math.max(400, Math.min(window.innerHeight - 530, 780));
    const wish = focus ? roof : Math.max(Math.min(rows * 42 + 14, roof), Math.min(least, 690), 230);
    const flat = rows <= FLAT && !focus;
    this.onShape(flat);
    const basis = Math.round(flat ? Math.max(rows * 46 + 30, 104) : wish + 22) + "px";
    if (this.split.style.flexBasis !== basis) this.split.style.flexBasis = basis;
  }

  fullPlan(view) {
    const { topo } = view;
    if (this.full?.topo !== topo) {
      const items = topo.row.map((row, node) => ({
        key: "n" + node,
        kind: "node",
        node,
        col: topo.depth[node],
        row,
        folded: 0,
        end: !topo.children[node].length,
      }));
      items.forEach((item) => {
        item.parent = item.node ? items[topo.parents[item.node]] : null;
      });
      this.full = { topo, items, rows: topo.rows, cols: topo.levels + 1 };
    }
    const end = view.path[view.path.length - 1];
    const bonus =
      view.kind === "none"
        ? []
        : [
            {
              key: "bonus",
              kind: "bonus",
              node: -1,
              parent: this.full.items[end],
              col: topo.levels,
              row: topo.row[end],
              folded: 0,
            },
          ];
    return { ...this.full, bonus, byNode: (node) => this.full.items[node] };
  }

  focusPlan(view) {
    const plan = treeLayout.focus(view.topo, view, this.store.opened, view.kind !== "none");
    const found = new Map(plan.items.map((item) => [item.node, item]));
    return { ...plan, topo: view.topo, bonus: [], byNode: (node) => found.get(node) };
  }

  fitBox(plan, view, focus) {
    if (this.topo !== plan.topo) {
      this.topo = plan.topo;
      this.nodes.clear();
      this.zoom = 1;
    }
    const wide = this.size.w;
    const tall = this.size.h - 22;
    const crowded = focus && plan.cols * 86 > wide - 28; // columns then depend on the step's text
    const { largest } = this.store;
    const rows = focus ? plan.rows : Math.max(plan.rows, largest.rows);
    const cols = focus ? plan.cols : Math.max(plan.cols, largest.levels + 1);
    const shape = [rows, cols, wide, tall, focus, this.family, crowded && this.store.at].join();
    if (this.shape !== shape) {
      this.shape = shape;
      this.frame = treeFrame.makeFrame({
        rows,
        cols,
        width: wide,
        height: tall,
        focus,
        wants: (size) => this.wants(plan, view, size),
      });
    }
    const { frame, zoom } = this;
    attr(this.canvas, "viewBox", `0 0 ${frame.width} ${frame.height}`);
    this.scale();
    this.canvas.classList.toggle("sq-dots", frame.size * zoom < 6);
  }

  scale() {
    attr(this.canvas, "width", Math.round(this.frame.width * this.zoom));
    attr(this.canvas, "height", Math.round(this.frame.height * this.zoom));
  }

  /** The cells now on screen: [{key, x, y}]. */
  cells() {
    return [...this.nodes.made]
      .filter(([, item]) => item.seen === this.pass)
      .map(([key, { where }]) => {
        const [x, y] = where.split("|")[0].split(",").map(Number);
        return { key, x, y };
      });
  }

  /** Pixels each column's text would fill; cells that end their row need none. */
  wants(plan, view, size) {
    const wants = new Array(plan.cols).fill(20);
    for (const item of plan.items) {
      if (item.kind === "more" || item.end) continue;
      const word =
        view.label(item.kind === "bonus" ? "bonus" : item.node) +
        (item.folded ? " ▸" + item.folded : "");
      wants[item.col] = Math.max(
        wants[item.col],
        Math.min(treeFrame.widthOf(word, this.family) * size, 110),
      );
    }
    return wants;
  }

  /** A row's last cell may use the free room to its right; the last column is the target's. */
  room(item, plan) {
    const { frame } = this;
    if (!item.end) return frame.text(item.col);
    const free = this.store.focused
      ? 240
      : frame.x(plan.cols - 1) - frame.x(item.col) - frame.gutter - 20;
    return Math.max(frame.text(item.col), Math.min(free, 240));
  }

  arrange(plan, view) {
    const { nodes, frame, store, family } = this;
    const pass = ++this.pass;
    for (const item of [...plan.items, ...plan.bonus]) {
      const made = nodes.get(item.key, item.col + 1);
      nodes.place(made, frame, item, item.parent, pass);
      if (item.kind === "more") {
        nodes.write(
          made,
          frame,
          family,
          "… " + item.count + " more (" + item.nodes + " nodes)",
          "",
          "more-" + item.what,
          300,
        );
        continue;
      }
      const node = item.kind === "bonus" ? "bonus" : item.node;
      nodes.write(
        made,
        frame,
        family,
        view.label(node),
        item.folded ? "▸" + item.folded : "",
        view.stateOf(node),
        this.room(item, plan),
      );
      nodes.note(
        made,
        frame,
        frame.roomy && node !== "bonus" && node !== 0 ? this.odds(view, node) : "",
      );
      if (store.heat && node !== "bonus")
        attr(made.g, "data-heat", heatShade(store.share(view.step.tree, node)));
    }
    nodes.sweep(pass);
  }

  /** q and p where a column has room for both, q alone where it has room for one: the same for every node of the run. */
  odds(view, node) {
    const p = view.p(node);
    const q = view.q(node);
    const room = this.oddsRoom();
    return (
      (q === null || room < 1 ? "" : "q " + format.short(q)) +
      (p === null || room < 2 ? "" : " p " + format.short(p))
    );
  }

  /** How many of the longest numbers fit below a pill of the narrowest column: 0, 1 or 2. */
  oddsRoom() {
    const { frame } = this;
    if (this.oddsFor === frame) return this.oddsCount;
    this.oddsFor = frame;
    const family = getComputedStyle(this.panel.root).fontFamily;
    const wide = (words) => treeFrame.widthOf(words, family) * treeFrame.NOTE_SIZE;
    this.oddsCount =
      frame.least >= wide("q 0.0088 p 0.0088") ? 2 : frame.least >= wide("q 0.0088") ? 1 : 0;
    return this.oddsCount;
  }

  /** Rejected first, accepted over them, the target's own last. */
  edges(plan, view) {
    const { frame } = this;
    const drawn = [];
    for (const s of ["rejected", "accepted"]) {
      for (const item of plan.items) {
        if (item.kind === "node" && item.parent && view.state[item.node] === s) {
          drawn.push({
            d: (s === "rejected" ? treeFrame.branch : treeFrame.edge)(frame, item.parent, item),
            s,
          });
        }
      }
    }
    for (const item of [...plan.items, ...plan.bonus]) {
      if (item.kind !== "bonus") continue;
      const way = item.parent.row === item.row ? treeFrame.bonus : treeFrame.branch;
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
    const home =
      store.selected === null || !nodes.made.has(key(store.selected)) ? "n0" : key(store.selected);
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
    const holds = (node) =>
      view.piece(node).toLowerCase().includes(query) ||
      view.label(node).toLowerCase().includes(query);
    const hits = [];
    for (let node = 0; node < view.topo.n; node++) if (holds(node)) hits.push(node);
    if (view.kind !== "none" && holds("bonus")) hits.push("bonus");
    return hits;
  }

  /** What stands above each column at a `zoom`. */
  columnNames({ cols, topo }, zoom) {
    const { least, gutter } = this.frame;
    return Array.from({ length: cols }, (_, col) =>
      columnName(col, topo.levels, (least + gutter) * zoom),
    );
  }

  columns(plan) {
    const { frame, zoom } = this;
    const count = plan.cols;
    const { levels } = plan.topo;
    const key = [this.shape, zoom, count, levels].join();
    if (this.headed === key) return;
    this.headed = key;
    const names = this.columnNames(plan, zoom);
    const offset = this.store.focused ? 0 : Math.max(0, (this.size.w - frame.width * zoom) / 2);
    this.headPool
      .take(count)
      .slice(0, count)
      .forEach((head, col) => {
        text(head, names[col]);
        head.style.left = (offset + (frame.x(col) + 1) * zoom).toFixed(1) + "px";
        head.classList.toggle("sq-col-own", col >= levels);
      });
    this.heads.style.width = Math.max(frame.width * zoom, 1) + "px";
  }

  overview(view, focus) {
    const { size, frame, zoom } = this;
    const overflowing = frame.height * zoom > size.h + 4 || frame.width * zoom > size.w + 4;
    const wanted =
      view.topo.n > 60 && (focus || overflowing || view.topo.rows * treeFrame.LEAST_PITCH > 700);
    show(this.mini.root, wanted);
    if (!wanted) return;
    const hits = this.store.query ? this.found(view).filter((node) => node !== "bonus") : [];
    this.mini.paint(view.topo, view, this.store.selected, hits);
    this.mini.frame(focus || !overflowing ? null : this.part());
  }

  part() {
    const { scroller, size, frame, zoom } = this;
    const w = frame.width * zoom;
    const h = frame.height * zoom;
    return {
      x: scroller.scrollLeft / w,
      y: scroller.scrollTop / h,
      w: Math.min(1, size.w / w),
      h: Math.min(1, (size.h - 22) / h),
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
    const x = frame.x(item.col) * zoom;
    const y = frame.y(item.row) * zoom;
    const edge = 40;
    const left = scroller.scrollLeft;
    const top = scroller.scrollTop;
    const wide = scroller.clientWidth;
    const tall = scroller.clientHeight - 22;
    const far = (frame.x(item.col + 1) - frame.x(item.col)) * zoom + edge;
    if (x < left + edge || x + far > left + wide) scroller.scrollLeft = x - wide / 2;
    if (y < top + edge || y > top + tall - edge) scroller.scrollTop = y - tall / 2;
  }
}

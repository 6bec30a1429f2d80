/* The panel with a small picture of the fastest tree. */
import { el, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { topology } from "../../shared/web/tree_layout.js";
import { allCells } from "../../shared/web/tree_scene.js";
import { TreeView } from "../../shared/web/tree_view.js";

const TITLE = "The fastest tree";

/** The panel. */
export class FastestTree {
  /** @param {HTMLElement} host */
  constructor(host) {
    const panel = makePanel(host, { part: "tree", title: TITLE, cls: "hw-tree" });
    this.word = el("span", { class: "sq-word" }, panel.titleBox);
    this.view = new TreeView(panel.body, { cls: "sq-tree-whole", dots: ["untested", "root"] });
  }

  /** @param {number[]} parents the parent of each node; -1 for the root */
  show(parents) {
    const topo = topology(parents);
    const size = `${count(topo.n, "node")}, ${count(topo.levels, "level")}`;
    text(this.word, "predicted · " + size);
    this.view.describe(`${TITLE}: ${size}`);
    this.view.draw({
      cells: allCells(topo),
      looks: parents.map((_, node) => ({ state: node ? "untested" : "root" })),
      rows: topo.rows,
      cols: topo.levels,
    });
  }
}

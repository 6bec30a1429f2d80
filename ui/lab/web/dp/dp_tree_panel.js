/* The tree of the selected cell of the DP table. One button pins the cell; another uses its tree in
   the Lab. */
import { DpTree } from "./dp_tree.js";
import * as dpWords from "./dp_words.js";
import { attr, button, el, text } from "../../../shared/web/dom.js";
import * as format from "../../../shared/web/format.js";
import { rove } from "../../../shared/web/roving_focus.js";
import TOOLTIPS from "../../../../assets/tooltips.json" with { type: "json" };

const USE = "Use this tree";
const USED = "This tree is in use";

/** A heading with the two buttons, and the picture of the tree. */
export class DpTreePanel {
  /**
   * @param {HTMLElement} host
   * @param {import("./dp_view.js").Dp} dp
   */
  constructor(host, dp) {
    this.dp = dp;
    const head = el("div", { class: "dp-tree-head" }, host);
    this.title = el("p", { class: "dp-tree-title", "data-part": "dp-tree-title" }, head);
    const hint = TOOLTIPS["button hold a cell"];
    this.pin = button(head, {
      icon: "pin",
      label: "Pin this cell",
      hint,
      cls: "dp-pin",
      act: () => dp.set({ pinned: !dp.pinned }),
    });
    this.use = button(head, { text: USE, cls: "dp-use" });
    this.use.dataset.part = "dp-use";
    this.use.addEventListener("click", () => dp.select());
    rove(head);
    this.tree = new DpTree(host);
  }

  /** Show the current state. */
  paint() {
    const { topo, scores, parents, pinned } = this.dp;
    const { step } = this.dp.shown();
    this.tree.paint(topo, scores, step);
    attr(this.pin, "aria-pressed", String(pinned));
    // the panel with the Lab's tree may be out of view, so the button says whether it already shows
    // the cell's tree
    const isShown = Boolean(parents) && this.dp.isShown(parents);
    this.use.disabled = !parents || isShown;
    text(this.use.querySelector("span"), isShown ? USED : USE);
    text(this.title, this.words());
  }

  words() {
    const { topo, table, cell } = this.dp;
    if (!topo) return dpWords.name(cell);
    const size = `${format.count(topo.n, "node")} on ${format.count(topo.levels, "level")}`;
    const value = table.value(cell.n, cell.levels, cell.b);
    return `${size}, ${dpWords.tokens(value)} tokens per step`;
  }
}

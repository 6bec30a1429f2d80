/* The traceback of a cell of the DP table, as a list of steps. Each step adds one child to a node.
   A node's last child is added first. */
import * as dpWords from "./dp_words.js";
import { attr, button, el, pool, text } from "../../../shared/web/dom.js";
import * as format from "../../../shared/web/format.js";
import { rove } from "../../../shared/web/roving_focus.js";
import { addTerm } from "../../../shared/web/tooltips.js";

/** @typedef {import("./dp_table.js").Step} Step */

let lists = 0;

/**
 * The path of each node from the root, which itself has an empty path.
 * @param {Step[]} steps
 * @returns {Map<number, string>}
 */
function pathsOf(steps) {
  const paths = new Map([[0, ""]]);
  for (const { cell, parent, node } of steps) {
    const above = paths.get(parent);
    paths.set(node, above ? `${above}.${cell.b}` : String(cell.b));
  }
  return paths;
}

/** The list, its arrow buttons, and the position in it. */
export class DpWalk {
  /** @type {Step[]} */
  steps = [];
  at = 0;
  /** @type {Map<number, string>} the path of each node from the root, such as "1.2" */
  paths = new Map();

  /**
   * @param {HTMLElement} host
   * @param {(i: number) => void} onStep called when a person goes to a step
   */
  constructor(host, onStep) {
    this.onStep = onStep;
    lists++;
    this.id = `dp-step-${lists}-`;
    this.makeHead(host);
    this.makeList(host);
    this.rows = pool((i) => this.makeRow(i));
  }

  makeHead(host) {
    const head = el("div", { class: "dp-walk-head" }, host);
    addTerm(el("h3", { class: "sq-dim" }, head), "Traceback", "traceback");
    this.place = el("span", { class: "dp-place sq-dim" }, head);
    const back = "Previous step of the traceback";
    this.back = button(head, {
      icon: "back",
      label: back,
      cls: "sq-mini-btn",
      act: () => this.go(this.at - 1),
    });
    const next = "Next step of the traceback";
    this.next = button(head, {
      icon: "next",
      label: next,
      cls: "sq-mini-btn",
      act: () => this.go(this.at + 1),
    });
    rove(head);
  }

  makeList(host) {
    const name = { "aria-label": "Steps of the traceback; arrow keys move", role: "listbox" };
    const look = { class: "dp-walk", tabindex: "0", "data-part": "dp-walk" };
    this.box = el("div", { ...look, ...name }, host);
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("click", (event) => {
      const row = /** @type {HTMLElement} */ (event.target).closest(".dp-step");
      if (row instanceof HTMLElement) this.go(Number(row.dataset.i));
    });
  }

  makeRow(i) {
    const look = { class: "dp-step", role: "option", id: this.id + i, "data-i": i };
    const node = el("div", look, this.box);
    const [index, cell, what] = ["i", "cell", "what"].map((name) =>
      el("span", { class: "sq-dim dp-step-" + name }, node),
    );
    text(index, String(i + 1));
    return { node, cell, what };
  }

  /**
   * @param {Step[]} steps
   * @param {number} at index of the current step
   */
  show(steps, at) {
    if (this.steps !== steps) this.paths = pathsOf(steps);
    this.steps = steps;
    this.at = at;
    this.paint();
    this.reveal();
  }

  paint() {
    const { steps, at, box } = this;
    const rows = this.rows.take(steps.length).slice(0, steps.length);
    rows.forEach((row, i) => this.write(row, i));
    const place = `step ${at + 1} of ${steps.length}`;
    text(this.place, steps.length ? place : "no steps");
    this.back.disabled = at <= 0;
    this.next.disabled = at >= steps.length - 1;
    attr(box, "aria-activedescendant", steps.length ? this.id + at : null);
  }

  write(row, i) {
    const { cell, split, parent } = this.steps[i];
    attr(row.node, "aria-selected", String(i === this.at));
    text(row.cell, dpWords.name(cell));
    const size = format.count(split.m, "node");
    const path = this.paths.get(parent);
    const whose = path ? "node " + path : "the root";
    text(row.what, `child ${cell.b} of ${whose}, subtree: ${size}`);
  }

  reveal() {
    const { box, at } = this;
    const row = this.rows.items[at]?.node;
    if (!row || !this.steps.length) return;
    const below = row.offsetTop + row.offsetHeight - box.clientHeight;
    box.scrollTop = Math.max(below, Math.min(box.scrollTop, row.offsetTop));
  }

  go(i) {
    const to = Math.max(0, Math.min(this.steps.length - 1, i));
    if (!this.steps.length || to === this.at) return;
    this.at = to; // set now: the next key may come before the next frame
    this.onStep(to);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = {
      ArrowDown: 1,
      ArrowRight: 1,
      ArrowUp: -1,
      ArrowLeft: -1,
      Home: -this.at,
      End: this.steps.length,
    }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.at + by);
  }
}

/* The traceback as a list of small steps, cell after cell: each gives one node its last child. Walked with the arrow keys. */
import * as dpWords from "./dp_explain.js";
import * as dom from "../../../shared/web/dom.js";
import { attr, button, el, text } from "../../../shared/web/dom.js";
import { addTerm } from "../../../shared/web/tooltips.js";

const ROW = 26;

export class DpWalk {
  /** `onStep(i)`: somebody went to a step. */
  constructor(host, onStep) {
    this.onStep = onStep;
    this.steps = [];
    this.at = 0;
    const head = el("div", { class: "dp-walk-head" }, host);
    addTerm(el("h4", { class: "dp-small" }, head), "Traceback", "traceback");
    this.place = el("span", { class: "dp-small dp-place" }, head);
    this.back = button(head, {
      icon: "back",
      label: "Previous step of the traceback",
      cls: "sq-mini-btn",
    });
    this.next = button(head, {
      icon: "next",
      label: "Next step of the traceback",
      cls: "sq-mini-btn",
    });
    this.back.addEventListener("click", () => this.go(this.at - 1));
    this.next.addEventListener("click", () => this.go(this.at + 1));
    this.box = el(
      "div",
      {
        class: "dp-walk",
        tabindex: "0",
        role: "listbox",
        "aria-label": "Steps of the traceback; arrow keys walk",
        "data-part": "dp-walk",
      },
      host,
    );
    this.long = el("div", { class: "dp-walk-long" }, this.box);
    this.rows = dom.pool((i) => this.makeRow(i));
    this.id = "dp-step-" + Math.random().toString(36).slice(2, 8) + "-";
    this.box.addEventListener("scroll", () => this.paint(), { passive: true });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.long.addEventListener("click", (event) => {
      const row = event.target.closest(".dp-step");
      if (row) this.go(Number(row.dataset.i));
    });
    this.size = dom.sized(this.box, () => this.paint());
  }

  makeRow() {
    const node = el("div", { class: "dp-step", role: "option" }, this.long);
    return {
      node,
      index: el("span", { class: "dp-step-i" }, node),
      cell: el("span", { class: "dp-step-cell" }, node),
      what: el("span", { class: "dp-step-what" }, node),
    };
  }

  give(steps, at) {
    const fresh = this.steps !== steps;
    this.steps = steps;
    this.at = at;
    if (fresh) this.long.style.height = steps.length * ROW + "px";
    this.reveal();
    this.paint();
  }

  /** Only the rows in sight exist. */
  paint() {
    const { steps, at, box } = this;
    const count = Math.min(steps.length, Math.ceil((this.size.h || ROW) / ROW) + 1);
    const first = Math.max(0, Math.min(steps.length - count, Math.floor(box.scrollTop / ROW)));
    const rows = this.rows.take(count);
    for (let i = 0; i < count; i++) this.say(rows[i], first + i);
    text(
      this.place,
      steps.length ? `step ${at + 1} of ${steps.length}` : "the root alone has no step",
    );
    this.back.disabled = at <= 0;
    this.next.disabled = at >= steps.length - 1;
    attr(box, "aria-activedescendant", steps.length ? this.id + at : null);
  }

  say(row, i) {
    const { cell, split, parent, node } = this.steps[i];
    row.node.style.transform = `translateY(${i * ROW}px)`;
    row.node.dataset.i = i;
    row.node.id = this.id + i;
    attr(row.node, "aria-selected", String(i === this.at));
    attr(row.node, "aria-setsize", this.steps.length);
    attr(row.node, "aria-posinset", i + 1);
    text(row.index, String(i + 1));
    text(row.cell, dpWords.name(cell));
    text(
      row.what,
      `${parent ? "node " + parent : "root"} → child ${cell.b}, node ${node}: ${dpWords.plural(split.m, "node")}`,
    );
    row.node.classList.toggle("is-leaf", split.m === 1);
  }

  reveal() {
    const { box, at } = this;
    const top = at * ROW;
    const tall = this.size.h;
    if (!tall) return;
    if (top < box.scrollTop) box.scrollTop = top - ROW;
    else if (top + 2 * ROW > box.scrollTop + tall) box.scrollTop = top + 3 * ROW - tall;
  }

  go(i) {
    const to = Math.max(0, Math.min(this.steps.length - 1, i));
    if (!this.steps.length || to === this.at) return;
    this.at = to; // the next key may come before the next frame
    this.onStep(to);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.size.h / ROW) - 1);
    const by = {
      ArrowDown: 1,
      ArrowRight: 1,
      ArrowUp: -1,
      ArrowLeft: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.at,
      End: this.steps.length,
    }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.at + by);
  }
}

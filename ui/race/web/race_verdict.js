/* The verdict of a race that is over: one sentence, and what stands behind it. */
import { el, pool, show, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";

/** @typedef {import("./race_store.js").RaceStore} RaceStore */

/** The banner over the lanes. */
export class RaceVerdict {
  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "sq-panel race-verdict", "data-part": "verdict" };
    this.root = el("section", { ...look, "aria-label": "Verdict" }, host);
    this.sentence = el(
      "p",
      { class: "race-verdict-words", "data-part": "verdict-words" },
      this.root,
    );
    this.more = el("details", { class: "race-verdict-more" }, this.root);
    el("summary", { text: "How sure?" }, this.more);
    const list = el("ul", {}, this.more);
    this.lines = pool(() => el("li", {}, list));
  }

  paint() {
    const { verdict, isOver } = this.store;
    show(this.root, Boolean(verdict) && isOver);
    if (!verdict || !isOver) return;
    text(this.sentence, readable(verdict.sentence));
    const lines = this.lines.take(verdict.details.length);
    verdict.details.forEach((line, i) => text(lines[i], readable(line)));
  }
}

/* A lane's text, each part with its origin. Append only: a move's group is made once, shown or hidden by time, never rebuilt. */
import { el, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { addTerm } from "../../shared/web/tooltips.js";

export class LaneText {
  constructor(host, name) {
    // The box is a reversed column: while it stands at its end it stays there as text grows, without asking for a layout.
    this.box = el(
      "div",
      {
        class: "sq-text-box race-text",
        tabindex: "0",
        role: "region",
        "aria-label": "Text of " + name,
      },
      host,
    );
    const page = el("div", { class: "race-page" }, this.box);
    this.flow = el("span", { "data-part": "flow" }, page);
    this.end = el("span", { class: "sq-end" }, page);
    this.loops = addTerm(page, "", "repeats", "sq-loops");
    this.shown = 0;
  }

  /** The first `count` of the fold's moves, why the lane ended where that is all of them, and what is said of its repeats. */
  paint(fold, count, ending, loops) {
    const all = this.flow.children;
    for (let i = all.length; i < count; i++) this.append(fold.moves[i]);
    for (let i = Math.min(count, this.shown); i < Math.max(count, this.shown); i++)
      all[i].hidden = i >= count;
    this.shown = count;
    text(this.end, ending);
    text(this.loops, loops);
  }

  append({ text: pieces, drafted }) {
    const group = el("span", { class: "race-move" }, this.flow);
    this.part(group, pieces.slice(0, drafted), "sq-tok-draft");
    this.part(group, pieces.slice(drafted), "sq-tok-own");
  }

  /** Tokens of one origin; spaces before them stay without its mark. */
  part(group, pieces, cls) {
    const whole = pieces.join("");
    const rest = whole.trimStart() ? whole.replace(/^ +/, "") : whole;
    if (!whole) return;
    group.append(whole.slice(0, whole.length - rest.length));
    el("span", { class: "sq-tok " + cls, text: readable(rest).replaceAll("⏎", "⏎\n") }, group);
  }
}

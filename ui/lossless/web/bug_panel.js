/* Describes the bug that the chosen decoder has on purpose: what is wrong, where the bug shows, and
   why it hides elsewhere. */
import { el, show, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";

/** @typedef {import("./lossless_view.js").Bug} Bug */

const PARTS = [
  ["about", "What is wrong"],
  ["shows", "Where it shows"],
  ["hides", "Why it hides elsewhere"],
];

/** The panel that describes the bug; hidden for the correct decoder. */
export class BugPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "bug", title: "Broken on purpose", cls: "ls-bug" };
    this.panel = makePanel(host, about);
    this.name = el("span", { class: "sq-word" }, this.panel.titleBox);
    const list = el("dl", {}, this.panel.body);
    this.parts = Object.fromEntries(PARTS.map(([key, title]) => [key, part(list, title)]));
    show(this.panel.root, false);
  }

  /** @param {Bug | null} bug */
  show(bug) {
    show(this.panel.root, Boolean(bug));
    if (!bug) return;
    text(this.name, bug.label);
    for (const [key] of PARTS) text(this.parts[key], bug[key]);
  }
}

function part(list, title) {
  el("dt", { text: title }, list);
  return el("dd", {}, list);
}

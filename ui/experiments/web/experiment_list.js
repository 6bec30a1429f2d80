/* The list of experiments, each with its title and its question. One of them is chosen. */
import { attr, el } from "../../shared/web/dom.js";
import { rove } from "../../shared/web/roving_focus.js";

/** @import { ExperimentsState, Listed } from "./experiments_state.js" */

/** The list. It is a single tab stop; arrow keys move inside it. */
export class ExperimentList {
  /** @type {Listed[] | null} */
  painted = null;
  /** @type {Map<string, HTMLButtonElement>} */
  buttons = new Map();

  /**
   * @param {HTMLElement} host
   * @param {(name: string) => void} choose
   */
  constructor(host, choose) {
    this.choose = choose;
    const about = { class: "xp-list", "data-part": "list", "aria-label": "Experiments" };
    this.root = el("nav", about, host);
    rove(this.root);
  }

  /** @param {ExperimentsState} state */
  paint(state) {
    if (this.painted !== state.list) this.build(state.list);
    for (const [name, button] of this.buttons) {
      attr(button, "aria-current", name === state.chosen && "true");
      attr(button, "data-running", state.going && state.run.name === name && "");
    }
  }

  /** @param {Listed[]} list */
  build(list) {
    this.painted = list;
    this.buttons.clear();
    this.root.replaceChildren();
    for (const { name, title, question } of list) {
      const look = { type: "button", class: "xp-entry", "data-name": name };
      const button = el("button", look, this.root);
      el("b", { text: title }, button);
      el("span", { text: question }, button);
      button.addEventListener("click", () => this.choose(name));
      this.buttons.set(name, button);
    }
  }
}

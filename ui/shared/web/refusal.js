/* Why something typed was not used: text beside its field, for the eye and for screen readers. */
import { attr, el, show, text } from "./dom.js";

let made = 0;

/** A line of text that is hidden while there is nothing to say. */
export class Refusal {
  /**
   * @param {HTMLElement} host
   * @param {string} part its name in the page
   */
  constructor(host, part) {
    /** @type {HTMLElement | null} */
    this.field = null;
    made++;
    const id = "sq-refusal-" + made;
    const look = { class: "sq-problem", role: "alert", "data-part": part, hidden: "" };
    this.node = el("p", { ...look, id }, host);
  }

  get words() {
    return this.node.textContent;
  }

  /**
   * @param {string} words none: remove what was said
   * @param {HTMLElement | null} [field] the one it is about
   */
  say(words, field = null) {
    this.mark(false);
    this.field = words ? field : null;
    this.mark(true);
    text(this.node, words);
    show(this.node, Boolean(words));
  }

  mark(wrong) {
    if (!this.field) return;
    attr(this.field, "aria-invalid", wrong && "true");
    attr(this.field, "aria-describedby", wrong && this.node.id);
  }

  /**
   * Whether what a person typed into `field` is to be left there.
   * @param {HTMLElement} field
   * @returns {boolean}
   */
  holds(field) {
    return this.field === field || document.activeElement === field;
  }
}

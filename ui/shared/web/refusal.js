/* A message beside a field: why its value was refused. Screen readers announce it, and the page
   scrolls to it if it is out of view. */
import { attr, el, tell } from "./dom.js";

let made = 0;

/** The message: a line of text that is hidden while it is empty. */
export class Refusal {
  /**
   * @param {HTMLElement} host
   * @param {string} part its name for tests
   */
  constructor(host, part) {
    /** @type {HTMLElement | null} the field that the message is about */
    this.field = null;
    made++;
    const id = "sq-refusal-" + made;
    const look = { class: "sq-problem", role: "alert", "data-part": part, hidden: "" };
    this.node = el("p", { ...look, id }, host);
  }

  /**
   * Show a message, and mark its field as invalid.
   * @param {string} words empty: remove the message
   * @param {HTMLElement | null} [field] the field that the message is about
   */
  say(words, field = null) {
    this.mark(false);
    this.field = words ? field : null;
    this.mark(true);
    tell(this.node, words);
    if (words) this.node.scrollIntoView?.({ block: "nearest" });
  }

  mark(wrong) {
    if (!this.field) return;
    attr(this.field, "aria-invalid", wrong && "true");
    attr(this.field, "aria-describedby", wrong && this.node.id);
  }

  /**
   * Whether to leave the text in `field` as typed, because the text was refused or the visitor is
   * still typing.
   * @param {HTMLElement} field
   * @returns {boolean}
   */
  holds(field) {
    return this.field === field || document.activeElement === field;
  }
}

/* What was typed and is not taken: said beside its field, to the eye and to a screen reader alike. */
import { attr, el, show, text } from "../../shared/web/dom.js";

let made = 0;

export class Refusal {
  constructor(host, part) {
    this.field = null;
    this.node = el(
      "p",
      {
        class: "sq-lab-problem",
        role: "alert",
        id: "sq-refusal-" + ++made,
        "data-part": part,
        hidden: "",
      },
      host,
    );
  }

  get words() {
    return this.node.textContent;
  }

  /** Say `words`, of what stands in `field` if it is one field's; without words, take back what was said. */
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

  /** Whether what a person typed into `field` is to be left there. */
  holds(field) {
    return this.field === field || document.activeElement === field;
  }
}

/* The end of the text in presenter mode: as much of it as fits into the box in whole lines. */
import { el, sized } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { promptText } from "./prompt_text.js";
import { writeToken } from "./text_view.js";

const STEPS = 40; // the last steps whose text is written
const PROMPT = 200; // the last characters of the prompt that are written before it

/** The text that is decoded so far. */
export class PresenterText {
  shown = ""; // key of what is written

  /**
   * @param {import("./run_store.js").RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "sq-present-text", role: "region", "aria-label": "Generated text" };
    this.box = el("div", look, host);
    this.size = sized(this.box, () => this.paint());
  }

  paint() {
    const { version, written, steps } = this.store;
    const { w, h } = this.size;
    const key = [version, written, steps.length, w, h].join();
    if (!w || this.shown === key) return;
    this.shown = key;
    this.write();
    this.dropFirstLines();
  }

  write() {
    const { written, steps, meta } = this.store;
    this.box.replaceChildren();
    const from = Math.max(0, written + 1 - STEPS);
    for (const word of from ? [] : promptWords(promptText(meta)))
      el("span", { class: "sq-prompt", text: word }, this.box);
    for (const step of steps.slice(from, written + 1)) {
      const group = el("span", {}, this.box);
      if (step) step.emitted.forEach((_id, k) => writeToken(group, k, step));
      else group.append(" […] ");
    }
  }

  // The lines below stay as they are, because each begins with a new word.
  dropFirstLines() {
    const { box } = this;
    const words = [...box.querySelectorAll(".sq-prompt, .sq-tok")];
    const places = words.map((word) => /** @type {HTMLElement} */ (word).offsetTop);
    const far = box.scrollHeight - box.clientHeight;
    words.forEach((word, i) => places[i] < far && word.remove());
  }
}

const promptWords = (prompt) => readable(prompt.slice(-PROMPT)).match(/\s*\S+/g) ?? [];

/* The panel of plain decoding: the text that the large model alone has written by the moment
   shown. At the end of the run the rest follows, pale, so that the two texts can be compared. */
import { el, show, text, sized } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";
import { finish } from "../../shared/web/run_words.js";
import { lines, writePrompt } from "./prompt_text.js";
import { stoppedAfter } from "./same_text.js";
import { scrollToEnd } from "./whole_lines.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { RunStore } from "./run_store.js"
 */

const LATER = "pale: written after the tree had finished";

/** The panel "The large model alone". */
export class PlainText {
  /** @type {Meta | null} */
  meta = null;
  /** @type {string[]} */
  texts = [];
  how = ""; // how plain decoding works, for the panel's note
  shown = ""; // tokens written, and whether the rest is shown
  isNew = false; // the text was changed since the last scroll

  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const title = "The large model alone";
    const panel = makePanel(host, { part: "plain-text", title, cls: "sq-text sq-plain" });
    this.root = panel.root;
    this.note = el("span", { class: "sq-plain-note" }, panel.tools);
    const region = { tabindex: "0", role: "region", "aria-label": "Text of the large model alone" };
    this.box = el("div", { class: "sq-text-box", ...region }, panel.body);
    sized(this.box, () => scrollToEnd(this.box));
    this.prompt = el("span", { class: "sq-prompt" }, this.box);
    this.flow = el("span", { class: "sq-plain-flow", "data-part": "plain-flow" }, this.box);
    this.rest = el("span", { class: "sq-plain-rest", "data-part": "plain-rest" }, this.box);
    this.end = el("span", { class: "sq-end", "data-part": "plain-end" }, this.box);
  }

  paint() {
    const { store } = this;
    if (this.meta !== store.meta) this.take(store.meta);
    show(this.root, this.texts.length > 0);
    if (!this.texts.length) return;
    const count = store.plain.tokens(store.time);
    const isOver = store.done && (store.isWhole || (store.at === store.last && !store.playing));
    const shown = `${count} ${isOver}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const written = (from, to) => lines(this.texts.slice(from, to).join(""));
    text(this.flow, written(0, count));
    text(this.rest, isOver ? written(count) : "");
    text(this.end, isOver || count === this.texts.length ? ending(this.meta) : "");
    text(this.note, isOver && count < this.texts.length ? LATER : this.how);
    this.isNew = true;
  }

  /** Scroll to the newest token. Called after painting, because it needs a layout. */
  settle() {
    if (this.isNew) scrollToEnd(this.box);
    this.isNew = false;
  }

  /** @param {Meta} meta */
  take(meta) {
    this.meta = meta;
    this.texts = meta.plain?.text ?? [];
    this.shown = "";
    const isGreedy = meta.params?.temperature === 0;
    this.how = "one token per pass" + (isGreedy ? "" : ", with its own random draws");
    writePrompt(this.prompt, meta);
  }
}

/** @type {(meta: Meta) => string} why plain decoding ended */
const ending = ({ plain }) =>
  plain.finish === "time" && plain.limit
    ? "stopped " + stoppedAfter(plain)
    : finish(plain.finish, plain.text.length);

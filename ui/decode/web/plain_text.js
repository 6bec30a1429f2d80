/* The panel of plain decoding: the text that the large model alone has written by the moment
   shown. */
import { el, show, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { scrollToEnd } from "./whole_lines.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { RunStore } from "./run_store.js"
 */

/** The panel "The large model alone". */
export class PlainText {
  /** @type {Meta | null} */
  meta = null;
  /** @type {string[]} */
  texts = [];
  count = -1; // tokens written
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
    this.prompt = el("span", { class: "sq-prompt" }, this.box);
    this.flow = el("span", { class: "sq-plain-flow", "data-part": "plain-flow" }, this.box);
  }

  paint() {
    const { store } = this;
    if (this.meta !== store.meta) this.take(store.meta);
    show(this.root, this.texts.length > 0);
    if (!this.texts.length) return;
    const count = store.plain.tokens(store.time);
    if (count === this.count) return;
    this.count = count;
    text(this.flow, lines(readable(this.texts.slice(0, count).join(""))));
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
    this.count = -1;
    const isGreedy = meta.policy?.temperature === 0;
    text(this.note, "one token per pass" + (isGreedy ? "" : ", with its own random draws"));
    text(this.prompt, lines(readable(meta.prompt)));
  }
}

const lines = (value) => value.replaceAll("⏎", "⏎\n");

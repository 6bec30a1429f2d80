/* The tokens so far in presenter mode, as a bar and a number: of the large model alone, if its
   times are known, and of the run. */
import { el, show, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";
import { rowName } from "./scrubber.js";

/** The bars. */
export class PresenterTotals {
  /**
   * @param {import("./run_store.js").RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    this.root = el("div", { class: "sq-present-totals" }, host);
    this.plain = this.row("plain");
    this.run = this.row("run");
  }

  row(name) {
    const look = { class: "sq-present-total", "data-row": name };
    const title = el("span", look, this.root);
    const track = el("div", look, this.root);
    return { title, track, number: el("span", look, this.root), bar: el("i", {}, track) };
  }

  paint() {
    const { store } = this;
    const { ends } = store.plain;
    const all = Math.max(store.totals(store.last).tokens, 1);
    const made = store.totals(store.written).tokens;
    this.paintRow(this.plain, "alone", ends.length ? store.plain.tokens(store.time) : null, all);
    this.paintRow(this.run, rowName(store.largest), made, all);
  }

  paintRow({ title, track, number, bar }, name, tokens, all) {
    for (const part of [title, track, number]) show(part, tokens !== null);
    if (tokens === null) return;
    text(title, name);
    text(number, count(tokens, "token"));
    bar.style.width = (Math.min(1, tokens / all) * 100).toFixed(1) + "%";
  }
}

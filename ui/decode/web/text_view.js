/* The text as it grows. The style of each token shows which model it came from. The elements of a
   step are built once, not at every paint. */
import { lines, writePrompt, writeToken } from "../../run/web/written_text.js";
import { stoppedAfter } from "./same_text.js";
import { scrollToEnd, scrollToPiece, scrollToWholeLine } from "./whole_lines.js";
import { attr, button, el, show, sized, text } from "../../shared/web/dom.js";
import * as dom from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { Repeats, repeatsInWords } from "../../shared/web/repeats.js";
import { finish } from "../../shared/web/run_words.js";
import * as runWords from "../../shared/web/run_words.js";
import { addTerm } from "../../shared/web/tooltips.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 * @import { RunStore } from "../../run/web/run_store.js"
 */

const PROMPT_SHOWN = 400; // characters in the prompt's line
const PROMPT_HINT = 2000; // characters in the line's tooltip

/** The panel "Text". */
export class TextView {
  version = 0;
  /** @type {Meta | null} */
  meta = null;
  current = ""; // key of what `mark` last marked
  /** @type {HTMLElement | null} the element to scroll to after painting */
  wanted = null;
  /** @type {HTMLElement | null} the element that was last scrolled to */
  seen = null;
  /** @type {Element | null} the token of the selected node */
  linked = null;
  /** @type {string | null} the prompt in the line above the text */
  prompted = null;
  counted = ""; // key of the steps in which repeats were counted
  loop = ""; // these repeats in words
  ends = false; // `end` has new words that have not been scrolled to

  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {{prompt?: () => string | undefined, take?: (meta: Meta) => void}} [page] `prompt`:
   *   returns the form's prompt, which the run's prompt is compared with; `take`: copies a run's
   *   prompt, tree and settings to the form
   */
  constructor(store, host, { prompt, take } = {}) {
    this.store = store;
    this.formPrompt = prompt;
    const panel = makePanel(host, { part: "text", title: "Text", cls: "sq-text" });
    this.title = panel.titleBox;
    this.root = panel.root;
    const key = el("span", { class: "sq-key" }, panel.tools);
    el("span", { class: "sq-tok sq-tok-draft", text: "small model (draft)" }, key);
    el("span", { class: "sq-tok sq-tok-own", text: "large model (target)" }, key);
    this.makePromptLine(panel.body, take);
    const region = { tabindex: "0", role: "region", "aria-label": "Generated text" };
    this.box = el("div", { class: "sq-text-box", ...region }, panel.body);
    this.prompt = el("span", { class: "sq-prompt" }, this.box);
    this.flow = el("span", { class: "sq-flow", "data-part": "flow" }, this.box);
    this.tail = el("span", { class: "sq-tok sq-tail", "data-part": "tail" }, this.box);
    this.end = el("span", { class: "sq-end", "data-part": "end" }, this.box);
    this.loops = addTerm(this.box, "", "repeats", "sq-loops");
    dom.sized(this.box, () => this.resize());
    this.box.addEventListener("click", (event) => this.click(event));
    this.box.addEventListener("pointerover", (event) => this.over(event));
    this.box.addEventListener("pointerleave", () => this.over(null));
  }

  makePromptLine(host, take) {
    this.asked = el("p", { class: "sq-asked", "data-part": "asked", hidden: "" }, host);
    this.whose = el("span", { class: "sq-asked-whose" }, this.asked);
    this.wording = el("span", { class: "sq-asked-text" }, this.asked);
    if (!take) return;
    const hint = "Copy this run’s prompt, tree and settings to the form";
    this.taker = button(this.asked, { text: "Copy to form", cls: "sq-asked-take", hint });
    this.taker.addEventListener("click", () => take(this.meta));
  }

  paint() {
    const { store } = this;
    const { steps } = store;
    if (this.version !== store.version) this.restart();
    if (this.meta !== store.meta) writePrompt(this.prompt, store.meta);
    this.meta = store.meta;
    this.paintPrompt(store.meta.prompt);
    text(this.title, titleOf(store.largest));
    for (let i = this.flow.children.length; i < steps.length; i++) this.append(i);
    const isGrowing = store.moves;
    // While the run grows or plays, the text after the current moment is hidden. If plain decoding
    // has a panel too, that text is always hidden, so that both panels show the same moment.
    this.flow.classList.toggle("sq-flow-growing", isGrowing || store.plain !== null);
    this.paintEnd(store.done && store.written >= store.last);
    this.mark();
    this.link();
  }

  // Writes the run's prompt into the line above the text. If the prompt in the form is different,
  // the line says so.
  paintPrompt(prompt) {
    show(this.asked, Boolean(prompt));
    if (!prompt) return;
    const { chat, label, title } = this.meta;
    const isOther = Boolean(this.formPrompt) && this.formPrompt() !== prompt;
    const whose = isOther ? "a different prompt" : "prompt";
    text(this.whose, whose + (chat ? ", as a chat message" : ""));
    this.asked.classList.toggle("is-other", isOther);
    if (this.taker) show(this.taker, isOther || label !== "measured" || Boolean(title));
    if (this.prompted === prompt) return;
    this.prompted = prompt;
    text(this.wording, readable(prompt.slice(0, PROMPT_SHOWN)));
    attr(this.asked, "title", readable(prompt.slice(0, PROMPT_HINT)).replaceAll("⏎", "\n"));
  }

  // Once the run has ended or paused and its whole text is shown, three things follow the text:
  // what was held back after the last token (such as an incomplete character), why the run ended or
  // paused, and how much of the text is repeated.
  paintEnd(isEnded) {
    const { store } = this;
    const limit = store.meta.params?.max_new_tokens;
    const words = isEnded ? runWords.finish(store.ending, limit) : "";
    if (words && words !== this.end.textContent && store.at === store.last) this.ends = true;
    text(this.tail, isEnded ? readable(store.tail) : "");
    text(this.end, words);
    this.end.dataset.end = isEnded ? store.ending : "";
    text(this.loops, isEnded && store.largest.n > 1 ? this.repeats() : "");
    show(this.loops, Boolean(this.loops.textContent));
  }

  // How much of the whole text is repeated, in words. Counted again only if the steps changed.
  repeats() {
    const { version, steps } = this.store;
    const key = [version, steps.length].join();
    if (this.counted === key) return this.loop;
    const counts = new Repeats();
    for (const step of steps) counts.add(step.emitted);
    this.counted = key;
    this.loop = repeatsInWords(counts);
    return this.loop;
  }

  restart() {
    this.version = this.store.version;
    this.current = "";
    this.flow.replaceChildren();
  }

  append(i) {
    const group = el("span", { class: "sq-group sq-future", "data-step": i }, this.flow);
    const step = this.store.steps[i];
    step.emitted.forEach((_id, k) => writeToken(group, k, step));
  }

  mark() {
    const { at, written } = this.store;
    const all = this.flow.children;
    const key = [at, written, all.length].join();
    if (this.current === key) return;
    for (let i = 0; i < all.length; i++) {
      all[i].classList.toggle("sq-future", i > written);
      all[i].classList.toggle("sq-now", i === at && written >= at);
    }
    this.current = key;
    const isUnseen = written < 0 && this.flow.classList.contains("sq-flow-growing");
    const last = all[Math.max(0, Math.min(written, all.length - 1))];
    // before the first token, the end of the prompt
    this.wanted = /** @type {HTMLElement} */ (isUnseen ? this.flow : last);
  }

  /**
   * Scroll the panel, but not the page, to a piece of the text. Called after painting, because it
   * needs a layout.
   * @param {HTMLElement | null} [piece] by default the newest piece that has not been scrolled to.
   *   Null: do not scroll
   */
  settle(piece = this.newest()) {
    const { box } = this;
    this.wanted = null;
    this.ends = false;
    if (!piece) return;
    this.seen = piece;
    // the number of repeats is shown with the reason of the end before it
    const { offsetTop } = piece === this.loops ? this.end : piece;
    scrollToPiece(box, offsetTop, piece.offsetTop + piece.offsetHeight);
  }

  // Keep the same text visible.
  resize() {
    scrollToWholeLine(this.box);
    this.settle(this.seen);
  }

  newest() {
    if (!this.ends) return this.wanted;
    return this.loop ? this.loops : this.end;
  }

  // Highlight the token of the selected node.
  link() {
    const { selected } = this.store;
    const view = this.store.view();
    const group = view && this.flow.children[this.store.at];
    const isBonus = selected === "bonus";
    const k = view && (isBonus ? view.step.emitted.length : view.path.indexOf(selected)) - 1;
    const target = group && k >= 0 ? group.querySelector(`[data-k="${k}"]`) : null;
    if (this.linked === target) return;
    this.linked?.classList.remove("sq-linked");
    target?.classList.add("sq-linked");
    this.linked = target;
  }

  /** @type {(event: any) => {i: number, node: NodeId} | null} step and node of the event's token */
  place(event) {
    const token = event?.target.closest?.(".sq-tok");
    const group = token?.closest(".sq-group");
    if (!group) return null;
    const i = Number(group.dataset.step);
    const k = Number(token.dataset.k);
    const step = this.store.steps[i];
    return step && { i, node: step.verdict.path[k + 1] ?? "bonus" };
  }

  click(event) {
    const place = this.place(event);
    if (place && !String(window.getSelection())) this.store.seek(place.i, { pin: place.node });
  }

  over(event) {
    const { store } = this;
    const place = this.place(event);
    const node = place?.i === store.at ? place.node : null;
    if (store.hover !== node) store.set({ hover: node });
  }
}

/** @type {(tree: {n: number, rows: number}) => string} for the largest tree of the run */
function titleOf({ n, rows }) {
  if (n <= 1) return "Text";
  return rows > 1 ? "With a tree of guesses" : "With a chain of guesses";
}

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
    const count = store.plain.count(store.time);
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

/* Presenter mode: shows the step on screen so large that the last row of a lecture hall can read
   it. One dialog over the whole window contains the run's speed-up, the caption, the tree, the text
   and the tokens so far. The view's keyboard shortcuts work in the dialog, too. */
import { headlineNumber } from "./headline.js";
import { PresenterTree } from "./presenter_tree.js";
import { promptText } from "./prompt_text.js";
import { rowName } from "./scrubber.js";
import { writeToken } from "./text_view.js";
import { attr, button, el, setIcon, show, sized, text } from "../../shared/web/dom.js";
import { count, readable } from "../../shared/web/format.js";
import {
  isHypothetical,
  isSimulated,
  paintSimulated,
  verdictColour,
} from "../../shared/web/run_words.js";
import { result } from "../../shared/web/step_words.js";
import { speedupInWords, speedupWords } from "../../shared/web/verdict_words.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { RunStore } from "./run_store.js"
 */

const KEYS = [
  ["space", "play"],
  [". ,", "frame"],
  ["← →", "step"],
  ["Esc", "leave"],
];
// What colours and letters mean. `s`: the state whose colour the mark has.
const MARKS = [
  { mark: "green", s: "accepted", words: "accepted" },
  { mark: "red", s: "rejected", words: "rejected" },
  { mark: "q", words: "small model’s probability" },
  { mark: "p", words: "large model’s" },
  { mark: "residual", words: "after a rejection" },
];
// Type size in px: at least SMALLEST, and larger in a window with more room.
const SMALLEST = 24;
const ROOM = { wide: 44, tall: 30 }; // the window's size in units of the type size

/** A dialog over the window, made when it is first opened. */
export class Presenter {
  /** @type {HTMLDialogElement | null} */
  dialog = null;

  /**
   * @param {RunStore} store
   * @param {HTMLElement} root of the view; inside it, the view's keyboard shortcuts work
   */
  constructor(store, root) {
    this.store = store;
    this.root = root;
  }

  get isOpen() {
    return Boolean(this.dialog?.open);
  }

  toggle() {
    if (this.isOpen) this.dialog.close();
    else this.open();
  }

  /** Open the dialog if there is a step to show. */
  open() {
    if (this.store.last < 0) return;
    if (!this.dialog) this.build();
    this.dialog.showModal();
    this.store.changed();
  }

  close() {
    this.dialog?.close();
  }

  build() {
    const look = { class: "sq-present", "aria-label": "Presenter mode", "data-part": "presenter" };
    this.dialog = el("dialog", look, this.root);
    const page = el(
      "div",
      { class: "sq-present-page", tabindex: "-1", autofocus: "" },
      this.dialog,
    );
    const head = el("p", { class: "sq-present-head" }, page);
    this.number = el("b", { class: "sq-present-number" }, head);
    this.basis = el("span", {}, head);
    this.flag = el("span", { class: "sq-flag", text: "hypothetical" }, head);
    this.badge = el("span", { class: "sq-badge" }, head);
    this.place = el("span", { class: "sq-present-place" }, head);
    this.caption = el("p", { class: "sq-present-caption" }, page);
    this.tree = new PresenterTree(this.store.slow, page, () => this.paint());
    this.words = new PresenterText(this.store, page);
    this.totals = new PresenterTotals(this.store, page);
    const foot = el("div", { class: "sq-present-foot" }, page);
    this.listMarks(foot);
    this.listKeys(foot);
    this.makeButtons(foot);
  }

  listMarks(host) {
    const marks = el("p", { class: "sq-present-marks" }, host);
    for (const { mark, s, words } of MARKS) {
      const entry = el("span", {}, marks);
      el("b", { text: mark, "data-s": s ?? null }, entry);
      entry.append(": " + words);
    }
  }

  listKeys(host) {
    const keys = el("p", { class: "sq-present-keys" }, host);
    for (const [key, what] of KEYS) {
      const entry = el("span", {}, keys);
      el("kbd", { text: key }, entry);
      entry.append(" " + what);
    }
  }

  // For devices without a keyboard.
  makeButtons(host) {
    const { store } = this;
    const row = el(
      "div",
      { class: "sq-present-buttons", role: "group", "aria-label": "Play" },
      host,
    );
    const add = (icon, label, act) => button(row, { icon, label, act });
    add("first", "One step back", () => store.step(-1));
    add("back", "Previous frame", () => store.slow.turn(-1));
    this.playing = add("play", "Play or pause", () => store.toggle());
    add("next", "Next frame", () => store.slow.turn(1));
    add("last", "One step forward", () => store.step(1));
    add("close", "Leave presenter mode", () => this.close());
  }

  /** Show the current state. Does nothing while the dialog is closed. */
  paint() {
    if (!this.isOpen) return;
    const { store } = this;
    const step = store.view();
    const size = typeSize();
    this.dialog.style.setProperty("--sq-size", size + "px");
    setIcon(this.playing, store.playing ? "pause" : "play");
    this.paintHead();
    this.words.paint();
    this.totals.paint();
    text(this.caption, step ? (store.slow.shown?.words ?? result(step)) : "");
    if (step) this.tree.paint(step, size);
  }

  paintHead() {
    const { store } = this;
    const { speedup } = store.meta;
    text(this.number, speedup ? speedupInWords(speedup) : headlineNumber(store));
    attr(this.number, "data-verdict", verdictColour(store.meta, speedup?.code));
    text(this.basis, speedup ? basisOf(speedup) : "");
    show(this.flag, isHypothetical(store.meta));
    this.paintBadge();
    text(this.place, placeOf(store));
  }

  paintBadge() {
    const { meta } = this.store;
    const { label = "" } = meta;
    show(this.badge, Boolean(label));
    if (isSimulated(meta)) paintSimulated(this.badge, meta);
    else {
      text(this.badge, label);
      this.badge.dataset.label = label;
    }
  }
}

// The interval, unless it is in the words of the verdict, and the number of runs.
/** @type {(speedup: NonNullable<Meta["speedup"]>) => string} */
function basisOf(speedup) {
  const interval = speedup.code === "no_clear_difference" ? "" : speedupWords(speedup).interval;
  const runs = speedup.runs > 1 ? `over ${speedup.runs} runs` : "";
  return [interval, runs].filter(Boolean).join(", ");
}

// What the tree, the text and the bars are of: the first run, if there are several.
/** @type {(store: RunStore) => string} */
function placeOf({ at, steps, isWhole, meta }) {
  const isFirst = meta.speedup?.runs > 1;
  const step = `step ${at + 1} of ${steps.length}`;
  if (isWhole) return `whole ${isFirst ? "first " : ""}run, tree of ${step}`;
  return isFirst ? `first run, ${step}` : step;
}

function typeSize() {
  const { innerWidth, innerHeight } = window;
  return Math.max(SMALLEST, Math.floor(Math.min(innerWidth / ROOM.wide, innerHeight / ROOM.tall)));
}

const STEPS = 40; // the last steps whose text is written
const PROMPT = 200; // the last characters of the prompt that are written before it

/** The text that is decoded so far. */
class PresenterText {
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
      step.emitted.forEach((_id, k) => writeToken(group, k, step));
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

/** The bars. */
class PresenterTotals {
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

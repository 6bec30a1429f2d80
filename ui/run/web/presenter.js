/* Presenter mode: shows the step on screen so large that the last row of a lecture hall can read
   it. One dialog over the whole window contains the verdict, the caption, the tree of the chosen
   lane, and of each lane the text and the tokens so far. The view's keyboard shortcuts work in the
   dialog, too. */
import { PresenterTree } from "./presenter_tree.js";
import { promptText, writeToken } from "./written_text.js";
import { attr, button, el, pool, setIcon, show, sized, text } from "../../shared/web/dom.js";
import { count, readable, seconds } from "../../shared/web/format.js";
import { isHypothetical, isSimulated, paintSimulated } from "../../shared/web/run_words.js";
import { result } from "../../shared/web/step_words.js";

/**
 * @import { LaneRun } from "./lane_run.js"
 * @import { RunStore } from "./run_store.js"
 */

/**
 * The line on top: who won or how fast it was, and what that rests on. `code` gives the colour.
 * @typedef {{words: string, code: string | null, basis: string}} PresenterHead
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
   * @param {() => PresenterHead} head
   */
  constructor(store, root, head) {
    this.store = store;
    this.root = root;
    this.head = head;
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
    this.place = el("span", { class: "sq-present-place sq-dim" }, head);
    this.caption = el("p", { class: "sq-present-caption" }, page);
    this.tree = new PresenterTree(this.store.slow, page, () => this.paint());
    const texts = el("div", { class: "sq-present-texts" }, page);
    this.texts = pool(() => new PresenterText(this.store, texts));
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
    setIcon(this.playing, store.moves ? "pause" : "play");
    this.paintHead();
    const { lanes } = store;
    const texts = this.texts.take(lanes.length);
    lanes.forEach((one, i) => texts[i].paint(one));
    this.dialog.classList.toggle("has-lanes", lanes.length > 1);
    this.totals.paint();
    text(this.caption, step ? (store.slow.shown?.words ?? result(step)) : "");
    if (step) this.tree.paint(step, size);
  }

  paintHead() {
    const { store } = this;
    const { words, code, basis } = this.head();
    text(this.number, words);
    attr(this.number, "data-verdict", code);
    text(this.basis, basis);
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

// What the tree, the text and the bars are of: the first run, if there are several.
/** @type {(store: RunStore) => string} */
function placeOf({ at, steps, isWhole, verdict }) {
  const isFirst = verdict?.races > 1;
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

/** The text of a lane so far. */
class PresenterText {
  /** @type {LaneRun | null} */
  lane = null;
  shown = ""; // key of what is written

  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    this.node = el("div", { class: "sq-present-lane" }, host);
    this.title = el("p", { class: "sq-present-title" }, this.node);
    const look = { class: "sq-present-text", role: "region" };
    this.box = el("div", look, this.node);
    this.size = sized(this.box, () => this.lane && this.paint(this.lane));
  }

  /** @param {LaneRun} lane */
  paint(lane) {
    const { store, box } = this;
    const { w, h } = this.size;
    const steps = store.shown(lane);
    this.lane = lane;
    text(this.title, lane.title);
    attr(box, "aria-label", store.lanes.length > 1 ? `Text of ${lane.title}` : "Generated text");
    this.node.classList.toggle("is-chosen", lane === store.lane);
    const key = [store.version, lane.index, steps, w, h].join();
    if (!w || this.shown === key) return;
    this.shown = key;
    this.write(lane.steps.slice(0, steps));
    this.dropFirstLines();
  }

  write(steps) {
    this.box.replaceChildren();
    const from = Math.max(0, steps.length - STEPS);
    for (const word of from ? [] : promptWords(promptText(this.store, this.lane)))
      el("span", { class: "sq-prompt", text: word }, this.box);
    for (const step of steps.slice(from)) {
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

/** The bars: the tokens of each lane so far. */
class PresenterTotals {
  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    this.root = el("div", { class: "sq-present-totals" }, host);
    this.rows = pool(() => this.row());
  }

  row() {
    const node = el("div", { class: "sq-present-total" }, this.root);
    const title = el("span", {}, node);
    const bar = el("i", {}, el("div", {}, node));
    return { node, title, bar, number: el("span", {}, node) };
  }

  paint() {
    const { store } = this;
    const { lanes } = store;
    const all = Math.max(...lanes.map(({ sum }) => sum.tokens), 1);
    const rows = this.rows.take(lanes.length);
    lanes.forEach((lane, i) => {
      const { node, title, number, bar } = rows[i];
      const sum = lane.sums[store.shown(lane)];
      const { tokens } = sum;
      const time = store.done && sum === lane.sum ? ` in ${seconds(sum.seconds)}` : "";
      attr(node, "data-row", lane.about.plain ? "plain" : "run");
      text(title, lane.title);
      text(number, count(tokens, "token") + time);
      bar.style.width = (Math.min(1, tokens / all) * 100).toFixed(1) + "%";
    });
  }
}

/* Presenter mode: shows the step on screen so large that the last row of a lecture hall can read
   it. One dialog over the whole window contains the tree with its caption, the card about the node
   being tried, and the playback track. The view's keyboard shortcuts work in the dialog, too. */
import { headlineNumber } from "./headline.js";
import { PresenterBeat } from "./presenter_beat.js";
import { attr, button, el, setIcon, show, text } from "../../shared/web/dom.js";
import { isHypothetical, isSimulated, paintSimulated } from "../../shared/web/run_words.js";
import { StepStage } from "../../shared/web/step_stage.js";
import { speedupInWords } from "../../shared/web/verdict_words.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { StepLook } from "../../shared/web/step_tree.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 */

const KEYS = [
  ["space", "play"],
  [". ,", "frame"],
  ["← →", "step"],
  ["Esc", "leave"],
];
const SCALE = 2.34; // 12 px type is shown as 28 px
const ROOM = { wide: 1000, tall: 700 }; // px; in a smaller window the scale is smaller
const MOST_ROWS = 9; // a tree with more rows is shown in the focus layout (focus_layout.js)

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
    this.flag = el("span", { class: "sq-flag", text: "hypothetical" }, head);
    this.badge = el("span", { class: "sq-badge" }, head);
    this.place = el("span", { class: "sq-present-place" }, head);
    this.stage = new StepStage(page, { motion: this.store.slow });
    this.beat = new PresenterBeat(this.store, page);
    const foot = el("div", { class: "sq-present-foot" }, page);
    this.listKeys(foot);
    this.makeButtons(foot);
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

  // Use the full scale, or as much of it as the window has room for.
  fit() {
    const { innerWidth: wide, innerHeight: tall } = window;
    const share = Math.min(1, wide / ROOM.wide, tall / ROOM.tall);
    this.dialog.style.setProperty("--sq-scale", (SCALE * share).toFixed(3));
  }

  /** Show the current state. Does nothing while the dialog is closed. */
  paint() {
    if (!this.isOpen) return;
    const { store, stage } = this;
    const step = store.view();
    this.fit();
    setIcon(this.playing, store.playing ? "pause" : "play");
    const { verdict } = store.meta;
    text(this.number, verdict ? speedupInWords(verdict) : headlineNumber(store));
    attr(this.number, "data-verdict", verdict?.code ?? null);
    show(this.flag, isHypothetical(store.meta));
    this.paintBadge();
    text(this.place, `step ${store.at + 1} of ${store.steps.length}`);
    stage.source = store.word;
    stage.show(step, step ? this.look(step) : {});
    this.beat.paint();
    stage.tree.settle();
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

  // `reveal` names the node to keep in view. While a node is being tried, it is that node. When the
  // result is shown, it is the end of the accepted path. Otherwise it is the root.
  /** @type {(step: StepView) => StepLook} */
  look(step) {
    const { store, stage } = this;
    const { picture } = store.slow;
    const isResult = picture === null || picture === stage.motion.most;
    const node = stage.motion.tried ?? (isResult ? step.path.at(-1) : 0);
    return {
      isFocused: step.topo.rows > MOST_ROWS,
      opened: store.opened,
      isMoving: store.playing && picture === null,
      reveal: { node, key: [store.version, step.i, node].join(":") },
    };
  }
}

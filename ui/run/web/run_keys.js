/* The keyboard of a view of runs. Most keys are ignored while the view is scrolled off the screen,
   and while the focus is in a field or outside the view. */
import { button, el } from "../../shared/web/dom.js";

/**
 * @import { FormBeside } from "../../shared/web/form_buttons.js"
 * @import { RunStore } from "./run_store.js"
 */

const DRAWER = "#pg-models:popover-open"; // it covers the view
const TYPING = "input, textarea, select, [contenteditable=''], [contenteditable='true']";

/** @type {[string, string]} */
const RUN = ["Ctrl Enter", "run, also while you type in the form; on a Mac also ⌘ Enter"];

/** The keys of the playback and of the tree. */
export class RunKeys {
  /**
   * @param {RunStore} store
   * @param {any} stage the view: its `root`, `scrubber`, `tree` and `presenter`
   * @param {FormBeside} page
   */
  constructor(store, stage, page) {
    this.store = store;
    this.stage = stage;
    this.page = page;
    this.isVisible = true;
    this.off = new AbortController();
    const { signal } = this.off;
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    for (const name of ["click", "change"])
      document.addEventListener(name, (event) => this.release(event), { signal });
    new IntersectionObserver((entries) => {
      this.isVisible = entries[entries.length - 1].isIntersecting;
    }).observe(stage.root);
    this.dialog = this.makeHelp(stage.root);
  }

  /** @returns {[string, string][]} keys, separated by spaces, and what they do */
  get listed() {
    const { run } = this.page; // missing in a saved page, which has no form
    const stops = run ? "; otherwise stop the run" : "";
    return [
      ...(run ? [RUN] : []),
      ["space", "play or pause"],
      ["← →", "one step back or forward"],
      [". ,", "slow motion: next or previous frame of the step"],
      ["Home End", "first step, or the end"],
      ["L", "follow the newest step"],
      ["1 2 3 4", "choose lane 1, 2, 3 or 4"],
      ["F", "show only the accepted path with its neighbours, or all nodes"],
      ["H", "heat: show how often each slot was accepted"],
      ["+ − 0", "zoom the tree; 0 fits it"],
      ["Ctrl wheel", "zoom at the pointer; drag to move"],
      ["/", "find a token in the tree"],
      ["Enter", "next match; in the tree: pin, unfold"],
      ["arrows", "in the tree or a group of buttons: move the focus"],
      ["Esc", "unpin, clear the search, close this list" + stops],
      ["P", "presenter mode: large type for a lecture hall; Esc leaves it"],
      ["?", "show or hide this list"],
    ];
  }

  escape() {
    const { store } = this;
    const { presenter } = this.stage;
    if (presenter.isOpen) return presenter.close();
    const canClear = store.pin !== null || store.query;
    store.set({ pin: null, hover: null, query: "" });
    if (!canClear) this.page.stop?.();
  }

  /**
   * Do what a key does.
   * @param {string} key
   * @returns {boolean} whether the key has a meaning
   */
  act(key) {
    const { store } = this;
    const { view, tools } = this.stage.tree;
    /** @type {Record<string, () => void>} */
    const acts = {
      " ": () => store.toggle(),
      ArrowLeft: () => store.step(-1),
      ArrowRight: () => store.step(1),
      ".": () => store.slow.turn(1),
      ",": () => store.slow.turn(-1),
      Home: () => store.seek(0),
      End: () => (store.done ? store.seekEnd() : store.goLive()),
      l: () => store.goLive(),
      f: () => store.set({ mode: store.focused ? "all" : "focus" }),
      h: () => store.set({ heat: !store.heat }),
      "+": () => view.pan.zoomBy(1.25),
      "=": () => view.pan.zoomBy(1.25),
      "-": () => view.pan.zoomBy(0.8),
      0: () => view.pan.zoomFit(),
      "/": () => this.stage.presenter.isOpen || tools.find(),
      p: () => this.stage.presenter.toggle(),
      "?": () => this.stage.presenter.isOpen || this.help(),
      Escape: () => this.escape(),
    };
    if (/^[1-4]$/.test(key)) store.choose(Number(key) - 1);
    else if (!Object.hasOwn(acts, key)) return false;
    else acts[key]();
    return true;
  }

  makeHelp(host) {
    const look = { class: "sq-help", "aria-label": "Keyboard", "data-part": "help" };
    const dialog = el("dialog", look, host);
    const head = el("div", { class: "sq-help-head sq-ends" }, dialog);
    el("h3", { text: "Keyboard" }, head);
    const act = () => dialog.close();
    button(head, { icon: "close", label: "Close", cls: "sq-mini-btn", act });
    const list = el("dl", {}, dialog);
    for (const [keys, what] of this.listed) {
      const name = el("dt", {}, list);
      for (const key of keys.split(" ")) el("kbd", { text: key }, name);
      el("dd", { text: what }, list);
    }
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    return dialog;
  }

  help() {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }

  // Takes the focus from a button or menu that was used with the pointer, so that the next key goes
  // to the view.
  release(event) {
    const used = event.target.closest?.("button, select, summary");
    const near = this.isVisible || used?.matches("[role=tab]"); // the tab may open this view
    if (used && near && !used.matches(":focus-visible")) used.blur();
  }

  // Handles the keys that work even while the visitor types in the form: Ctrl+Enter runs, and
  // Escape in a text area stops. Both are ignored if something else uses the key or the view
  // is hidden. Returns whether the key was used.
  runOrStop(event) {
    const { stage, page, dialog } = this;
    const isBusy = event.isComposing || event.defaultPrevented || dialog.open;
    if (isBusy || !stage.root.offsetParent) return false;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      page.run?.();
      return true;
    }
    return event.key === "Escape" && event.target.matches?.("textarea") && Boolean(page.stop?.());
  }

  key(event) {
    if (!this.stage.root.isConnected) return this.off.abort();
    if (document.querySelector(DRAWER)) return;
    if (this.runOrStop(event)) return event.preventDefault();
    if (!this.isForView(event)) return;
    if (this.act(event.key.length === 1 ? event.key.toLowerCase() : event.key))
      event.preventDefault();
  }

  isForView({ key, target, ctrlKey, metaKey, altKey, defaultPrevented }) {
    if (!this.isVisible || ctrlKey || metaKey || altKey || defaultPrevented) return false;
    if (target.closest?.(TYPING)) return false;
    if (target !== document.body && !this.stage.root.contains(target)) return false;
    if (key === " " && target.closest?.("button, summary")) return false; // space presses it
    return !this.dialog.open || key === "?";
  }
}

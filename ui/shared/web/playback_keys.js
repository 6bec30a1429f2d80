/* Keyboard control of a view that plays back a run or a race. Most keys are ignored while the view
   is scrolled off the screen, and while the focus is in a field or outside the view. */
import { button, el } from "./dom.js";

/** @import { FormBeside } from "./form_buttons.js" */

/**
 * @typedef {object} PlayedView
 * @property {HTMLElement} root
 * @property {{help: HTMLButtonElement}} scrubber with the button that shows the list of keys
 */

const DRAWER = "#pg-models:popover-open"; // it covers the view
const TYPING = "input, textarea, select, [contenteditable=''], [contenteditable='true']";

/** Handles keys. A subclass overrides `listed`, the list for the help, and `act`, the actions. */
export class PlaybackKeys {
  /**
   * @param {any} store
   * @param {any} stage a PlayedView with whatever else `act` uses
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
    stage.scrubber.help.addEventListener("click", (event) => {
      this.release(event); // otherwise closing the dialog would focus the button again
      this.help();
    });
  }

  /** @returns {[string, string][]} keys, separated by spaces, and what they do */
  get listed() {
    return [];
  }

  /** @type {(key: string) => boolean} acts on a key; false if the key has no meaning */
  act() {
    return false;
  }

  makeHelp(host) {
    const look = { class: "sq-help", "aria-label": "Keyboard", "data-part": "help" };
    const dialog = el("dialog", look, host);
    const head = el("div", { class: "sq-help-head" }, dialog);
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
    const used = event.target.closest?.("button, select");
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
    if (key === " " && target.closest?.("button")) return false; // space presses the button
    return !this.dialog.open || key === "?";
  }
}

/* The keyboard: one listener a stage, asleep while the stage is out of sight or someone types elsewhere. */
import { button, el } from "./dom.js";

const HELP = [
  ["Ctrl Enter", "run, from anywhere; on a Mac also ⌘ Enter"],
  ["space", "play or pause"],
  ["← →", "one step back or forward"],
  ["Home End", "first or last step"],
  ["L", "follow the newest step"],
  ["F", "focus, or all nodes"],
  ["H", "heat: how often each slot was accepted"],
  ["+ − 0", "zoom the tree; 0 fits it"],
  ["Ctrl wheel", "zoom at the pointer; drag to move"],
  ["/", "find a token in the tree"],
  ["Enter", "next find; in the tree: pin, unfold"],
  ["arrows", "inside the tree: from node to node"],
  ["Esc", "unpin, clear, close; else stop the run"],
  ["?", "this list"],
];
const TYPING = "input, textarea, select, [contenteditable=''], [contenteditable='true']";

export class PlaybackKeys {
  constructor(store, stage, page) {
    this.store = store;
    this.stage = stage;
    this.page = page;
    this.inSight = true;
    this.off = new AbortController();
    document.addEventListener("keydown", (event) => this.key(event), { signal: this.off.signal });
    for (const name of ["click", "change"])
      document.addEventListener(name, (event) => this.release(event), {
        signal: this.off.signal,
      });
    this.eye = new IntersectionObserver((entries) => {
      this.inSight = entries[entries.length - 1].isIntersecting;
    });
    this.eye.observe(stage.root);
    this.dialog = this.makeHelp(stage.root);
    stage.scrubber.help.addEventListener("click", (event) => {
      this.release(event); // or the dialog would give the focus back to it
      this.help();
    });
  }

  makeHelp(host) {
    const dialog = el(
      "dialog",
      { class: "sq-help", "aria-label": "Keyboard", "data-part": "help" },
      host,
    );
    const head = el("div", { class: "sq-help-head" }, dialog);
    el("h3", { text: "Keyboard" }, head);
    button(head, { icon: "close", label: "Close", cls: "sq-mini-btn" }).addEventListener(
      "click",
      () => dialog.close(),
    );
    const list = el("dl", {}, dialog);
    for (const [keys, what] of HELP) {
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

  /** A button or menu that was used with the pointer gives the focus up, so that the next key acts on the stage. */
  release(event) {
    const used = event.target.closest?.("button, select");
    const near = this.inSight || used?.matches("[role=tab]"); // a tab may open ours
    if (used && near && !used.matches(":focus-visible")) used.blur();
  }

  /** Keys that work while someone types in the form, too: run, and stop where nothing else listens to Escape. */
  runs(event) {
    const { stage, page, dialog } = this;
    if (event.isComposing || event.defaultPrevented || dialog.open || !stage.root.offsetParent)
      return false;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      page.run?.();
      return true;
    }
    return event.key === "Escape" && event.target.matches?.("textarea") && Boolean(page.stop?.());
  }

  key(event) {
    const { stage } = this;
    const { target } = event;
    if (!stage.root.isConnected) return this.off.abort();
    if (this.runs(event)) return event.preventDefault();
    if (!this.inSight || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
      return;
    const inside = stage.root.contains(target);
    if (target.closest?.(TYPING) || !(inside || target === document.body)) return;
    if (event.key === " " && target.closest?.("button")) return; // space presses the button that has the focus
    if (this.dialog.open && event.key !== "?") return;
    if (!this.act(event.key.length === 1 ? event.key.toLowerCase() : event.key)) return;
    event.preventDefault();
  }

  escape() {
    const { store } = this;
    const busy = store.pin !== null || store.query;
    store.set({ pin: null, hover: null, query: "" });
    if (!busy) this.page.stop?.();
  }

  act(key) {
    const { store, stage } = this;
    const { tree } = stage;
    const acts = {
      " ": () => store.toggle(),
      ArrowLeft: () => store.step(-1),
      ArrowRight: () => store.step(1),
      Home: () => store.seek(0),
      End: () => (store.done ? store.seek(store.last) : store.goLive()),
      l: () => store.goLive(),
      f: () => store.set({ mode: store.focused ? "all" : "focus" }),
      h: () => store.set({ heat: !store.heat }),
      "+": () => tree.hands.zoomBy(1.25),
      "=": () => tree.hands.zoomBy(1.25),
      "-": () => tree.hands.zoomBy(0.8),
      0: () => tree.hands.zoomFit(),
      "/": () => tree.tools.search.focus(),
      "?": () => this.help(),
      Escape: () => this.escape(),
    };
    if (!Object.hasOwn(acts, key)) return false;
    acts[key]();
    return true;
  }
}

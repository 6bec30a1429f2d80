/* The keyboard: one listener a stage, asleep while the stage is out of sight or someone types elsewhere. */
(function (S) {
  "use strict";

  const { el, button } = S.dom;
  const HELP = [
    ["space", "play or pause"], ["← →", "one step back or forward"], ["Home End", "first or last step"], ["L", "follow the newest step"],
    ["F", "focus, or all nodes"], ["H", "heat: how often each slot was accepted"], ["+ − 0", "zoom the tree; 0 fits it"],
    ["ctrl wheel", "zoom at the pointer; drag to move"], ["/", "find a token in the tree"], ["Enter", "next find; in the tree: pin, unfold"],
    ["arrows", "inside the tree: from node to node"], ["Esc", "unpin, clear, close"], ["?", "this list"],
  ];
  const TYPING = "input, textarea, select, [contenteditable=''], [contenteditable='true']";

  S.Keys = class {
    constructor(store, stage) {
      this.store = store;
      this.stage = stage;
      this.inSight = true;
      this.off = new AbortController();
      document.addEventListener("keydown", (event) => this.key(event), { signal: this.off.signal });
      this.eye = new IntersectionObserver((entries) => { this.inSight = entries[entries.length - 1].isIntersecting; });
      this.eye.observe(stage.root);
      this.dialog = this.makeHelp(stage.root);
      stage.scrubber.help.addEventListener("click", () => this.help());
    }

    makeHelp(host) {
      const dialog = el("dialog", { class: "sq-help", "aria-label": "Keyboard", "data-part": "help" }, host);
      const head = el("div", { class: "sq-help-head" }, dialog);
      el("h3", { text: "Keyboard" }, head);
      button(head, { icon: "close", label: "Close", cls: "sq-mini-btn" }).addEventListener("click", () => dialog.close());
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

    key(event) {
      const { stage } = this, { target } = event;
      if (!stage.root.isConnected) return this.off.abort();
      if (!this.inSight || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const inside = stage.root.contains(target);
      if (target.closest?.(TYPING) || !(inside || target === document.body)) return;
      if (event.key === " " && target.closest?.("button")) return; // space presses the button that has the focus
      if (this.dialog.open && event.key !== "?") return;
      if (!this.act(event.key.length === 1 ? event.key.toLowerCase() : event.key)) return;
      event.preventDefault();
    }

    act(key) {
      const { store, stage } = this, { tree } = stage;
      const acts = {
        " ": () => store.toggle(), ArrowLeft: () => store.step(-1), ArrowRight: () => store.step(1),
        Home: () => store.seek(0), End: () => (store.done ? store.seek(store.last) : store.goLive()), l: () => store.goLive(),
        f: () => store.set({ mode: store.focused ? "all" : "focus" }), h: () => store.set({ heat: !store.heat }),
        "+": () => tree.hands.zoomBy(1.25), "=": () => tree.hands.zoomBy(1.25), "-": () => tree.hands.zoomBy(0.8),
        0: () => tree.hands.zoomFit(), "/": () => tree.tools.search.focus(), "?": () => this.help(),
        Escape: () => store.set({ pin: null, hover: null, query: "" }),
      };
      if (!Object.hasOwn(acts, key)) return false;
      acts[key]();
      return true;
    }
  };
})((window.Sequoia = window.Sequoia || {}));

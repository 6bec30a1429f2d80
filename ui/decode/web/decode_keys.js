/* The keyboard of the Decode view. */
import { PlaybackKeys } from "../../shared/web/playback_keys.js";

/** @type {[string, string]} */
const RUN = ["Ctrl Enter", "run, also while you type in the form; on a Mac also ⌘ Enter"];

/** The keys of a run's playback and of its tree. */
export class DecodeKeys extends PlaybackKeys {
  /** @returns {[string, string][]} */
  get listed() {
    const { run } = this.page; // missing in a saved page, which has no form
    const stops = run ? "; otherwise stop the run" : "";
    return [
      ...(run ? [RUN] : []),
      ["space", "play or pause"],
      ["← →", "one step back or forward"],
      [". ,", "slow motion: next or previous frame of the step"],
      ["Home End", "first or last step"],
      ["L", "follow the newest step"],
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
      End: () => (store.done ? store.seek(store.last) : store.goLive()),
      l: () => store.goLive(),
      f: () => store.set({ mode: store.focused ? "all" : "focus" }),
      h: () => store.set({ heat: !store.heat }),
      "+": () => view.pan.zoomBy(1.25),
      "=": () => view.pan.zoomBy(1.25),
      "-": () => view.pan.zoomBy(0.8),
      0: () => view.pan.zoomFit(),
      "/": () => tools.search.focus(),
      p: () => this.stage.presenter.toggle(),
      "?": () => this.stage.presenter.isOpen || this.help(),
      Escape: () => this.escape(),
    };
    if (!Object.hasOwn(acts, key)) return false;
    acts[key]();
    return true;
  }
}

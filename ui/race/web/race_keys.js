/* The keyboard of the Race view. */
import { PlaybackKeys } from "../../shared/web/playback_keys.js";

const KEY_STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** @type {[string, string][]} */
const HELP = [
  ["Ctrl Enter", "start the race, from anywhere; ⌘ Enter on a Mac"],
  ["space", "play or pause"],
  ["← →", "one step back or forward"],
  ["Home End", "start or end of the race"],
  ["L", "follow the newest step"],
  ["1 2 3 4", "show the tree of lane 1, 2, 3 or 4"],
  ["0", "show the tree of the lane in front"],
  [", .", "in the tree: previous or next frame of the step"],
  ["arrows", "inside a lane, panel or button group: from button to button"],
  ["Esc", "stop the race"],
  ["?", "this list"],
];

/** Keys for the form beside the view. A saved page has no form, so it does not list them. */
const OF_THE_FORM = ["Ctrl Enter", "Esc"];

/** The keys of the Race view. */
export class RaceKeys extends PlaybackKeys {
  get listed() {
    const { run } = this.page;
    return run ? HELP : HELP.filter(([keys]) => !OF_THE_FORM.includes(keys));
  }

  /**
   * @param {string} key
   * @returns {boolean} whether this view uses the key
   */
  act(key) {
    const { store } = this;
    const acts = {
      " ": () => store.toggle(),
      Home: () => store.seek(0),
      End: () => (store.done ? store.seek(store.end) : store.goLive()),
      l: () => store.goLive(),
      "?": () => this.help(),
      Escape: () => this.page.stop?.(),
    };
    if (/^[0-4]$/.test(key)) this.stage.tree.choose(key === "0" ? null : Number(key) - 1);
    else if (key === "," || key === ".") this.stage.tree.stage.player.turn(key === "." ? 1 : -1);
    else if (Object.hasOwn(KEY_STEPS, key)) store.step(KEY_STEPS[key]);
    else if (Object.hasOwn(acts, key)) acts[key]();
    else return false;
    return true;
  }
}

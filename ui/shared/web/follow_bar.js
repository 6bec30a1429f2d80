/* Lets a visitor follow another visitor's run or race: a button that starts following, and a
   sentence above the run or race that is followed. */
import { button, el, show, text } from "./dom.js";

/**
 * @import { Following } from "./following.js"
 *
 * A store of runs or races.
 * @typedef {object} Followable
 * @property {Following} following
 * @property {boolean} done whether the run or race on screen has ended or paused
 */

/** The button and the sentence, for runs or for races. */
export class FollowBar {
  /**
   * @param {Followable} store
   * @param {Element} host
   * @param {string} what "run" or "race", for the words on the page
   * @param {(() => void) | undefined} follow asks the server for the current run or race
   */
  constructor(store, host, what, follow) {
    this.store = store;
    this.what = what;
    this.whose = el("p", { class: "sq-banner", role: "status", "data-part": "followed" }, host);
    const act = () => {
      store.following.isWanted = true;
      follow?.();
    };
    const look = {
      text: `Follow the current ${what} meanwhile`,
      part: "follow",
      cls: "sq-follow",
      act,
    };
    this.button = button(host, look);
  }

  paint() {
    const { following, done } = this.store;
    const whose = `Someone else's ${this.what}, read-only.`;
    const rest = following.isWaiting ? " Yours is shown as soon as it starts." : "";
    text(this.whose, whose + rest);
    show(this.whose, following.isFollowed);
    show(this.button, following.isOffered(done));
  }
}

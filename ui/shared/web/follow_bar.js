/* Following another visitor's run: the button for a visitor who waits, and the sentence that says
   whose run is on screen. */
import { button, el, show } from "./dom.js";

const WHOSE = "Someone else's run, read-only. Yours is shown as soon as it starts.";

/**
 * What a store of runs or races knows about following.
 * @typedef {object} Following
 * @property {boolean} canFollow whether there is a run to follow while the visitor's own waits
 * @property {boolean} isFollowed whether the run on screen is someone else's, still being made
 */

/**
 * Note what a message says of following. Its words are not shown if they are about someone else's
 * run.
 * @template {{run?: string, race?: string | null, follow?: boolean, followed?: boolean,
 *   error?: string | null, notice?: string | null}} M
 * @param {Following} store
 * @param {M} message
 * @returns {M} the message to show
 */
export function noteFollowing(store, message) {
  if (message.followed) {
    store.isFollowed = true;
    return { ...message, error: undefined, notice: undefined };
  }
  if (message.run ?? message.race) store.isFollowed = false;
  store.canFollow = Boolean(message.follow);
  return message;
}

/** The button, and the sentence above a run that is followed. */
export class FollowBar {
  /**
   * @param {Following} store
   * @param {Element} host
   * @param {(() => void) | undefined} follow asks the server for the current run
   */
  constructor(store, host, follow) {
    this.store = store;
    this.whose = el("p", { class: "sq-banner", role: "status", "data-part": "followed" }, host);
    this.whose.textContent = WHOSE;
    const look = { text: "Follow the current run", part: "follow", cls: "sq-follow" };
    this.button = button(host, { ...look, act: () => follow?.() });
  }

  paint() {
    const { canFollow, isFollowed } = this.store;
    show(this.whose, isFollowed);
    show(this.button, canFollow && !isFollowed);
  }
}

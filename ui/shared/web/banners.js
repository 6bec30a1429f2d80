/* The banners above a run: an error, a notice, and whose run it is. A visitor whose own
   run waits can follow another visitor's. */
import { button, el, show } from "./dom.js";
import { readable } from "./format.js";
import { makeBanner } from "./panel.js";

/**
 * @import { Following } from "./following.js"
 *
 * A store of runs. `done`: whether the one on screen has ended or paused.
 * @typedef {object} Announced
 * @property {Following} following
 * @property {boolean} done
 * @property {string | null} error
 * @property {string | null} notice
 */

/** The banners. */
export class Banners {
  /**
   * @param {Announced} store
   * @param {Element} host
   * @param {(() => void) | undefined} follow asks the server for the current run
   */
  constructor(store, host, follow) {
    this.store = store;
    this.root = el("div", { class: "sq-banners" }, host);
    this.error = makeBanner(this.root, "error");
    this.notice = makeBanner(this.root, "notice");
    this.followed = makeBanner(this.root, "followed");
    const act = () => {
      store.following.isWanted = true;
      follow?.();
    };
    const words = "Follow the current run meanwhile";
    this.button = button(this.root, { text: words, part: "follow", cls: "sq-follow", act });
  }

  paint() {
    const { following, done, error, notice } = this.store;
    const whose = "Someone else's run, read-only.";
    const rest = following.isWaiting ? " Yours is shown as soon as it starts." : "";
    this.error(readable(error), Boolean(error));
    this.notice(readable(notice));
    this.followed(following.isFollowed ? whose + rest : "");
    show(this.button, following.isOffered(done));
  }
}

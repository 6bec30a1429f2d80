/* The banners above a run: an error, a notice, and whose run it is. A visitor whose own
   run waits can follow another visitor's. */
import { button, el, show, text } from "./dom.js";
import { readable } from "./format.js";

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
    const banner = (part, role = "status", cls = "") =>
      el("p", { class: "sq-banner" + cls, role, hidden: "", "data-part": part }, this.root);
    this.error = banner("error", "alert", " sq-banner-error");
    this.notice = banner("notice");
    this.followed = banner("followed");
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
    const banners = {
      error: readable(error),
      notice: readable(notice),
      followed: following.isFollowed ? whose + rest : "",
    };
    for (const [name, words] of Object.entries(banners)) {
      text(this[name], words);
      show(this[name], Boolean(words));
    }
    show(this.button, following.isOffered(done));
  }
}

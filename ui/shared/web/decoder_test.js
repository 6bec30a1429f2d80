/* Tests of decoders, in Lossless and in the tour. The server writes the buttons that start a test,
   and below them its counts, recorded ones until the first test has some. */
import { attr } from "./dom.js";
import { makeBanner, progressBar } from "./panel.js";
import { putHtml } from "./server_html.js";

/**
 * The messages are made in ui/lossless/messages.py. `share`: of a test in progress. `shown`: the
 * test as HTML.
 * @typedef {{share?: number | null, words?: string, error?: string | null, notice?: string,
 *   shown?: string}} Message
 */

/** The buttons, and the test that is shown. */
export class DecoderTest {
  isGoing = false;

  /**
   * @param {HTMLElement} root contains what `opening` in ui/lossless/tables.py wrote
   * @param {(bug: string) => void} test tests the decoder with this bug, or the correct one
   */
  constructor(root, test) {
    this.tests = root.querySelector("[data-part=tests]");
    const acts = /** @type {HTMLElement} */ (this.tests.previousElementSibling);
    acts.addEventListener("click", ({ target }) => {
      const { bug } = /** @type {HTMLElement} */ (target).dataset;
      if (bug) test(bug);
    });
    this.buttons = [...acts.querySelectorAll("button")];
    this.progress = progressBar(acts, "Sampling");
    this.say = makeBanner(acts);
    this.mark();
  }

  // Mark the button of the decoder that is shown, and no other.
  mark() {
    const { tested } = /** @type {HTMLElement} */ (this.tests.querySelector(".ls-pair")).dataset;
    for (const one of this.buttons) attr(one, "aria-pressed", String(one.dataset.bug === tested));
  }

  /** @param {Message} message */
  take({ share, words, error, notice, shown }) {
    this.isGoing = typeof share === "number";
    for (const button of this.buttons) button.disabled = this.isGoing; // one test at a time
    this.progress(share);
    const told = notice || (this.isGoing && !shown ? words : "");
    this.say(error || told || "", Boolean(error));
    if (!shown) return;
    putHtml(this.tests, shown);
    this.mark();
  }
}

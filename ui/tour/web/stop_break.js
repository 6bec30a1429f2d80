/* The last stop of the tour before the visitor's own run. The visitor breaks the decoder, and the
   server counts what it writes. */
import { DecoderTest } from "../../shared/web/decoder_test.js";
import { button, el } from "../../shared/web/dom.js";
import { openView } from "../../shared/web/navigation.js";
import { putHtml } from "../../shared/web/server_html.js";
import { Stop } from "./stop.js";

/** @import { Tour } from "./tour_view.js" */

/** The stop "Break it". */
export class BreakStop extends Stop {
  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   */
  constructor(host, tour) {
    super(host, tour, "break");
    putHtml(this.picture, tour.tests);
    this.test = new DecoderTest(this.picture, (bug) => {
      tour.test(bug);
      tour.answer(this.name, "bug", bug);
    });
    const more = el("div", { class: "sq-tour-acts" }, this.end);
    const act = () => openView("lossless");
    button(more, { text: this.words.more, part: "lossless", act });
  }

  /** @param {import("../../shared/web/decoder_test.js").Message} message */
  take(message) {
    this.test.take(message);
  }
}

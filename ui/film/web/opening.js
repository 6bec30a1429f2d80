/* What the film adds to the verdict: how typical its prompt is, and where to go from here. */
import { button, el, show, text } from "../../shared/web/dom.js";
import { capital, readable } from "../../shared/web/format.js";
import { openView } from "../../shared/web/navigation.js";
import { keptPlace } from "../../shared/web/tour_place.js";

/**
 * @import { RunStore } from "../../run/web/run_store.js"
 * @import { RunVerdict } from "../../run/web/verdict.js"
 */

const WHAT = "A small model drafts a tree of tokens, and the large one verifies it in one pass.";
const PAPER = "https://arxiv.org/abs/2402.12374";

/** A sentence and two buttons. */
export class Opening {
  /**
   * @param {RunStore} store
   * @param {RunVerdict} verdict
   * @param {(run: string) => void} take copies the settings of a run to the form of Run
   */
  constructor(store, { claim, acts }, take) {
    this.store = store;
    this.acts = acts;
    const line = el("p", { class: "run-typical", "data-part": "typical" });
    claim.after(el("p", { class: "run-typical", text: WHAT }), line);
    this.words = el("span", {}, line);
    el("a", { href: PAPER, target: "_blank", rel: "noreferrer", text: "The paper" }, line);
    const entry = keptPlace() ? "Resume the tour" : "Take the tour (8 min)";
    button(acts, { text: entry, part: "tour", act: () => openView("tour") });
    const look = { text: "Run it yourself", part: "own", cls: "sq-btn-main" };
    button(acts, { ...look, act: () => take(store.name) });
  }

  paint() {
    const { opening, label, device, params } = this.store.meta;
    show(this.acts, Boolean(opening));
    if (!opening) return;
    const [low, high] = opening.range.map((one) => one.toFixed(1) + "×");
    text(
      this.words,
      `${capital(label)} on ${readable(device)} at temperature ` +
        `${params.temperature}. Over ${opening.prompts.length} prompts, the median is ` +
        `${opening.median.toFixed(1)}×, and most lie between ${low} and ${high}. `,
    );
  }
}

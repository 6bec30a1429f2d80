/* The Lossless tab: counts of samples beside the target's exact distribution, the verdict, and the
   bugs that the test would find. Until the first test has counts, the tab shows recorded
   tests. */
import { canStop } from "../../shared/web/form_buttons.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { connectComponent } from "../../shared/web/connect_component.js";
import { makeBanner } from "../../shared/web/banner.js";
import { el, show } from "../../shared/web/dom.js";
import { progressBar } from "../../shared/web/progress_bar.js";
import { BugPanel } from "./bug_panel.js";
import { CellTable } from "./cell_table.js";
import { FindsPanel } from "./finds_panel.js";
import { introduction } from "./introduction.js";
import { recordedTests } from "./recorded_tests.js";
import { VerdictPanel } from "./verdict_panel.js";

/**
 * The messages are made in ui/lossless/messages.py.
 * @typedef {{share?: number | null, words?: string, error?: string | null, notice?: string,
 *   bug?: Bug | null, test?: Test}} Message
 *
 * @typedef {{key: string, label: string, about: string, shows: string, hides: string}} Bug
 *
 * @typedef {object} Test
 * @property {string} decoder "correct", or the name of the broken decoder
 * @property {string | null} broken key of the bug; null for the correct decoder
 * @property {boolean} going whether more samples are being drawn
 * @property {number} draws samples so far
 * @property {number} wanted samples planned
 * @property {Row[]} rows
 * @property {number} count number of all rows; `rows` may have fewer while samples are drawn
 * @property {number | null} statistic chi-square
 * @property {number} freedom its degrees of freedom
 * @property {number | null} p_value
 * @property {number} distance total variation
 * @property {number} floor mean of the total variation for a correct decoder
 * @property {"open" | "fits" | "differs"} kind of the verdict; "open" if there is none (yet)
 * @property {string} verdict
 * @property {Finds[]} finds
 *
 * Which other samples a row counts; see `_name` in ui/lossless/messages.py.
 * @typedef {"" | "other" | "rare" | "more" | "other more" | "impossible"} Rest
 * @typedef {{tokens: string[], rest: Rest, share: number, seen: number}} Row
 * @typedef {{key: string, label: string, distance: number | null, power: number | null,
 *   hides: string}} Finds
 */

const SCOPE =
  "Unless a bug is chosen under Decoder, drafted tokens are drawn and verified as in real runs. " +
  "With a toy, p and q are as typed. With the pair, they come from a plain forward pass over the " +
  "whole text, without a tree or a KV cache, with the target in float32. So this test does not " +
  "cover the forward pass over a tree or the KV cache. The self-test at load and the check after " +
  "a race cover both.";

class LosslessView {
  /**
   * @param {HTMLElement} root
   * @param {(bug: string) => void} fill fills the form with a setting in which the bug shows
   */
  constructor(root, fill) {
    this.root = root;
    root.classList.add("ls-stage");
    root.replaceChildren();
    const frame = el("div", { class: "sq-frame" }, root);
    this.progress = progressBar(frame, "Sampling");
    this.say = makeBanner(frame);
    this.opening = [introduction(frame, fill)];
    this.bug = new BugPanel(frame);
    this.opening.push(recordedTests(frame));
    this.verdict = new VerdictPanel(frame);
    const columns = el("div", { class: "ls-columns" }, frame);
    this.cells = new CellTable(columns);
    this.finds = new FindsPanel(columns);
    this.scope = el("p", { class: "ls-say ls-dim", text: SCOPE, hidden: "" }, frame);
  }

  /** @param {Message} message */
  take({ share, words, error, notice, bug, test }) {
    this.progress(share);
    const told = notice || (typeof share === "number" && !test ? words : "");
    this.say(error || told || "", Boolean(error));
    if (bug !== undefined) this.bug.show(bug);
    if (test) this.showTest(test);
    this.root.dataset.going = String(typeof share === "number");
  }

  /** @param {Test} test */
  showTest(test) {
    for (const part of this.opening) show(part, false);
    show(this.scope, true);
    this.verdict.show(test);
    this.cells.show(test);
    this.finds.show(test);
  }
}

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {{value?: string}} props
 * @param {(name: string, changed: () => void) => void} watch
 * @param {(name: string, data?: object) => void} trigger
 */
export function connect(element, props, watch, trigger) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-stage");
  const job = watchJob({ isBusy: () => canStop("ls"), ask: (asked) => trigger("ask", asked) });
  const taken = ({ share }) => job.take(typeof share === "number");
  const view = new LosslessView(root, (bug) => trigger("fill", { bug }));
  connectComponent(root, props, watch, view, { taken });
}

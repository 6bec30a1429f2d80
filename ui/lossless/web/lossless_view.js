/* The Lossless tab: counts of samples beside the target's exact distribution, the verdict, and what
   the test would find. It shows what ui/lossless/messages.py sends and computes nothing. */
import { canStop } from "../../shared/web/form_buttons.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { connectComponent } from "../../shared/web/connect_component.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { formBeside } from "../../shared/web/form_buttons.js";
import { progressBar } from "../../shared/web/progress_bar.js";
import { BugPanel } from "./bug_panel.js";
import { CellTable } from "./cell_table.js";
import { FindsPanel } from "./finds_panel.js";
import { VerdictPanel } from "./verdict_panel.js";

/**
 * @typedef {{share?: number | null, words?: string, error?: string | null, notice?: string,
 *   bug?: Bug | null, test?: Test}} Message
 *
 * @typedef {{key: string, label: string, about: string, shows: string, hides: string}} Bug
 *
 * @typedef {object} Test
 * @property {string} decoder "correct", or what is broken on purpose
 * @property {string | null} broken key of the bug
 * @property {boolean} going
 * @property {number} draws
 * @property {number} wanted
 * @property {Row[]} rows
 * @property {number} count of all rows; while samples are drawn, some are left out
 * @property {number | null} statistic
 * @property {number} freedom
 * @property {number | null} p_value
 * @property {number} distance total variation
 * @property {number} floor its mean for a correct decoder
 * @property {"open" | "fits" | "differs"} kind
 * @property {string} verdict
 * @property {Finds[]} finds
 *
 * @typedef {{tokens: string[], rest: "" | "other" | "rare" | "more" | "impossible", share: number,
 *   seen: number}} Row
 * @typedef {{key: string, label: string, distance: number | null, power: number | null,
 *   hides: string}} Finds
 */

const INTRO =
  "Press Run: many short texts are sampled and counted, and the counts are compared with the " +
  "target’s exact distribution. Then choose a broken decoder to see the test find it.";
const SCOPE =
  "The draws and the verification are those of real runs. p and q come from the reference forward " +
  "pass, with the target in float32. So this test does not cover the forward pass over a tree or " +
  "the KV cache; the self-test at load and the race do.";

class LosslessView {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    root.classList.add("ls-stage");
    root.replaceChildren();
    const frame = el("div", { class: "sq-frame" }, root);
    this.progress = progressBar(frame, "Sampling");
    const part = { "data-part": "banner", hidden: "" };
    this.banner = el("p", { class: "sq-banner", role: "status", ...part }, frame);
    this.intro = el("div", { class: "ls-intro", "data-part": "intro" }, frame);
    el("p", { class: "ls-say", text: INTRO }, this.intro);
    button(this.intro, { text: "Run the test", act: () => formBeside("ls").run() });
    this.bug = new BugPanel(frame);
    this.verdict = new VerdictPanel(frame);
    const columns = el("div", { class: "ls-columns" }, frame);
    this.cells = new CellTable(columns);
    this.finds = new FindsPanel(columns);
    el("p", { class: "ls-say ls-dim", text: SCOPE }, frame);
  }

  /** @param {Message} message */
  take({ share, words, error, notice, bug, test }) {
    this.progress(share);
    this.say(error, notice || (typeof share === "number" && !test ? words : ""));
    if (bug !== undefined) this.bug.show(bug);
    if (test) this.showTest(test);
    this.root.dataset.going = String(typeof share === "number");
  }

  say(error, notice) {
    const words = error || notice || "";
    text(this.banner, words);
    show(this.banner, Boolean(words));
    attr(this.banner, "role", error ? "alert" : "status");
    this.banner.classList.toggle("sq-banner-error", Boolean(error));
  }

  /** @param {Test} test */
  showTest(test) {
    show(this.intro, false);
    this.verdict.show(test);
    this.cells.show(test);
    this.finds.show(test);
  }
}

/**
 * Called from the component's js_on_load with what Gradio gives it.
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
  connectComponent(root, props, watch, new LosslessView(root), { taken });
}

/* The Lossless view: its buttons, and what it says while a test runs. The server writes the tests,
   in a component below: recorded ones until the first test has counts. */
import { makeBanner, progressBar } from "../../shared/web/panel.js";
import { connectComponent } from "../../shared/web/connect_component.js";
import { button, el, show } from "../../shared/web/dom.js";
import { canStop, formBeside } from "../../shared/web/form_buttons.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { showHtml } from "../../shared/web/html_host.js";

/**
 * The messages are made in ui/lossless/messages.py. `share`: of a test in progress. `shown`: the
 * test as HTML.
 * @typedef {{share?: number | null, words?: string, error?: string | null, notice?: string,
 *   shown?: string}} Message
 */

const TESTS = "ls-test-view"; // the component below this one

class LosslessView {
  /**
   * @param {HTMLElement} root
   * @param {(bug: string) => void} fill fills the form with a setting in which the bug shows, and
   *   runs the test
   */
  constructor(root, fill) {
    this.root = root;
    root.classList.add("ls-stage");
    root.replaceChildren();
    const frame = el("div", { class: "sq-frame" }, root);
    this.progress = progressBar(frame, "Sampling");
    this.say = makeBanner(frame);
    el("p", { class: "ls-say", text: WHY, "data-part": "intro" }, frame);
    makeActs(frame, fill);
    const earlier = "An earlier test: the form has changed since.";
    this.earlier = el("p", { text: earlier, "data-part": "earlier", hidden: "" }, frame);
  }

  /** @param {Message} message */
  take({ share, words, error, notice, shown }) {
    this.isGoing = typeof share === "number";
    this.progress(share);
    const told = notice || (this.isGoing && !shown ? words : "");
    this.say(error || told || "", Boolean(error));
    if (!shown) return;
    this.hasTest = true;
    show(this.earlier, false);
    showHtml(TESTS, shown);
  }

  // The visitor changed a field. A test that has ended is an earlier one from now on.
  formChanged() {
    show(this.earlier, Boolean(this.hasTest) && !this.isGoing);
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
  document.getElementById("ls-side").addEventListener("input", () => view.formChanged());
}

const WHY =
  "Speculative decoding should change the speed of the large model and nothing else: every text " +
  "must be exactly as likely as from the large model alone. A bug in the random draws " +
  "can break this, and no single text would reveal the bug. So this test counts thousands of " +
  "short texts and compares the counts with the exact probabilities.";
const OR = "or break the decoder:";
// Bugs that a test with a toy model can reveal, with their names in the form's menu.
const EXAMPLES = [
  ["draft-noise", "draft: random numbers reused"],
  ["walk-u", "verifier: random numbers reused"],
  ["last-token", "last token ignores rejections"],
];

/**
 * @param {HTMLElement} host
 * @param {(bug: string) => void} fill
 */
function makeActs(host, fill) {
  const acts = el("div", { class: "ls-acts" }, host);
  button(acts, { text: "Run the test", part: "run", act: () => formBeside("ls").run() });
  el("span", { text: OR }, acts);
  for (const [bug, label] of EXAMPLES)
    button(acts, {
      text: label,
      hint: "Fills in the form with a setting in which this bug shows, and runs the test",
      part: "example-" + bug,
      act: () => fill(bug),
    });
}

/* The tab's opening text: what the test compares and why, a button that runs it, and examples that
   fill in the form. */
import { button, el } from "../../shared/web/dom.js";
import { formBeside } from "../../shared/web/form_buttons.js";

const WHY =
  "Speculative decoding should change the speed of the large model and nothing else: every text " +
  "must be exactly as likely as from the large model alone. A bug in the random draws " +
  "can break this, and no single text would reveal the bug. So this test counts thousands of " +
  "short texts and compares the counts with the exact probabilities.";
const OR = "or first break the decoder:";
// Bugs that a test with a toy model can reveal.
const EXAMPLES = [
  ["draft-noise", "Give the draft the same random numbers at each step"],
  ["walk-u", "Give the verifier the same random numbers at each step"],
  ["last-token", "After a rejection, sample as if nothing was rejected"],
];

/**
 * @param {HTMLElement} host
 * @param {(bug: string) => void} fill fills the form with a setting in which the bug shows
 * @returns {HTMLElement}
 */
export function introduction(host, fill) {
  const root = el("div", { class: "ls-intro", "data-part": "intro" }, host);
  el("p", { class: "ls-say", text: WHY }, root);
  const acts = el("div", { class: "ls-acts" }, root);
  button(acts, { text: "Run the test", part: "run", act: () => formBeside("ls").run() });
  el("span", { text: OR }, acts);
  for (const [bug, label] of EXAMPLES)
    button(acts, {
      text: label,
      hint: "Fills in the form; then press “Run the test”",
      part: "example-" + bug,
      act: () => fill(bug),
    });
  return root;
}

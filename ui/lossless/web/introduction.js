/* The tab's opening text: what the test compares and why, and examples to start with one click. */
import { button, el } from "../../shared/web/dom.js";
import { formBeside } from "../../shared/web/form_buttons.js";

const WHY =
  "Speculative decoding should change the speed of the large model and nothing else: every text " +
  "must come out exactly as often as if the model had written it alone. A bug in the random draws " +
  "can break this, and no single text shows it. So this test counts thousands of short texts and " +
  "compares the counts with the exact probabilities.";
// Bugs that show in a toy, which needs no models.
const EXAMPLES = [
  ["draft-noise", "draft’s noise reused"],
  ["walk-u", "verifier’s random number reused"],
  ["last-token", "last token from the wrong distribution"],
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
  for (const [bug, label] of EXAMPLES)
    button(acts, {
      text: `Find a bug: ${label}`,
      hint: "Fills the form; then press Run",
      part: "example-" + bug,
      act: () => fill(bug),
    });
  return root;
}

/* A panel with facts about the pair in use. */
import { el, show } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";

/**
 * The pair in use, as sent by `loaded` in ui/models/view.py.
 * @typedef {object} Loaded
 * @property {string} name
 * @property {LoadedModel} target
 * @property {LoadedModel} draft
 * @property {number} vocab size of the vocabulary, in tokens
 * @property {number} limit longest context, in tokens
 * @property {string} why the reason, if the model with the shorter context can process less than
 *   its config states; otherwise ""
 * @property {[string, string][]} notes what loading found out about prompts and the end of texts:
 *   the subject and a sentence
 *
 * @typedef {object} LoadedModel
 * @property {string} name
 * @property {string} numbers dtype of the weights, such as "bfloat16"
 * @property {string} forward the forward pass in use, in words
 * @property {string} no_fast_forward why no faster forward pass is in use; "" if one is in use or
 *   none exists
 * @property {string} no_gpu_verification why the kernel that verifies trees on the GPU was
 *   rejected; "" if it was not
 * @property {string} device
 * @property {string} placement where the weights are, in words; "" if all are on `device`
 */

/** The panel; hidden while no pair is loaded. */
export class LoadedPair {
  /** @param {HTMLElement} frame */
  constructor(frame) {
    const panel = makePanel(frame, { part: "use", title: "In use", cls: "md-use" });
    this.root = panel.root;
    this.facts = el("dl", { class: "sq-facts md-facts" }, panel.body);
    show(this.root, false);
  }

  /** @param {Loaded | null} loaded */
  show(loaded) {
    show(this.root, Boolean(loaded));
    this.facts.replaceChildren();
    for (const [name, value] of loaded ? facts(loaded) : []) {
      el("dt", { text: name }, this.facts);
      el("dd", { text: value }, this.facts);
    }
  }
}

const tokens = (count) => count.toLocaleString("en") + " tokens";

function facts({ target, draft, vocab, limit, why, notes }) {
  return [
    ...model("Target", target),
    ...model("Draft", draft),
    ["Vocabulary", tokens(vocab)],
    ["Context", tokens(limit) + (why ? ": " + why : "")],
    ...notes,
  ];
}

function model(role, { name, numbers, forward, device, placement, ...why }) {
  const parts = [name, numbers, forward, device, placement].filter(Boolean);
  return [
    [role, parts.join(" · ")],
    [`${role}: no faster forward pass`, why.no_fast_forward],
    [`${role}: no verification on the GPU`, why.no_gpu_verification],
  ].filter(([, text]) => text);
}

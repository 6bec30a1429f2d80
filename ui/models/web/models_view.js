/* The drawer Models: the target and draft in use, the progress of a load, the suggested pairs and
   the model types. */
import { openDrawer } from "./drawer.js";
import { PairTable } from "./pair_table.js";
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { attr, el, scrollBox, show, tell, text } from "../../shared/web/dom.js";
import { canStop } from "../../shared/web/form_buttons.js";
import { count } from "../../shared/web/format.js";
import { makeBanner, makePanel, progressBar } from "../../shared/web/panel.js";

/**
 * A message from ui/models/view.py. It has either `load` and `field`, or the rest of the view.
 * `load`: the progress of a load. Null hides the progress; the form's element md-problem then says
 * why nothing is being loaded. `field`: the form field that the load's error or the text in
 * md-problem is about, if any. `error`: why a message could not be read; then all other fields are
 * missing.
 * @typedef {object} Message
 * @property {string} [error]
 * @property {string | null} [field]
 * @property {Load | null} [load]
 * @property {import("./pair_table.js").PairRow[]} [pairs]
 * @property {import("./pair_table.js").Machine} [machine]
 * @property {Loaded | null} [loaded]
 * @property {Types} [types]
 */

const FIELDS = ["pair", "target", "draft", "device", "dtype"];

class ModelsView {
  /**
   * @param {HTMLElement} root
   * @param {(name: string, data: any) => void} trigger
   */
  constructor(root, trigger) {
    this.root = root;
    root.replaceChildren();
    const frame = el("div", { class: "sq-frame" }, root);
    this.banner = makeBanner(frame);
    this.load = new LoadPanel(frame);
    this.use = new LoadedPair(frame);
    this.pairs = new PairTable(frame, (pair) => trigger("choose", { pair }));
    this.types = new ModelTypes(frame);
  }

  /** @param {Message} message */
  take(message) {
    const { error = "", load, pairs, field } = message;
    this.banner(error, Boolean(error));
    if (pairs) this.showAll(message);
    if (load === undefined) return;
    this.root.dataset.load = this.load.show(load);
    markField(field, load ? "md-now" : "md-problem");
  }

  /** @param {Message} message */
  showAll({ pairs, loaded, machine, types }) {
    this.pairs.show(pairs, machine);
    this.use.show(loaded);
    this.types.show(types);
  }
}

// Mark the form's field `wrong` (if any) as invalid, and all others as valid. `error`: the id of
// the element with the error message.
function markField(wrong, error) {
  for (const name of FIELDS) {
    const field = document.querySelector(`#md-${name} :is(input, textarea)`);
    if (!field) continue;
    attr(field, "aria-invalid", name === wrong && "true");
    attr(field, "aria-describedby", name === wrong && error);
  }
}

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {{value?: string}} props
 * @param {(name: string, changed: () => void) => void} watch
 * @param {(name: string, data: any) => void} trigger
 */
export function connect(element, props, watch, trigger) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".md-stage");
  const view = new ModelsView(root, trigger);
  const isGoing = ({ load }) => Boolean(load) && !load.over;
  const job = { trigger, isBusy: () => canStop("md"), isGoing };
  connectComponent(root, props, watch, view, { job });
  openDrawer(root);
  whenShown(root, () => trigger("select", {}));
}

/**
 * Made by `report_message` in ui/models/view.py.
 * @typedef {object} Load
 * @property {string} title the state of the load: "Loading", "Loaded", "Not loaded" or "Stopped"
 * @property {string} words the current activity, or a sentence about a stopped load
 * @property {boolean} over whether the load has ended
 * @property {string | null} error why it failed
 * @property {boolean} done whether the new models are in use
 * @property {number | null} share how much of the download is done, 0 to 1
 * @property {string | null} amount how much is downloaded and how fast, in words
 * @property {string | null} model the model that is being downloaded
 * @property {[string, string][]} checks name and result of each check that has passed
 *
 * @typedef {"running" | "failed" | "done" | "stopped"} State
 */

/**
 * @param {Load} load
 * @returns {State}
 */
function stateOf({ error, done, over }) {
  if (error) return "failed";
  if (done) return "done";
  return over ? "stopped" : "running";
}

/** The panel of the last load. It is hidden before the first load, and when a message clears it. */
class LoadPanel {
  /** @param {HTMLElement} frame */
  constructor(frame) {
    const panel = makePanel(frame, { part: "load", title: "Loading", cls: "md-load" });
    this.root = panel.root;
    this.title = panel.titleBox;
    this.now = el("p", { class: "md-now", id: "md-now", role: "status" }, panel.body);
    this.progress = progressBar(panel.body, "Downloaded");
    this.amount = el("p", { class: "md-amount sq-dim" }, panel.body);
    const checks = { class: "md-checks sq-stack", "aria-label": "Checks passed" };
    this.checks = el("ul", checks, panel.body);
    show(this.root, false);
  }

  /**
   * @param {Load | null} load null to hide the panel
   * @returns {State | ""}
   */
  show(load) {
    show(this.root, Boolean(load));
    if (!load) return "";
    text(this.title.firstElementChild, load.title);
    attr(this.root, "aria-label", load.title);
    text(this.now, loadWords(load));
    attr(this.now, "role", load.error ? "alert" : "status");
    this.now.classList.toggle("md-failed", Boolean(load.error));
    this.progress(load.share);
    tell(this.amount, load.amount || "");
    this.checks.replaceChildren(...load.checks.map(check));
    return stateOf(load);
  }
}

function loadWords({ error, done, words: now, model }) {
  if (error) return error;
  if (done) return "The whole page now uses these models.";
  return model ? `${now} ${model}` : now;
}

function check([what, result]) {
  const item = el("li", {});
  el("b", { text: what }, item);
  el("span", { text: result }, item);
  return item;
}

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
 * @property {string} no_faster_forward why no faster forward pass is in use; "" if the fastest is
 *   in use
 * @property {string} no_gpu_verification why the kernel that verifies trees on the GPU was
 *   rejected; "" if it was not
 * @property {string} device
 * @property {string} placement where the weights are, in words; "" if all are on `device`
 */

/** The panel; hidden while no pair is loaded. */
class LoadedPair {
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

function facts({ target, draft, vocab, limit, why, notes }) {
  return [
    ...modelFacts("Large model", target),
    ...modelFacts("Small model", draft),
    ["Vocabulary", count(vocab, "token")],
    ["Context", count(limit, "token") + (why ? ": " + why : "")],
    ...notes,
  ];
}

function modelFacts(role, { name, numbers, forward, device, placement, ...why }) {
  const parts = [name, numbers, forward, device, placement].filter(Boolean);
  return [
    [role, parts.join(" · ")],
    [`${role}: no faster forward pass`, why.no_faster_forward],
    [`${role}: no verification on the GPU`, why.no_gpu_verification],
  ].filter(([, value]) => value);
}

/**
 * The list, as returned by `types_message` in ui/models/view.py.
 * @typedef {{summary: string, rows: {name: string, result: string, words: string}[]}} Types
 */

const LABEL = "Filter model types";

/** A panel with the list. */
class ModelTypes {
  /** @type {HTMLElement[]} */
  rows = [];

  /** @param {HTMLElement} frame */
  constructor(frame) {
    const title = "Which model types run";
    const panel = makePanel(frame, { part: "types", title, cls: "md-types" });
    const box = el("details", {}, panel.body);
    this.summary = el("summary", {}, box);
    const hint = { placeholder: "Filter, such as phi3", "aria-label": LABEL };
    this.field = el("input", { type: "search", ...hint }, box);
    const list = scrollBox(box, title, { class: "md-type-list sq-more-below" });
    this.list = el("dl", {}, list);
    this.field.addEventListener("input", () => this.filter());
  }

  /** @param {Types} types */
  show({ summary, rows }) {
    text(this.summary, summary);
    this.rows = rows.map(row);
    this.list.replaceChildren(...this.rows);
    this.filter();
  }

  filter() {
    const typed = this.field.value.trim().toLowerCase();
    for (const one of this.rows) one.hidden = !one.dataset.words.includes(typed);
  }
}

function row({ name, result, words }) {
  const found = `${name} ${words}`.toLowerCase();
  const root = el("div", { "data-type": name, "data-result": result, "data-words": found });
  el("dt", { text: name }, root);
  el("dd", { text: words }, root);
  return root;
}

/* The Models view: the target and draft in use, the progress of a load, the suggested pairs and the
   model types. */
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { canStop } from "../../shared/web/form_buttons.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { attr, el, show, text } from "../../shared/web/dom.js";
import { LoadPanel } from "./load_panel.js";
import { LoadedPair } from "./loaded_pair.js";
import { ModelTypes } from "./model_types.js";
import { PairTable } from "./pair_table.js";

/**
 * A message from ui/models/view.py. It has either `load` and `field`, or the rest of the view.
 * `load`: the progress of a load. Null hides the progress; the form's element md-problem then says
 * why nothing is being loaded. `field`: the form field that the load's error or the text in
 * md-problem is about, if any. `error`: why a message could not be read; then all other fields are
 * missing.
 * @typedef {object} Message
 * @property {string} [error]
 * @property {string | null} [field]
 * @property {import("./load_panel.js").Load | null} [load]
 * @property {import("./pair_table.js").PairRow[]} [pairs]
 * @property {import("./pair_table.js").Machine} [machine]
 * @property {import("./loaded_pair.js").Loaded | null} [loaded]
 * @property {import("./model_types.js").Types} [types]
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
    const look = { class: "sq-banner sq-banner-error", "data-part": "banner" };
    this.banner = el("p", { ...look, role: "alert", hidden: "" }, frame);
    this.load = new LoadPanel(frame);
    this.use = new LoadedPair(frame);
    this.pairs = new PairTable(frame, (pair) => trigger("choose", { pair }));
    this.types = new ModelTypes(frame);
  }

  /** @param {Message} message */
  take(message) {
    const { error = "", load, pairs, field } = message;
    text(this.banner, error);
    show(this.banner, Boolean(error));
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
  const job = watchJob({ isBusy: () => canStop("md"), ask: (asked) => trigger("ask", asked) });
  const taken = ({ load }) => job.take(Boolean(load) && !load.over);
  connectComponent(root, props, watch, view, { taken });
  whenShown(root, () => trigger("select", {}));
}

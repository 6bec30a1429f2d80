/* The Hardware view: a profile, the speed-ups predicted with it, and the latest run beside its
   prediction.
   The server computes everything that the view shows (ui/hardware/view.py). */
import { RunPanel } from "./run_panel.js";
import { AcceptancePanel } from "../../shared/web/acceptance_table.js";
import { makeBanner, makePanel, progressBar } from "../../shared/web/panel.js";
import { followTheme } from "../../shared/web/chart.js";
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { button, el, show, tell, text } from "../../shared/web/dom.js";
import { figurePanel } from "../../shared/web/figure_panel.js";
import { canStop } from "../../shared/web/form_buttons.js";
import { formValues, withFormValues } from "../../shared/web/form_values.js";
import { linkView } from "../../shared/web/page_link.js";
import { dtypes } from "../../shared/web/run_facts.js";
import { saveText } from "../../shared/web/save_file.js";
import { addTerm } from "../../shared/web/tooltips.js";

/** @import { Figure } from "../../shared/web/chart.js" */

/**
 * A message, as `message` and `notice_message` of ui/hardware/view.py make it. `share`: progress of
 * a measurement, 0 to 1.
 * @typedef {{view?: View, error?: string, notice?: string, share?: number}} Message
 *
 * @typedef {object} View
 * @property {Profile} profile
 * @property {string | null} against the name of the profile that `profile` is compared with
 * @property {string} file the profile as JSON
 * @property {{name: string, label: string}} rates the acceptance vector
 * @property {Plan} plan of the fastest tree
 * @property {string | null} supposed a warning if times and acceptance may be of different models
 * @property {string} why sentences: why this tree is the fastest
 * @property {string | null} levels a sentence: the overhead per level; null if the profile has none
 * @property {string | null} averaged a sentence: the times of a target pass that planning uses
 *   instead of the measured ones; null if these are nearly equal
 * @property {string | null} there a sentence: the best plan for the profile `against`; null if
 *   `against` is null
 * @property {string} batch sentences: where tree, chain and plain decoding cross as the batch grows
 * @property {{heat: Figure, verify: Figure, small: Figure, batch: Figure}} figures
 * @property {ComparedRun | null} run the latest run; null if it cannot be compared
 * @property {import("../../shared/web/acceptance_table.js").AcceptanceByLevel[]} by_level
 *   acceptance by rank and depth
 *
 * @typedef {object} Profile
 * @property {string} name
 * @property {string} label measured, recorded, paper or simulated
 * @property {string} note
 * @property {string} device
 * @property {string} dtype
 * @property {string} target
 * @property {string} draft
 * @property {number} prefix length of the text before the timed passes, in tokens
 * @property {string} date
 *
 * @typedef {object} Plan a planned tree; its times are in seconds
 * @property {number} nodes
 * @property {number} levels
 * @property {number} tokens expected per step
 * @property {number} seconds predicted per step
 * @property {number} speedup predicted
 * @property {number} plain the time of one token in plain decoding
 *
 * @typedef {object} ComparedRun
 * @property {string} sentence
 * @property {Figure} figure
 * @property {number} predicted speed-up
 * @property {number} measured speed-up: that of the verdict, if there is one
 * @property {import("../../shared/web/verdict_words.js").Speedup | null} verdict null if plain
 *   decoding was not timed
 * @property {[string, string, string, string][]} parts name, predicted, measured, and the effect on
 *   the speed-up in words
 * @property {number} steps
 * @property {number} nodes of the run's largest tree
 * @property {number} levels of that tree
 * @property {string} rates name of the acceptance vector
 * @property {string} rates_label source of the acceptance vector
 */

class HardwareView {
  /** @type {View | undefined} */
  view;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    root.replaceChildren();
    const frame = el("div", { class: "sq-frame" }, root);
    this.makeHead(frame);
    this.body = el("div", { class: "hw-body sq-stack", hidden: "" }, frame);
    const top = el("div", { class: "hw-row sq-cells hw-top" }, this.body);
    this.makePass(top);
    this.facts = new ProfileFacts(top);
    const row = el("div", { class: "hw-row sq-cells" }, this.body);
    this.makeSmall(row);
    this.makeBatch(row);
    this.makeMap(this.body);
    this.run = new RunPanel(this.body);
    const about = {
      part: "by-level",
      title: "Acceptance by rank and depth",
      term: "acceptance by level",
    };
    this.byLevel = new AcceptancePanel(
      makePanel(this.body, { ...about, cls: "hw-by-level-panel" }),
    );
    followTheme(
      [this.heat, this.verify, this.small, this.batch, this.run].map(({ chart }) => chart),
    );
    this.say("Loading the profiles.", false);
  }

  // -- building ----------------------------------------------------------------------------------

  makeHead(frame) {
    const about = el("div", { class: "sq-about sq-wrap" }, frame);
    this.badge = el("span", { class: "sq-badge", "data-part": "label" }, about);
    this.name = el("b", { class: "sq-model-name" }, about);
    this.chips = el("span", { class: "sq-chips" }, about);
    this.say = makeBanner(frame);
    this.progress = progressBar(frame, "Measuring");
  }

  makeMap(host) {
    const title = "Predicted speed-up by size and levels";
    const about = { part: "heat", title, term: "speed-up map", cls: "hw-tall" };
    this.heat = figurePanel(host, about);
    const { foot } = this.heat.panel;
    this.why = el("p", { class: "hw-say hw-why", "data-part": "why" }, foot);
    this.there = el("p", { class: "hw-say", "data-part": "there" }, foot);
  }

  makePass(row) {
    const about = {
      part: "verify",
      title: "Pass of the large model, t(n)",
      term: "t(n)",
      cls: "hw-tall",
    };
    this.verify = figurePanel(row, about);
    const bars = el("span", { class: "sq-word sq-dim" }, this.verify.panel.titleBox);
    addTerm(bars, "error bars", "spread");
    const part = { "data-part": "averaged" };
    this.averaged = el("p", { class: "hw-say sq-dim", ...part }, this.verify.panel.foot);
  }

  makeSmall(row) {
    const title = "Pass of the small model, and overhead";
    this.small = figurePanel(row, { part: "small", title, term: "overhead by nodes" });
    const { foot } = this.small.panel;
    this.levels = el("p", { class: "hw-say sq-dim", "data-part": "levels" }, foot);
  }

  makeBatch(host) {
    const title = "If several texts were decoded at once";
    this.batch = figurePanel(host, { part: "batch", title, term: "batch" });
    const { foot } = this.batch.panel;
    this.crossing = el("p", { class: "hw-say", "data-part": "crossing" }, foot);
  }

  // -- messages ----------------------------------------------------------------------------------

  /** @param {Message} message */
  take({ view, error, notice, share }) {
    if (view) this.show(view);
    this.say(error || notice || "", Boolean(error));
    this.progress(share);
    this.root.dataset.share = typeof share === "number" ? String(Math.round(share * 100)) : "";
  }

  /** @param {View} view */
  show(view) {
    this.view = view;
    const { profile, rates } = view;
    const basis = view.supposed ? "hypothetical" : "predicted";
    show(this.body, true);
    this.showHead(profile);
    this.facts.show(profile, view.file);
    for (const name of ["heat", "verify", "small", "batch"])
      this[name].chart.show(view.figures[name]);
    const acceptance = `${rates.label} acceptance: ${rates.name}`;
    text(this.heat.word, `${basis}: ${profile.label} times and ${acceptance}`);
    this.showWords(view);
    this.run.show(view.run);
    this.byLevel.show(view.by_level);
    this.root.dataset.nodes = String(view.plan.nodes);
    this.root.dataset.profile = profile.name;
  }

  showHead({ label, name, device, dtype }) {
    this.badge.dataset.label = label;
    text(this.badge, label === "measured" ? "measured here" : label);
    text(this.name, name);
    this.chips.replaceChildren();
    for (const chip of [device, dtypes(dtype)])
      el("span", { class: "sq-chip", text: chip }, this.chips);
  }

  showWords(view) {
    text(this.why, (view.supposed || "") + view.why);
    text(this.levels, view.levels || "");
    text(this.averaged, view.averaged || "");
    text(this.there, view.there || "");
    text(this.crossing, view.batch);
    text(this.batch.word, `simulated: ${view.profile.name}`);
    const compared = view.against ? `, compared with ${view.against}` : "";
    const { label, name } = view.profile;
    for (const { word } of [this.verify, this.small]) text(word, `${label}: ${name}${compared}`);
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
  const root = element.querySelector(".hw-stage");
  const view = new HardwareView(root);
  const isGoing = ({ share }) => typeof share === "number";
  const job = { trigger, isBusy: () => canStop("hw"), isGoing };
  connectComponent(root, props, watch, view, { job });
  /** @type {Record<string, any> | null} the values of a link, until they are sent to the server */
  let linked = null;
  let isWaiting = false; // whether a link waits for the values in the form
  let isShown = false;
  const ask = () => {
    if (isWaiting) return;
    if (linked) trigger("link", linked);
    else trigger("select");
    linked = null;
  };
  linkView("hardware", {
    read: () => formLink(formValues("hardware")),
    apply: (values) => {
      if (!Object.keys(values).length) return;
      isWaiting = true;
      withFormValues("hardware", (now) => {
        isWaiting = false;
        linked = { ...now, ...values };
        if (isShown) ask();
      });
    },
    say: view.say,
  });
  whenShown(root, () => {
    isShown = true;
    ask();
  });
}

/** @type {(values: Record<string, any>) => Record<string, any>} the values, with "Max nodes" as a
 * number, or as null if it is empty or not a whole number */
const formLink = ({ nodes = "", ...values }) => ({
  ...values,
  nodes: /^\s*\d+\s*$/.test(nodes) ? Number(nodes) : null,
});

const TERMS = { Device: "on", Prefix: "prefix", Precision: "precision" };

/** The panel. */
class ProfileFacts {
  file = "";
  name = "";

  /** @param {HTMLElement} host */
  constructor(host) {
    const panel = makePanel(host, { part: "facts", title: "Profile", cls: "hw-facts" });
    this.list = el("dl", { class: "sq-facts" }, panel.body);
    this.note = el("p", { class: "sq-foot-note", "data-part": "note" }, panel.body);
    const label = "Export the profile as JSON";
    button(panel.tools, { text: "Export", label, act: () => this.export() });
  }

  /**
   * @param {Profile} profile
   * @param {string} file the profile as JSON
   */
  show(profile, file) {
    this.file = file;
    this.name = profile.name;
    this.list.replaceChildren();
    for (const [name, value] of facts(profile)) {
      const head = el("dt", {}, this.list);
      if (TERMS[name]) addTerm(head, name, TERMS[name]);
      else text(head, name);
      el("dd", { text: value, title: value }, this.list);
    }
    tell(this.note, profile.note);
  }

  export() {
    const name = this.name.replace(/[^\w.-]+/g, "-").slice(0, 40);
    saveText(`sequoia-profile-${name}.json`, this.file);
  }
}

function facts({ device, dtype, target, draft, prefix, date }) {
  return [
    ["Device", device],
    ["Precision", dtypes(dtype)],
    ["Large model", target],
    ["Small model", draft],
    ["Prefix", prefix ? `${prefix} tokens` : "not given"],
    ["Date", date],
  ];
}

/* The panel that shows the progress of loading models. */
import { attr, el, show, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";
import { progressBar } from "../../shared/web/progress_bar.js";

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
export class LoadPanel {
  /** @param {HTMLElement} frame */
  constructor(frame) {
    const panel = makePanel(frame, { part: "load", title: "Loading", cls: "md-load" });
    this.root = panel.root;
    this.title = panel.titleBox;
    this.now = el("p", { class: "md-now", id: "md-now", role: "status" }, panel.body);
    this.progress = progressBar(panel.body, "Downloaded", "md-bar");
    this.amount = el("p", { class: "md-amount" }, panel.body);
    const checks = { class: "md-checks", "aria-label": "Checks passed" };
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
    text(this.now, words(load));
    attr(this.now, "role", load.error ? "alert" : "status");
    this.now.classList.toggle("md-failed", Boolean(load.error));
    this.progress(load.share);
    text(this.amount, load.amount || "");
    show(this.amount, Boolean(load.amount));
    this.checks.replaceChildren(...load.checks.map(check));
    return stateOf(load);
  }
}

function words({ error, done, words: now, model }) {
  if (error) return error;
  if (done) return "All tabs now use these models.";
  return model ? `${now} ${model}` : now;
}

function check([what, result]) {
  const item = el("li", {});
  el("b", { text: what }, item);
  el("span", { text: result }, item);
  return item;
}

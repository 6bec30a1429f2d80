/* The table of suggested pairs: what each one needs, and whether it fits this machine. */
import { button, el, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { headed } from "../../shared/web/tooltips.js";

/**
 * A row of the table. `_row` in ui/models/view.py makes it.
 * @typedef {object} PairRow
 * @property {string} name
 * @property {string} tier what the pair is for, in words
 * @property {string} needs its requirements in words
 * @property {string} note anything else to know; may be empty
 * @property {ModelCell} target
 * @property {ModelCell} draft
 * @property {string} bytes download size in words
 * @property {string} licences
 * @property {string[]} gated ids of the models whose licence has to be accepted on the Hub
 * @property {{fits: string, words: string}} memory
 * @property {{fits: string, words: string}} disk
 * @property {string} why_not why the pair cannot be loaded here; "" if no reason is known
 *
 * @typedef {{id: string, parameters: string, bytes: string, source: string}} ModelCell
 *
 * @typedef {object} Machine
 * @property {string} device
 * @property {string} memory total memory
 * @property {string} free free memory
 * @property {string} disk free disk space
 * @property {boolean} online whether models may be downloaded
 */

const COLUMNS = [
  "Pair",
  "Large and small model, parameters",
  "Download",
  "Licence",
  "Memory",
  "Disk",
  "Choose",
];
const NOTE =
  "Sizes are published figures, and the memory needed is predicted from them. Before a " +
  "download, the exact sizes are read from the Hugging Face Hub. Other pairs can be loaded too: " +
  "choose “two models of your own”. Both models must have the same tokenizer, be stored as " +
  "safetensors and be of a supported type (listed below).";
const GATED = "gated: first accept the licence on the Hugging Face Hub";

/** The table of pairs. */
export class PairTable {
  /**
   * @param {HTMLElement} frame
   * @param {(pair: string) => void} choose called with the name of the chosen pair
   */
  constructor(frame, choose) {
    this.choose = choose;
    const panel = makePanel(frame, { part: "pairs", title: "Suggested pairs", cls: "md-pairs" });
    this.machine = el("span", { class: "sq-word sq-dim", "data-part": "machine" }, panel.titleBox);
    const table = el(
      "table",
      { class: "sq-table md-table sq-full" },
      el("div", { class: "sq-wide sq-more-right" }, panel.body),
    );
    this.rows = headed(table, COLUMNS);
    rove(this.rows);
    el("p", { class: "sq-foot-note", text: NOTE }, panel.foot);
  }

  /**
   * @param {PairRow[]} pairs
   * @param {Machine} machine
   */
  show(pairs, { device, free, memory, disk, online }) {
    const parts = [device, `${free} of ${memory} memory free`, `${disk} disk free`];
    if (!online) parts.push("HF_HUB_OFFLINE is set: no downloads");
    text(this.machine, parts.join(" · "));
    this.rows.replaceChildren(...pairs.flatMap((pair) => this.row(pair)));
  }

  row(pair) {
    const row = el("tr", { "data-pair": pair.name });
    const name = el("th", { scope: "row" }, row);
    el("b", { text: pair.name }, name);
    el("small", { text: pair.tier, title: "Suggested: " + pair.needs }, name);
    const models = el("td", {}, row);
    for (const one of [pair.target, pair.draft]) model(models, one);
    el("td", { class: "sq-unbroken", text: pair.bytes }, row);
    const licence = el("td", { text: pair.licences }, row);
    if (pair.gated.length) el("small", { class: "md-gated", text: GATED }, licence);
    for (const { fits, words } of [pair.memory, pair.disk]) {
      el("span", { class: "md-fits", text: words }, el("td", { "data-fits": fits }, row));
    }
    const look = { text: "Choose", label: "Choose " + pair.name, hint: "Suggested: " + pair.needs };
    const last = el("td", {}, row);
    const choose = button(last, { ...look, act: () => this.choose(pair.name) });
    choose.disabled = Boolean(pair.why_not);
    if (pair.why_not) el("small", { text: pair.why_not }, last);
    if (!pair.note) return [row];
    const note = el("tr", { class: "md-needs" });
    el("td", { colspan: COLUMNS.length, text: pair.note }, note);
    return [row, note];
  }
}

function model(host, { id, bytes, source, parameters }) {
  const line = el("div", { class: "md-model", title: `${id}: ${bytes}, ${source}` }, host);
  el("span", { text: id }, line);
  el("small", { text: parameters }, line);
}

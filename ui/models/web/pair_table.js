/* The pairs that have a name, with what they need and whether this machine has it. */
import { button, el, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";

/**
 * A row, as `_row` of ui/models/view.py makes it.
 * @typedef {object} PairRow
 * @property {string} name
 * @property {string} tier
 * @property {string} needs
 * @property {string} note
 * @property {ModelCell} target
 * @property {ModelCell} draft
 * @property {string} bytes
 * @property {string} licences
 * @property {string[]} gated ids
 * @property {{fits: string, words: string}} memory
 * @property {{fits: string, words: string}} disk
 * @property {boolean} loadable whether some choice in the form can load it here
 *
 * @typedef {{id: string, parameters: string, bytes: string, source: string}} ModelCell
 *
 * @typedef {object} Machine
 * @property {string} device
 * @property {string} memory
 * @property {string} free of the memory
 * @property {string} disk free
 * @property {boolean} online
 */

const COLUMNS = ["Pair", "Target and draft", "Download", "Licence", "Memory", "Disk", "Choose"];
const NOTE =
  "Sizes are published figures and memory is predicted from them; before a download the file " +
  "list is fetched from the Hub. Any two full-attention models with the same tokenizer can be " +
  "loaded: choose “two models of your own”.";
const GATED = "gated: accept its licence on the Hub first";

/** The table of pairs. */
export class PairTable {
  /**
   * @param {HTMLElement} frame
   * @param {(pair: string) => void} choose
   */
  constructor(frame, choose) {
    this.choose = choose;
    const panel = makePanel(frame, { part: "pairs", title: "Suggested pairs", cls: "md-pairs" });
    this.machine = el("span", { class: "sq-word", "data-part": "machine" }, panel.titleBox);
    const table = el("table", { class: "md-table" }, el("div", { class: "md-box" }, panel.body));
    const head = el("tr", {}, el("thead", {}, table));
    for (const name of COLUMNS) el("th", { scope: "col", text: name }, head);
    this.rows = el("tbody", {}, table);
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
    el("small", { text: pair.tier, title: "Needs " + pair.needs }, name);
    const models = cell(row, 1);
    for (const one of [pair.target, pair.draft]) model(models, one);
    text(cell(row, 2, { class: "md-number" }), pair.bytes);
    const licence = cell(row, 3, { text: pair.licences });
    if (pair.gated.length) el("small", { class: "md-gated", text: GATED }, licence);
    [pair.memory, pair.disk].forEach(({ fits, words }, i) => {
      const mark = pair.loadable || fits === "no" ? fits : null; // no tick if it cannot be loaded
      el("span", { class: "md-fits", text: words }, cell(row, 4 + i, { "data-fits": mark }));
    });
    const look = { text: "Choose", label: "Choose " + pair.name, hint: "Needs " + pair.needs };
    const choose = button(cell(row, 6), look);
    choose.disabled = !pair.loadable;
    choose.addEventListener("click", () => this.choose(pair.name));
    if (!pair.note) return [row];
    const note = el("tr", { class: "md-needs" });
    el("td", { colspan: COLUMNS.length, text: pair.note }, note);
    return [row, note];
  }
}

// A cell that says its column's name where the table is too narrow for columns.
const cell = (row, column, attributes = {}) =>
  el("td", { "data-column": COLUMNS[column], ...attributes }, row);

function model(host, { id, bytes, source, parameters }) {
  const line = el("div", { class: "md-model", title: `${id}: ${bytes}, ${source}` }, host);
  el("span", { text: id }, line);
  el("small", { text: parameters }, line);
}

/* Two recorded losslessness tests side by side: one of the correct decoder, one of a decoder with a
   bug. */
import { el } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";
import { nameOf } from "./cell_rows.js";
import { isFar, rareness } from "./deviation.js";
import RECORDED from "../../../assets/losslessness.json" with { type: "json" };

/** @typedef {import("./lossless_view.js").Row} Row */
/**
 * A recorded test, made by `python -m ui.record losslessness`. Its fields are explained in
 * lossless_view.js, at Test.
 * @typedef {object} Recorded
 * @property {string} decoder
 * @property {string | null} broken
 * @property {string} kind
 * @property {number} draws
 * @property {number} distance
 * @property {number} floor
 * @property {number | null} p_value
 * @property {Row[]} rows
 */

const WORDS = {
  null: "Every pair of words comes out about as often as it should: chance explains the small differences.",
  "draft-noise":
    "The draft got the same random numbers at each step. Each first word still comes out as often " +
    "as it should, but some pairs of words come out far too often or far too rarely.",
};
// The largest share of all rows. A bar of this share fills its whole track.
const LARGEST = Math.max(...RECORDED.tests.flatMap(({ rows, draws }) => sharesOf(rows, draws)));

/**
 * @param {HTMLElement} host
 * @returns {HTMLElement}
 */
export function recordedTests(host) {
  const root = el("div", { class: "ls-intro", "data-part": "recorded" }, host);
  const pair = el("div", { class: "ls-pair" }, root);
  for (const test of /** @type {Recorded[]} */ (RECORDED.tests)) paintTest(pair, test);
  const { machine, date } = RECORDED;
  const words =
    "Both tests use a toy model with three words (a, b and c) and look at the first two words of each text. The bars " +
    `show how often each pair was sampled, and the marks show its exact probability. Red: off by more than 3 standard deviations. Total variation: half the sum of the absolute differences between sampled and exact. p-value: the probability that a correct decoder deviates this much or more. Recorded on ${machine}, ${date}.`;
  el("p", { class: "ls-say ls-dim", text: words }, root);
  return root;
}

/**
 * @param {HTMLElement} host
 * @param {Recorded} test
 */
function paintTest(host, test) {
  const title = test.broken ? "A decoder broken on purpose" : "The correct decoder";
  const part = "recorded-" + (test.broken ?? "correct");
  const panel = makePanel(host, { part, title, cls: "ls-recorded" });
  panel.root.dataset.kind = test.kind;
  el("span", { class: "sq-badge", "data-label": "recorded", text: "recorded" }, panel.tools);
  el("p", { class: "ls-words", text: WORDS[String(test.broken)] }, panel.body);
  const table = el("table", { class: "sq-table ls-bars" }, panel.body);
  const head = el("tr", {}, el("thead", {}, table));
  el("th", { scope: "col", text: "words" }, head);
  el("th", { scope: "col", colspan: 2, text: "sampled" }, head);
  el("th", { scope: "col", text: "exact" }, head);
  const body = el("tbody", {}, table);
  for (const row of test.rows) paintBar(body, row, test.draws);
  el("p", { class: "ls-dim", text: rareness(test) }, panel.foot);
}

/**
 * @param {HTMLElement} host
 * @param {Row} row
 * @param {number} draws
 */
function paintBar(host, row, draws) {
  const line = el("tr", {}, host);
  const { tokens, rest } = nameOf(row);
  el("th", { scope: "row", text: [...tokens, rest].filter(Boolean).join(" ") }, line);
  const far = isFar(row, draws) ? "" : null;
  const track = el("div", { class: "ls-track", "data-far": far }, el("td", {}, line));
  const fill = el("div", { class: "ls-fill" }, track);
  fill.style.width = wide(row.seen / draws);
  el("div", { class: "ls-exact" }, track).style.left = wide(row.share);
  el("td", { text: percent(row.seen / draws) }, line);
  el("td", { text: percent(row.share) }, line);
}

function sharesOf(rows, draws) {
  return rows.flatMap(({ share, seen }) => [share, seen / draws]);
}

const percent = (share) => (100 * share).toFixed(1) + "%"; // always one decimal, to compare rows
const wide = (share) => `${(100 * share) / LARGEST}%`;

/* At a temperature above 0: first tokens that the lanes drew at one place of the text, counted against the target's law there. */
import { makePanel } from "../../shared/web/panel.js";
import { laneName } from "./lane.js";
import { el, show, text } from "../../shared/web/dom.js";
import { count, known, percent, readable, short, visible } from "../../shared/web/format.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const REST = Symbol("rest"); // the row of tokens that the message left out

export class DistributionCheck {
  constructor(store, host) {
    this.store = store;
    const panel = makePanel(host, {
      part: "law",
      title: "First tokens against the target’s law",
      cls: "race-law",
    });
    Object.assign(this, { root: panel.root, body: panel.body, seen: null });
    this.word = el("span", { class: "sq-word" }, panel.titleBox);
    addTerm(panel.titleBox, "what is a law?", "law", "sq-word");
    this.where = el("p", { "data-part": "law-where" }, panel.body);
    this.table = el(
      "table",
      { class: "race-counts" },
      el("div", { class: "race-counts-box" }, panel.body),
    );
    this.note = el("p", { class: "race-note", "data-part": "law-note" }, panel.body);
  }

  paint() {
    const { store } = this;
    const results = store.results || [];
    if (this.seen === results && this.lanes === store.lanes) return;
    Object.assign(this, { seen: results, lanes: store.lanes });
    const lanes = results
      .map((result, i) => ({ i, count: result?.lossless?.count, p: result?.lossless?.p }))
      .filter(({ i, count }) => count && store.lanes[i]);
    show(this.root, lanes.length > 0);
    if (!lanes.length) return;
    const drawn = lanes.filter(({ count }) => count.draws > 0);
    text(this.word, store.meta.label || "");
    this.place(lanes[0].count, results[lanes[0].i].lossless, drawn.length > 0);
    show(this.table, drawn.length > 0);
    show(this.note, drawn.length > 0);
    if (drawn.length) this.counts(drawn);
  }

  /** Where the tokens are drawn and why there; or why none are. */
  place({ context, at, lane, rule }, { words }, some) {
    this.where.replaceChildren();
    if (!some) return void text(this.where, readable(words));
    this.where.append("The same step is made again and again with other seeds, after ");
    el("code", { text: "…" + readable(context) }, this.where);
    this.where.append(
      ` (token ${at + 1} of the text of ${laneName(this.store.lanes[lane] ?? {}, lane)}). The place was chosen before anything was drawn: `,
    );
    this.where.append(readable(rule) + " (");
    addTerm(this.where, "what is a bit?", "bits");
    this.where.append(").");
  }

  counts(drawn) {
    const { table } = this;
    const longest = drawn.reduce((one, other) =>
      other.count.draws > one.count.draws ? other : one,
    ).count;
    table.replaceChildren();
    const head = el("tr", {}, el("thead", {}, table));
    el("th", { scope: "col", text: "next token" }, head);
    addTerm(el("th", { scope: "col" }, head), "its law", "law");
    for (const { i } of drawn)
      el("th", { scope: "col", text: laneName(this.store.lanes[i], i) }, head);
    const body = el("tbody", {}, table);
    for (const cell of rows(longest)) this.row(body, cell, drawn);
    const foot = el("tfoot", {}, table);
    this.foot(
      foot,
      "draws",
      drawn.map(({ count: { draws, wanted } }) => draws + " of " + wanted),
    );
    this.foot(
      foot,
      "chi-square",
      drawn.map(({ count: { statistic, freedom } }) =>
        known(statistic)
          ? (statistic < 1e9 ? short(statistic) : "∞") + " (" + freedom + " d.f.)"
          : "–",
      ),
    );
    this.foot(
      foot,
      "p-value",
      drawn.map(({ p }) => (known(p) ? short(p) : "–")),
    );
    const sights = drawn.map(({ count: { sight } }) => sight).filter(known);
    text(
      this.note,
      "In brackets: how many the law lets expect. " +
        (sights.length
          ? `With so many draws, the likeliest token’s share would have to be off by about ${Math.round(Math.max(...sights) * 100)} points to count as different, which is a p-value below one in a million.`
          : "Too few draws so far to hold against the law."),
    );
  }

  row(body, cell, drawn) {
    const line = el("tr", {}, body);
    const name = el("th", { scope: "row" }, line);
    if (cell.text === null)
      name.append(
        cell.key === REST
          ? count(cell.cells, "further row")
          : cell.share < 1
            ? "all others"
            : "any token",
      );
    else {
      el("code", { text: visible(cell.text) }, name);
      if (cell.more) name.append(" and others");
    }
    el("td", { text: percent(cell.share) }, line);
    for (const { count: one } of drawn) {
      const mine = rows(one).find(
        (other) => other.text === cell.text && other.key === cell.key && other.more === cell.more,
      );
      el("td", { text: mine ? mine.seen + " (" + short(mine.share * one.draws) + ")" : "–" }, line);
    }
  }

  foot(foot, name, values) {
    const line = el("tr", {}, foot);
    const box = el("th", { scope: "row", colspan: "2" }, line);
    if (TOOLTIPS[name]) addTerm(box, name);
    else box.append(name);
    for (const value of values) el("td", { text: value }, line);
  }
}

/** The cells of a count, and one row for those that the message left out. */
function rows({ draws, cells, freedom }) {
  const shown = cells.map((cell) => ({ ...cell, key: null }));
  const left = (freedom ?? 0) + 1 - cells.length;
  if (left <= 0) return shown;
  const sum = (of) => cells.reduce((total, cell) => total + of(cell), 0);
  return [
    ...shown,
    {
      text: null,
      key: REST,
      more: false,
      cells: left,
      share: Math.max(1 - sum((cell) => cell.share), 0),
      seen: draws - sum((cell) => cell.seen),
    },
  ];
}

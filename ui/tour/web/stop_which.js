/* The fifth stop of the tour: where to place guesses, and on which machines a tree is worth its
   longer step. */
import { el } from "../../shared/web/dom.js";
import { ChoiceControl } from "./controls.js";
import { figure } from "./filled.js";
import { LESSON } from "./lesson.js";
import { PlaceControl, showPlaces } from "./places_picture.js";
import * as placing from "./placing.js";
import { largest, speedupTable } from "./speedup_table.js";
import { Stop } from "./stop.js";

/** @import { Tour } from "./tour_view.js" */

const EVEN = 1e-9; // differences below this, in guesses per step, are rounding errors
const CLOSE = 0.02; // a ratio counts as right if it is off by at most this
const SHADES = 5; // how many colours the page has for shading tables

/** The stop "Which tree?". */
export class WhichStop extends Stop {
  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   */
  constructor(host, tour) {
    super(host, tour, "which");
    const { place, compare, machines } = this.words;
    this.best = placing.bestPlaces(place.rates, place.nodes);
    this.pair = placing.compared(compare);
    this.longer = machines.map((key) => placing.timesLonger(this.pair, tour.profiles[key]));
    const worst = this.longer.indexOf(Math.max(...this.longer));
    this.loser = machines[worst];
    const keeps = (places) => figure(placing.keeps(places, place.rates), 4);
    this.facts = {
      first_of: Math.round(100 * place.rates[0]),
      second_of: Math.round(100 * place.rates[1]),
      second: place.rates[1],
      nodes: place.nodes,
      best: keeps(this.best),
      chain_keeps: keeps(placing.chainPlaces(place.nodes)),
      fourth: figure(place.rates[0] ** place.nodes, 4),
      size: compare.nodes - 1,
      guesses: compare.guesses,
      rates: [compare.rates.slice(0, -1).join(", "), compare.rates.at(-1)].join(" and "),
      tree_tokens: figure(this.pair.treeTokens, 2),
      chain_tokens: figure(this.pair.chainTokens, 2),
      ratio: figure(this.pair.ratio, 2),
      loses: LESSON.machines[this.loser].name,
      longest: this.longer[worst].toFixed(2),
      sources: machines.map((key) => this.sourceOf(key)).join("; "),
    };
    this.askPlace();
    const isClose = (said) => Math.abs(said - this.pair.ratio) <= CLOSE;
    this.askNumber("ratio", { most: 20, step: "0.01", isRight: isClose });
    this.askMachine();
  }

  sourceOf(key) {
    const { short, models } = LESSON.machines[key];
    return `${short} (${models}, ${this.tour.profiles[key].source})`;
  }

  askPlace() {
    const words = this.words.questions.place;
    const { rates, nodes } = this.words.place;
    this.ask("place", {
      control: (at) => new PlaceControl(at, { nodes, ranks: rates.length, words }),
      verdict: (said) => this.placeVerdict(said, words),
      reveal: (at, said) => this.revealPlaces(at, said, words),
    });
  }

  placeVerdict(said, { right, wrong, chain, shown }) {
    if (!Array.isArray(said)) return /** @type {const} */ (["shown", this.say(shown)]);
    const { rates, nodes } = this.words.place;
    const yours = placing.keeps(said.map(String), rates);
    if (yours >= placing.keeps(this.best, rates) - EVEN)
      return /** @type {const} */ (["right", this.say(right)]);
    const isChain = said.includes("0".repeat(nodes));
    const words = this.say(isChain ? chain : wrong, { yours: figure(yours, 4) });
    return /** @type {const} */ (["off", words]);
  }

  revealPlaces(host, said, { mine, ideal }) {
    const row = el("div", { class: "sq-tour-two" }, host);
    const trees = Array.isArray(said) ? [[mine, said.map(String)]] : [];
    for (const [name, places] of [...trees, [ideal, this.best]]) {
      const box = el("div", {}, row);
      const sum = figure(placing.keeps(places, this.words.place.rates), 4);
      el("h4", { class: "sq-tour-sub", text: `${name}: ${sum} (predicted)` }, box);
      showPlaces(box, places, this.words.place.rates);
    }
    if (Array.isArray(said)) this.questions[0].control.remove();
  }

  askMachine() {
    const { label, right, wrong, shown } = this.words.questions.machine;
    const { machines } = this.words;
    const choices = machines.map((key) => [key, LESSON.machines[key].name]);
    this.ask("machine", {
      control: (at) => new ChoiceControl(at, { label, choices }),
      verdict: (said) => {
        const chosen = machines.indexOf(said);
        if (chosen < 0) return ["shown", this.say(shown)];
        if (said === this.loser) return ["right", this.say(right)];
        const more = { said: choices[chosen][1], said_longer: this.longer[chosen].toFixed(2) };
        return ["off", this.say(wrong, more)];
      },
      reveal: (at) => {
        this.beats(at);
        this.heat(at);
      },
    });
  }

  // For each machine, one bar for the time of the chain's step and one for that of the tree's step.
  // If the tree's bar ends beyond the mark at `ratio`, the chain is faster.
  beats(host) {
    const scale = 100 / Math.max(...this.longer);
    const list = el("div", { class: "sq-tour-beats" }, host);
    this.words.machines.forEach((key, i) => {
      const box = el("div", { class: "sq-tour-block" }, list);
      const head = el("span", { class: "sq-tour-block-name sq-wrap" }, box);
      el("span", { text: LESSON.machines[key].short }, head);
      const source = this.tour.profiles[key].source;
      el("span", { class: "sq-badge", "data-label": source, text: source }, head);
      el("b", { text: this.say(this.words.longer, { longer: this.longer[i].toFixed(2) }) }, head);
      this.beat(box, this.words.chain, scale, "is-chain", false);
      const cls = this.longer[i] > this.pair.ratio ? "is-over" : "is-tree";
      this.beat(box, this.words.tree, scale * this.longer[i], cls, true);
    });
    el("p", { class: "sq-tour-limit", text: this.say(this.words.limit) }, list);
    list.style.setProperty("--limit", scale * this.pair.ratio + "%");
  }

  beat(box, name, wide, cls, isLimited) {
    const lane = el("span", { class: "sq-tour-lane is-beat" }, box);
    const bar = el("span", { class: "sq-tour-bar " + cls, text: name }, lane);
    bar.style.width = wide + "%";
    if (isLimited) el("span", { class: "sq-tour-aim is-limit" }, lane);
  }

  heat(host) {
    const row = el("div", { class: "sq-tour-two" }, host);
    for (const key of this.words.heat) this.table(el("div", {}, row), key);
  }

  table(host, key) {
    const { sizes, levels, compare, heat_title: title, nodes, rows, best } = this.words;
    const profile = this.tour.profiles[key];
    const table = speedupTable(compare.rates, profile, sizes, levels);
    const [row, column] = largest(table);
    const named = { machine: LESSON.machines[key].name, label: profile.source };
    const made = el("table", { class: "sq-full sq-tour-heat" }, host);
    el("caption", { text: this.say(title, named) }, made);
    const top = el("thead", {}, made);
    const over = el("tr", {}, top);
    el("th", { scope: "col", rowspan: 2, text: rows }, over);
    el("th", { scope: "colgroup", colspan: sizes.length, text: nodes }, over);
    const head = el("tr", {}, top);
    for (const size of sizes) el("th", { scope: "col", text: String(size) }, head);
    const body = el("tbody", {}, made);
    const most = table[row][column];
    levels.forEach((level, i) => {
      const line = el("tr", {}, body);
      el("th", { scope: "row", text: String(level) }, line);
      table[i].forEach((value, j) => cell(line, value, most, i === row && j === column));
    });
    const facts = { nodes: sizes[column], speedup: figure(most) };
    el("p", { class: "sq-tour-says", text: this.say(best, facts) }, host);
  }
}

function cell(line, value, most, isBest) {
  const isTree = !Number.isNaN(value);
  const made = el("td", { text: isTree ? value.toFixed(1) : "" }, line);
  if (isTree) made.dataset.heat = String(shadeOf(value, most));
  made.classList.toggle("is-best", isBest);
}

const shadeOf = (value, most) =>
  Math.max(0, Math.min(SHADES - 1, Math.floor((SHADES * (value - 0.5)) / (most - 0.49))));

/* The panel for many runs of the toy (see toy.js). It compares the words that the runs emit with
   the target's distribution p and with the exact output distribution. It also lists exact figures
   of all verifiers. */
import { button, el, show, text } from "../../shared/web/dom.js";
import { grouped, percent, prob, rate } from "../../shared/web/format.js";
import { makeFold, makePanel } from "../../shared/web/panel.js";
import { prefersStillness } from "../../shared/web/playback.js";
import { seeded } from "../../shared/web/random.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm, headed } from "../../shared/web/tooltips.js";
import { exactly, MOST_OUTCOMES } from "./exact.js";
import { limitsOf, passes } from "./rules/limit.js";
import { VERIFIERS } from "./rules/verifiers.js";
import { noiseFloor, noiseSpread, squared, Tally, totalVariation } from "./tally.js";
import { MOST_WORDS, treeOf, WORDS } from "./toy.js";

/**
 * @import { Exact } from "./exact.js"
 * @import { Limits } from "./rules/limit.js"
 * @import { Toy } from "./toy.js"
 */

const RUNS = 10_000;
const A_FRAME = 250; // runs per frame
const REST_MS = 250; // from the last change of the toy to the start of the exact computation
const ROUNDING = 1e-9; // more than the rounding error of a sum of MOST_OUTCOMES floats
const SLICE_MS = 12; // how long the exact computation runs between two pauses
const LIMIT = "limit for node-by-node verification";
const LIMITS = "Lower and upper limit in each row";
const LIMIT_WORDS =
  ": the best that a verifier can reach if it draws children as this row’s verifier does and is " +
  "lossless at every single node (computed by optimal transport). Traversal tests whole paths, " +
  "so it may exceed its upper limit. On a chain it is block verification, which tests all " +
  "guesses of a chain together.";
const ALL_VERIFIERS =
  "All verifiers on this toy (exact). Traversal is newer than Sequoia; by testing whole paths it " +
  "often keeps more.";
const TOO_MANY = `over ${grouped(MOST_OUTCOMES)} outcomes`;

/** The panel "Run it 10,000 times". */
export class RunsPanel {
  /** @type {Tally | null} */
  tally = null;
  wanted = 0; // how many runs the visitor has asked for since the last reset
  #timer = 0;
  #frame = 0;
  /** @type {Map<string, Exact | null>} by verifier */
  exact = new Map();
  /** @type {Map<string, Limits>} by verifier */
  limits = new Map();

  /** @param {HTMLElement} host */
  constructor(host) {
    const title = "Run it 10,000 times";
    const panel = makePanel(host, { part: "runs", title, cls: "wk-runs" });
    this.root = panel.root;
    const look = { class: "sq-badge", "data-label": "measured", text: "measured" };
    this.badge = el("span", look, panel.tools);
    this.makeButtons(panel.body);
    this.makeBars(panel.body);
    this.makeFacts(panel.body);
    this.makeVerifiers(panel.body);
  }

  makeButtons(host) {
    const line = el("div", { class: "wk-line sq-wrap" }, host);
    this.go = button(line, { part: "run-many", cls: "sq-btn-main", act: () => this.runMore() });
    this.anew = button(line, { text: "Start over", part: "run-anew", act: () => this.startOver() });
    rove(line);
    this.count = el("span", { class: "sq-dim", "aria-live": "polite", "data-part": "count" }, line);
  }

  makeBars(host) {
    const table = el("table", { class: "sq-table sq-full wk-table", "data-part": "emitted" }, host);
    el("caption", { text: "How often each word comes first, compared with p" }, table);
    const body = headed(table, ["word", "", "p", "measured", "exact"]);
    this.rows = Array.from({ length: MOST_WORDS }, (_, i) => {
      const row = el("tr", {}, body);
      el("th", { scope: "row", text: WORDS[i] }, row);
      const bars = el("td", { class: "wk-bars" }, row);
      const p = el("i", { class: "wk-bar-p" }, bars);
      const found = el("i", { class: "wk-bar-found" }, bars);
      const cells = ["p", "found", "exact"].map(() => el("td", {}, row));
      return { row, p, found, cells };
    });
  }

  makeFacts(host) {
    const table = el("table", { class: "sq-table sq-full wk-table", "data-part": "facts" }, host);
    el("caption", { text: "Distance of the output from p, and tokens per step" }, table);
    const noise = ["noise floor", "noise floor"];
    const body = headed(table, ["", "measured", noise, "exact"]);
    const line = (name, term) => {
      const row = el("tr", {}, body);
      addTerm(el("th", { scope: "row" }, row), name, term);
      return ["measured", "floor", "exact"].map(() => el("td", {}, row));
    };
    this.facts = {
      first: line("total variation, first word", "total variation"),
      pairs: line("total variation, first two words", "total variation"),
      tokens: line("tokens per step", "tokens per step"),
    };
  }

  makeVerifiers(host) {
    const table = el(
      "table",
      { class: "sq-table sq-full wk-table", "data-part": "verifiers" },
      host,
    );
    el("caption", { text: ALL_VERIFIERS }, table);
    const names = ["verifier", "steps with no guess accepted", "tokens per step"];
    const body = headed(table, names);
    const how = makeFold(host, "How this is computed");
    this.note = el("p", { class: "sq-dim", "data-part": "outcomes" }, how);
    const about = el("p", { class: "sq-dim", "data-part": "limit" }, how);
    addTerm(about, LIMITS, LIMIT);
    about.append(LIMIT_WORDS);
    this.verifiers = VERIFIERS.map(({ key, label }) => {
      const row = el("tr", { "data-verifier": key }, body);
      const name = el("th", { scope: "row", text: label }, row);
      return { key, label, row, name, cells: [0, 1].map(() => limitedCell(row)) };
    });
  }

  // -- runs --------------------------------------------------------------------------------------

  /** @param {boolean} isShown */
  show(isShown) {
    show(this.root, isShown);
  }

  /** @param {Toy} toy */
  take(toy) {
    this.toy = toy;
    this.exact = new Map();
    this.limits = new Map(VERIFIERS.map(({ key }) => [key, limitsOf({ ...toy, verifier: key })]));
    this.startOver();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.compute([toy.verifier, ...VERIFIERS.map(({ key }) => key)]),
      REST_MS,
    );
  }

  /** @type {(keys: string[]) => void} computes the exact figures of one verifier after another */
  compute([...keys]) {
    const verifier = keys.shift();
    if (verifier === undefined) return;
    if (this.exact.has(verifier)) return this.compute(keys);
    const parts = exactly({ ...this.toy, verifier });
    this.goOn(parts, (found) => {
      this.exact.set(verifier, found);
      this.paint();
      this.compute(keys);
    });
  }

  // Compute parts for SLICE_MS, then let the page do other things.
  /** @type {(parts: ReturnType<typeof exactly>, then: (found: Exact | null) => void) => void} */
  goOn(parts, then) {
    const until = performance.now() + SLICE_MS;
    let part = parts.next();
    while (!part.done && performance.now() < until) part = parts.next();
    if (part.done) then(part.value);
    else this.#timer = setTimeout(() => this.goOn(parts, then), 0);
  }

  startOver() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.tally = new Tally(this.toy, seeded(Math.floor(Math.random() * 2 ** 32)));
    this.wanted = 0;
    this.paint();
  }

  runMore() {
    this.wanted += RUNS;
    if (prefersStillness()) this.tally.run(RUNS);
    if (!this.#frame) this.next();
  }

  next() {
    const { tally } = this;
    tally.run(Math.min(A_FRAME, this.wanted - tally.runs));
    const isOver = tally.runs >= this.wanted;
    this.#frame = isOver ? 0 : requestAnimationFrame(() => this.next());
    this.paint();
  }

  // -- paint -------------------------------------------------------------------------------------

  paint() {
    const { tally, toy } = this;
    const { runs } = tally;
    text(this.go, runs ? "10,000 more" : "Run it 10,000 times");
    this.anew.disabled = runs === 0;
    show(this.badge, runs > 0);
    text(this.count, runs ? `${grouped(runs)} steps` : "");
    const exact = this.exact.get(toy.verifier);
    this.paintBars(toy.p, exact);
    text(this.note, exact ? outcomeWords(exact) : "");
    this.paintFacts(toy.p, exact);
    const { children } = treeOf({ ...toy, verifier: "traversal" });
    const isChain = children.every(({ length }) => length <= 1);
    for (const { key, label, row, name, cells } of this.verifiers) {
      row.classList.toggle("is-chosen", key === toy.verifier);
      text(name, key === "traversal" && isChain ? `${label} (block verification)` : label);
      this.paintVerifier(this.exact.get(key), this.limits.get(key), cells);
    }
  }

  paintBars(p, exact) {
    const { first, runs } = this.tally;
    const most = Math.max(...p, ...(runs ? first.map((one) => one / runs) : []));
    this.rows.forEach(({ row, p: bar, found, cells }, i) => {
      show(row, i < p.length);
      if (i >= p.length) return;
      const share = runs ? first[i] / runs : 0;
      bar.style.width = (100 * p[i]) / most + "%";
      found.style.width = (100 * share) / most + "%";
      text(cells[0], percent(p[i], 1));
      text(cells[1], runs ? percent(share, 1) : "–");
      text(cells[2], exact ? percent(exact.first[i], 1) : "–");
    });
  }

  paintFacts(p, exact) {
    const { tally, facts } = this;
    const { runs } = tally;
    /** @type {(cells: HTMLElement[], counts: number[], to: number[], from?: number[]) => void} */
    const distance = ([measured, floor, computed], counts, to, from) => {
      text(measured, runs ? prob(totalVariation(counts, to)) : "–");
      text(floor, runs ? floorWords(to, runs) : "–");
      text(computed, distanceWords(exact, from, to));
    };
    distance(facts.first, tally.first, p, exact?.first);
    distance(facts.pairs, tally.pairs, squared(p), exact?.pairs);
    const [measured, floor, computed] = facts.tokens;
    text(measured, runs ? rate(tally.tokens / runs) : "–");
    text(floor, "");
    text(computed, exact ? rate(exact.tokens) : notYet(exact));
  }

  /** @type {(exact: Exact | null | undefined, limits: Limits, cells: LimitedCell[]) => void} */
  paintVerifier(exact, limits, [none, tokens]) {
    const accepted = exact?.byRank.reduce((one, other) => one + other, 0);
    text(none.value, exact ? share(1 - accepted) : notYet(exact));
    text(none.limit, `lower limit ${share(limits.none)}`);
    text(tokens.value, exact ? rate(exact.tokens) : "–");
    const isPast = Boolean(exact && passes(exact.tokens, limits));
    text(tokens.limit, `upper limit ${rate(limits.tokens)}${isPast ? ", exceeded" : ""}`);
    tokens.limit.classList.toggle("is-past", isPast);
  }
}

/** @typedef {{value: HTMLElement, limit: HTMLElement}} LimitedCell */

/** @type {(row: HTMLElement) => LimitedCell} */
function limitedCell(row) {
  const cell = el("td", {}, row);
  return { value: el("span", {}, cell), limit: el("span", { class: "wk-limit sq-dim" }, cell) };
}

const share = (value) => percent(Math.abs(value) < ROUNDING ? 0 : value, 1);

// What a cell shows if `exact` is undefined (not computed yet) or null (too many outcomes).
const notYet = (exact) => (exact === null ? TOO_MANY : "–");

const outcomeWords = ({ outcomes }) =>
  `Exact: all outcomes of the random draws (${grouped(outcomes)} for the chosen verifier), ` +
  "each weighted by its probability.";

const floorWords = (p, runs) => {
  const digits = (value) => value.toFixed(4);
  return `${digits(noiseFloor(p, runs))} ± ${digits(2 * noiseSpread(p, runs))}`;
};

function distanceWords(exact, from, to) {
  if (!exact) return notYet(exact);
  const distance = totalVariation(from, to);
  return distance < ROUNDING ? "0" : prob(distance);
}

/* The Lossless tab: counts of samples beside the target's exact distribution, the verdict, and the
   bugs that the test would find. Until the first test has counts, the tab shows recorded
   tests. */
import { CellTable } from "./cell_table.js";
import { recordedTests } from "./recorded_tests.js";
import { fillTile, makeBanner, makePanel, makeTiles, progressBar } from "../../shared/web/panel.js";
import { connectComponent } from "../../shared/web/connect_component.js";
import { button, el, show, text } from "../../shared/web/dom.js";
import { canStop, formBeside } from "../../shared/web/form_buttons.js";
import { count, grouped, known, percent, short, shortP } from "../../shared/web/format.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { rove } from "../../shared/web/roving_focus.js";
import { headed } from "../../shared/web/tooltips.js";

/**
 * The messages are made in ui/lossless/messages.py.
 * @typedef {{share?: number | null, words?: string, error?: string | null, notice?: string,
 *   bug?: Bug | null, test?: Test}} Message
 *
 * @typedef {{key: string, label: string, about: string, shows: string, hides: string}} Bug
 *
 * @typedef {object} Test
 * @property {string} decoder "correct", or the name of the broken decoder
 * @property {string | null} broken key of the bug; null for the correct decoder
 * @property {boolean} going whether more samples are being drawn
 * @property {number} draws samples so far
 * @property {number} wanted samples planned
 * @property {Row[]} rows
 * @property {number} count number of all rows; `rows` may have fewer while samples are drawn
 * @property {number | null} statistic chi-square
 * @property {number} freedom its degrees of freedom
 * @property {number | null} p_value
 * @property {number} distance total variation
 * @property {number} floor mean of the total variation for a correct decoder
 * @property {"open" | "fits" | "differs"} kind of the verdict; "open" if there is none (yet)
 * @property {string} verdict
 * @property {Finds[]} finds
 *
 * Which other samples a row counts; see `_name` in ui/lossless/messages.py.
 * @typedef {"" | "other" | "rare" | "more" | "other more" | "impossible"} Rest
 * @typedef {{tokens: string[], rest: Rest, share: number, seen: number}} Row
 * @typedef {{key: string, label: string, distance: number | null, power: number | null,
 *   hides: string}} Finds
 */

const SCOPE =
  "Unless a bug is chosen under Decoder, drafted tokens are drawn and verified as in real runs. " +
  "With a toy, p and q are as typed. With the pair, they come from a plain forward pass over the " +
  "whole text, without a tree or a KV cache, with the target in float32. So this test does not " +
  "cover the forward pass over a tree or the KV cache. The self-test at load and the check after " +
  "a race cover both.";

class LosslessView {
  /**
   * @param {HTMLElement} root
   * @param {(bug: string) => void} fill fills the form with a setting in which the bug shows
   */
  constructor(root, fill) {
    this.root = root;
    root.classList.add("ls-stage");
    root.replaceChildren();
    const frame = el("div", { class: "sq-frame" }, root);
    this.progress = progressBar(frame, "Sampling");
    this.say = makeBanner(frame);
    const intro = el("div", { class: "ls-intro", "data-part": "intro" }, frame);
    el("p", { class: "ls-say", text: WHY }, intro);
    /** @type {HTMLElement[]} */
    this.opening = [intro];
    makeActs(frame, fill);
    this.bug = new BugPanel(frame);
    this.opening.push((this.recorded = recordedTests(frame)));
    this.verdict = new VerdictPanel(frame);
    const columns = el("div", { class: "ls-columns" }, frame);
    this.cells = new CellTable(columns);
    this.finds = new FindsPanel(columns);
    this.scope = el("p", { class: "ls-say ls-dim", text: SCOPE, hidden: "" }, frame);
  }

  /** @param {Message} message */
  take({ share, words, error, notice, bug, test }) {
    this.progress(share);
    const told = notice || (typeof share === "number" && !test ? words : "");
    this.say(error || told || "", Boolean(error));
    if (bug !== undefined) {
      this.bug.show(bug);
      show(this.verdict.earlier, !test);
      show(this.recorded, !bug && !this.hasTest); // they may be of another bug
    }
    if (test) this.showTest(test);
    this.root.dataset.going = String(typeof share === "number");
  }

  // The visitor changed a field. A test that has ended is an earlier one from now on.
  formChanged() {
    if (this.root.dataset.going !== "true") show(this.verdict.earlier, true);
  }

  /** @param {Test} test */
  showTest(test) {
    this.hasTest = true;
    for (const part of this.opening) show(part, false);
    show(this.scope, true);
    this.verdict.show(test);
    this.cells.show(test);
    this.finds.show(test);
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
  const root = element.querySelector(".sq-stage");
  const job = watchJob({ isBusy: () => canStop("ls"), ask: (asked) => trigger("ask", asked) });
  const taken = ({ share }) => job.take(typeof share === "number");
  const view = new LosslessView(root, (bug) => trigger("fill", { bug }));
  connectComponent(root, props, watch, view, { taken });
  document.getElementById("ls-side").addEventListener("input", () => view.formChanged());
}

const PARTS = [
  ["about", "What is wrong"],
  ["shows", "Where it shows"],
  ["hides", "Why it hides elsewhere"],
];

/** The panel that describes the bug; hidden for the correct decoder. */
class BugPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "bug", title: "Broken on purpose", cls: "ls-bug" };
    this.panel = makePanel(host, about);
    this.name = el("span", { class: "sq-word" }, this.panel.titleBox);
    const list = el("dl", {}, this.panel.body);
    this.parts = Object.fromEntries(PARTS.map(([key, title]) => [key, described(list, title)]));
    show(this.panel.root, false);
  }

  /** @param {Bug | null} bug */
  show(bug) {
    show(this.panel.root, Boolean(bug));
    if (!bug) return;
    text(this.name, bug.label);
    for (const [key] of PARTS) text(this.parts[key], bug[key]);
  }
}

function described(list, title) {
  el("dt", { text: title }, list);
  return el("dd", {}, list);
}

const WHY =
  "Speculative decoding should change the speed of the large model and nothing else: every text " +
  "must be exactly as likely as from the large model alone. A bug in the random draws " +
  "can break this, and no single text would reveal the bug. So this test counts thousands of " +
  "short texts and compares the counts with the exact probabilities.";
const OR = "or first break the decoder:";
// Bugs that a test with a toy model can reveal, with their names in the form's menu.
const EXAMPLES = [
  ["draft-noise", "draft: random numbers reused"],
  ["walk-u", "verifier: random numbers reused"],
  ["last-token", "last token ignores rejections"],
];

/**
 * @param {HTMLElement} host
 * @param {(bug: string) => void} fill fills the form with a setting in which the bug shows
 */
function makeActs(host, fill) {
  const acts = el("div", { class: "ls-acts" }, host);
  button(acts, { text: "Run the test", part: "run", act: () => formBeside("ls").run() });
  el("span", { text: OR }, acts);
  for (const [bug, label] of EXAMPLES)
    button(acts, {
      text: label,
      hint: "Fills in the form; then press “Run the test”",
      part: "example-" + bug,
      act: () => fill(bug),
    });
}

const TILES = [
  ["draws", "Samples", "lossless samples"],
  ["square", "Chi-square", "chi-square"],
  ["p", "p-value", "lossless p-value"],
  ["distance", "Total variation", "total variation"],
];

/** The panel above the table of outcomes (cell_table.js). */
class VerdictPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "verdict", title: "Is the output lossless?", cls: "ls-verdict" };
    this.panel = makePanel(host, about);
    const badge = { class: "sq-badge", "data-label": "measured", text: "measured" };
    el("span", badge, this.panel.tools);
    this.decoder = el("span", { class: "ls-decoder", "data-part": "decoder" }, this.panel.titleBox);
    const earlier = "An earlier test: the form has changed since.";
    this.earlier = el("p", { text: earlier, "data-part": "earlier", hidden: "" }, this.panel.body);
    this.words = el("p", { class: "ls-words", role: "status" }, this.panel.body);
    const tiles = el("div", { class: "ls-tiles" }, this.panel.body);
    this.tiles = makeTiles(tiles, TILES, () => ({ class: "ls-tile" }));
    show(this.panel.root, false);
  }

  /** @param {Test} test */
  show(test) {
    show(this.panel.root, true);
    this.panel.root.dataset.kind = test.kind;
    text(this.decoder, test.broken ? test.decoder : "");
    text(this.words, test.verdict);
    const { draws, square, p, distance } = this.tiles;
    put(draws, test.draws.toLocaleString("en-US"), `of ${test.wanted.toLocaleString("en-US")}`);
    put(square, squareText(test.statistic), `${count(test.freedom, "degree")} of freedom`);
    put(p, shortP(test.p_value), test.going ? "so far" : "not lossless if below 0.000001");
    put(distance, percent(test.distance, 1), `${percent(test.floor, 1)} on average by chance`);
  }
}

const put = (tile, value, note) => fillTile(tile, value, "", note);

const squareText = (statistic) =>
  typeof statistic === "number" && statistic > 1e9 ? "∞" : short(statistic);

const NEAR_ONE = 0.999999;
const SHOWS = 0.5; // a bug with a smaller probability of being found is called hidden
const NO_BIAS = 1e-9; // a smaller bias is rounding

/** The panel beside the table of cells. */
export class FindsPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const title = "What this test would find";
    const about = { part: "finds", title, cls: "ls-finds", term: "power of a test" };
    this.panel = makePanel(host, about);
    const badge = { class: "sq-badge", "data-label": "predicted", text: "predicted" };
    el("span", badge, this.panel.tools);
    this.table = el("table", { class: "sq-table" }, this.panel.body);
    rove(this.table);
    show(this.panel.root, false);
  }

  /** @param {Test} test */
  show(test) {
    const { finds } = test;
    show(this.panel.root, finds.length > 0);
    this.table.replaceChildren();
    const body = headed(this.table, ["bug", ["bias", "bias of a bug"], foundBy(test)]);
    for (const one of finds) paintRow(body, one);
  }
}

// The heading of the last column. Its probabilities are for the planned number of samples. Once the
// test has ended, they are for the number of samples drawn, if there were any.
function foundBy({ going, draws, wanted }) {
  const samples = going || !draws ? wanted : draws;
  return `found with probability (${grouped(samples)} samples)`;
}

/**
 * @param {HTMLElement} body
 * @param {Finds} one
 */
function paintRow(body, one) {
  const line = el("tr", {}, body);
  el("th", { scope: "row", text: one.label }, line);
  el("td", { text: biasText(one.distance) }, line);
  const found = el("td", { text: powerText(one) }, line);
  if (known(one.power) && one.power < SHOWS) el("p", { class: "ls-dim", text: one.hides }, found);
}

function biasText(distance) {
  if (!known(distance)) return "–";
  return distance < NO_BIAS ? "none here" : percent(distance, 1);
}

function powerText({ power, distance }) {
  if (!known(power)) return "not computed for this setting";
  if (distance < NO_BIAS) return "never: no bias here";
  if (power > NEAR_ONE) return "above 0.999999";
  if (power < SHOWS) return `hidden here (${power.toPrecision(2)})`;
  return power.toPrecision(6);
}

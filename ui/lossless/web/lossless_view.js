/* The Lossless tab: its buttons, the bug of the decoder, and the verdict of a test. The server
   writes the tables below, which are of recorded tests until the first test has counts. */
import { fillTile, makeBanner, makePanel, makeTiles, progressBar } from "../../shared/web/panel.js";
import { connectComponent } from "../../shared/web/connect_component.js";
import { button, el, show, text } from "../../shared/web/dom.js";
import { canStop, formBeside } from "../../shared/web/form_buttons.js";
import { count, percent, short, shortP } from "../../shared/web/format.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { showHtml } from "../../shared/web/html_host.js";

/**
 * The messages are made in ui/lossless/messages.py.
 * @typedef {{share?: number | null, words?: string, error?: string | null, notice?: string,
 *   bug?: Bug | null, test?: Test, tables?: string}} Message
 *
 * @typedef {{key: string, label: string, about: string, shows: string, hides: string}} Bug
 *
 * @typedef {object} Test
 * @property {string} decoder "correct", or the name of the broken decoder
 * @property {string | null} broken key of the bug; null for the correct decoder
 * @property {boolean} going whether more samples are being drawn
 * @property {number} draws samples so far
 * @property {number} wanted samples planned
 * @property {number | null} statistic chi-square
 * @property {number} freedom its degrees of freedom
 * @property {number | null} p_value
 * @property {number} distance total variation
 * @property {number} floor mean of the total variation for a correct decoder
 * @property {"open" | "fits" | "differs"} kind of the verdict; "open" if there is none (yet)
 * @property {string} verdict
 */

const TABLES = "ls-tables-view"; // the component below this one

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
    this.intro = intro;
    /** @type {HTMLElement} */
    this.recorded = root.parentElement.querySelector("[data-part=recorded]");
    makeActs(frame, fill);
    this.bug = new BugPanel(frame);
    this.verdict = new VerdictPanel(frame);
  }

  /** @param {Message} message */
  take({ share, words, error, notice, bug, test, tables }) {
    this.progress(share);
    const told = notice || (typeof share === "number" && !test ? words : "");
    this.say(error || told || "", Boolean(error));
    if (bug !== undefined) {
      this.bug.show(bug);
      show(this.verdict.earlier, !test);
      show(this.recorded, !bug && !this.hasTest); // they may be of another bug
    }
    if (test) this.showTest(test, tables);
    this.root.dataset.going = String(typeof share === "number");
  }

  // The visitor changed a field. A test that has ended is an earlier one from now on.
  formChanged() {
    if (this.root.dataset.going !== "true") show(this.verdict.earlier, true);
  }

  /**
   * @param {Test} test
   * @param {string} tables HTML
   */
  showTest(test, tables) {
    this.hasTest = true;
    for (const part of [this.intro, this.recorded]) show(part, false);
    this.verdict.show(test);
    showHtml(TABLES, tables);
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

/** The panel above the tables. */
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

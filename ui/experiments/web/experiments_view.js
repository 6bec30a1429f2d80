/* The Experiments tab: the list of experiments, and the finding, plots and tables of the chosen
   experiment. */
import { ExperimentsState } from "./experiments_state.js";
import { FigureView } from "./figure_view.js";
import { divided, doneWords, facts } from "./result_rows.js";
import { ResultTables } from "./result_tables.js";
import { makeBanner, makePanel, progressBar } from "../../shared/web/panel.js";
import { attr, button, el, segments, show, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";
import { linkChanged } from "../../shared/web/page_link.js";
import { rove } from "../../shared/web/roving_focus.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @import { Listed, Message, Recorded, Result, Side } from "./experiments_state.js" */

/**
 * The requests that the view sends to the server.
 * @typedef {object} Asks
 * @property {(name: string) => Promise<Recorded>} recorded
 * @property {(name: string, isAgain: boolean) => void} run `isAgain`: whether to delete the
 *   finished parts first
 * @property {() => void} halt
 */

/** The whole view. */
export class ExperimentsView {
  state = new ExperimentsState();

  /**
   * @param {HTMLElement} root
   * @param {Asks} asks
   */
  constructor(root, asks) {
    this.asks = asks;
    root.replaceChildren();
    const page = el("div", { class: "xp-page" }, root);
    this.list = new ExperimentList(page, (name) => this.choose(name));
    this.main = el("div", { class: "xp-main", hidden: "" }, page);
    this.head = new ResultHead(this.main, (side) => this.turn(side));
    const acts = { run: () => this.run(), halt: () => asks.halt() };
    this.controls = new RunControls(this.head.controls, acts);
    this.figure = new FigureView(this.main);
    this.tables = new ResultTables(this.main);
    this.command = new CommandPanel(this.main);
  }

  /** @param {Message} message */
  take(message) {
    const before = this.state.chosen;
    this.state.take(message);
    if (this.state.chosen !== before) this.load(this.state.chosen);
    this.paint();
  }

  /** @param {string} name */
  choose(name) {
    this.state.choose(name);
    this.load(name);
    this.paint();
    linkChanged("experiments");
  }

  /** @returns {Record<string, string>} for page_link.js */
  read() {
    return { name: this.state.chosen };
  }

  /** @param {Record<string, any>} values an unknown name is ignored */
  apply({ name }) {
    const { list } = this.state;
    if (!list.length || list.some((one) => one.name === name)) this.choose(name);
  }

  /** @type {import("../../shared/web/page_link.js").LinkedView["say"]} */
  say(words, isError) {
    this.controls.say(words, isError);
  }

  /** @param {Side} side */
  turn(side) {
    this.state.side.set(this.state.chosen, side);
    this.paint();
  }

  run() {
    if (this.state.going) return;
    const isAgain = this.state.action === "Run again";
    this.state.start();
    this.asks.run(this.state.chosen, isAgain);
    this.paint();
  }

  /** @param {string} name */
  async load(name) {
    if (this.state.recorded.has(name)) return;
    try {
      this.state.recorded.set(name, await this.asks.recorded(name));
    } catch (problem) {
      console.debug(problem);
      this.state.notFetched(name);
    }
    this.paint();
  }

  paint() {
    const { state } = this;
    show(this.main, Boolean(state.experiment));
    this.list.paint(state);
    this.head.paint(state);
    this.controls.paint(state);
    this.figure.show(state.result, state.experiment?.note);
    this.tables.show(state.result, state.experiment?.table);
    this.command.show(state.experiment);
  }
}

/** The panel below the results. */
class CommandPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "command", title: "Run it from a terminal", cls: "xp-command" };
    const { body } = makePanel(host, about);
    this.small = commandLine(
      body,
      "This runs the same small version as the Run button, but always with the bundled pair in float32:",
    );
    this.full = commandLine(
      body,
      "This runs the full experiment and replaces the recorded result:",
    );
  }

  /** @param {Listed | undefined} experiment */
  show(experiment) {
    text(this.small, experiment?.command ?? "");
    text(this.full, experiment?.full ?? "");
  }
}

function commandLine(host, words) {
  const row = el("p", {}, host);
  el("span", { class: "xp-dim", text: words + " " }, row);
  return el("code", {}, row);
}

/** The list. It is a single tab stop; arrow keys move inside it. */
class ExperimentList {
  /** @type {Listed[] | null} */
  painted = null;
  /** @type {Map<string, HTMLButtonElement>} */
  buttons = new Map();

  /**
   * @param {HTMLElement} host
   * @param {(name: string) => void} choose
   */
  constructor(host, choose) {
    this.choose = choose;
    const about = { class: "xp-list", "data-part": "list", "aria-label": "Experiments" };
    this.root = el("nav", about, host);
    rove(this.root);
  }

  /** @param {ExperimentsState} state */
  paint(state) {
    if (this.painted !== state.list) this.build(state.list);
    for (const [name, one] of this.buttons) {
      attr(one, "aria-current", name === state.chosen && "true");
      attr(one, "data-running", state.going && state.run.name === name && "");
    }
  }

  /** @param {Listed[]} list */
  build(list) {
    this.painted = list;
    this.buttons.clear();
    this.root.replaceChildren();
    for (const { name, title, question } of list) {
      const look = { type: "button", class: "xp-entry", "data-name": name };
      const one = el("button", look, this.root);
      el("b", { text: title }, one);
      el("span", { text: question }, one);
      one.addEventListener("click", () => this.choose(name));
      this.buttons.set(name, one);
    }
  }
}

/** The controls of the chosen experiment. Stop ends the run in progress, even if it is a run of
 * another experiment. */
export class RunControls {
  /**
   * @param {HTMLElement} host
   * @param {{run: () => void, halt: () => void}} acts
   */
  constructor(host, { run, halt }) {
    this.root = el("div", { class: "xp-run" }, host);
    const line = el("div", { class: "xp-line" }, this.root);
    this.run = button(line, {
      text: "Run",
      cls: "xp-go",
      hint: TOOLTIPS["button run experiment"],
      part: "run",
      act: run,
    });
    this.stop = button(line, {
      text: "Stop",
      hint: TOOLTIPS["button stop experiment"],
      part: "stop",
      act: halt,
    });
    this.words = el("span", { class: "xp-dim", role: "status", "data-part": "progress" }, line);
    this.bar = progressBar(this.root, "Parts done");
    this.say = makeBanner(this.root);
  }

  /** @param {ExperimentsState} state */
  paint(state) {
    const { run, going, experiment } = state;
    text(this.run.querySelector("span"), state.action);
    this.run.disabled = going || !experiment;
    this.stop.disabled = !going;
    text(this.words, this.progressWords(state));
    this.bar(going ? (run.share ?? 0) : null);
    const { words, isError } = state.banner;
    this.say(words, isError);
  }

  /** @type {(state: ExperimentsState) => string} */
  progressWords({ run, going, experiment, chosen, list }) {
    if (!going)
      return experiment
        ? `A run from this page is a small version of this experiment with the loaded pair. It has ${count(experiment.units, "part")}, each with one prompt.`
        : "";
    const words = run.words ?? "";
    if (run.name === chosen) return words;
    const other = list.find(({ name }) => name === run.name)?.title ?? "Another experiment";
    return `“${other}” is running: ${words}`;
  }
}

/** @type {[Side, string][]} */
const SIDES = [
  ["recorded", "Recorded"],
  ["own", "Your run"],
];

/** The panel above the figure. `controls` is the element for the RunControls. */
class ResultHead {
  /** @type {string | null} the finding on the page; null before the first paint */
  painted = null;

  /**
   * @param {HTMLElement} host
   * @param {(side: Side) => void} turn called when the visitor chooses which result to show
   */
  constructor(host, turn) {
    this.panel = makePanel(host, { part: "head", title: "Experiment", cls: "xp-head" });
    this.title = this.panel.titleBox.querySelector("span");
    this.badge = el("span", { class: "sq-badge", "data-part": "source" }, this.panel.tools);
    this.makeSides(this.panel.tools, turn);
    const { body } = this.panel;
    this.question = el("p", { class: "xp-question", "data-part": "question" }, body);
    this.finding = el("p", { class: "xp-finding", "data-part": "finding" }, body);
    this.details = el("ul", { class: "xp-details", "data-part": "finding-details" }, body);
    this.partial = el("p", { class: "xp-partial", "data-part": "partial" }, body);
    this.missing = el("p", { class: "xp-dim", "data-part": "missing" }, body);
    this.controls = el("div", {}, body);
    this.facts = el("dl", { class: "sq-facts" }, this.panel.foot);
  }

  makeSides(host, turn) {
    this.sides = segments(host, "Result to show");
    this.sideButtons = SIDES.map(([side, label]) => {
      const act = () => turn(side);
      return { side, node: button(this.sides, { text: label, part: "side-" + side, act }) };
    });
    rove(this.sides);
  }

  /** @param {ExperimentsState} state */
  paint(state) {
    const { experiment, result } = state;
    text(this.title, experiment?.title ?? "Experiment");
    text(this.question, experiment?.question ?? "");
    this.paintFinding(result?.finding ?? "");
    this.paintPartial(result);
    text(this.missing, state.missing);
    show(this.missing, Boolean(state.missing));
    text(this.badge, result?.source ?? "");
    this.badge.dataset.label = result?.source ?? "";
    show(this.badge, Boolean(result));
    const isOwn = result !== undefined && result === state.own.get(state.chosen);
    show(this.sides, state.hasBoth);
    for (const { side, node } of this.sideButtons)
      attr(node, "aria-pressed", (side === "own") === isOwn ? "true" : "false");
    this.paintFacts(result, state.profiles);
  }

  /** @param {string} finding */
  paintFinding(finding) {
    if (finding === this.painted) return;
    this.painted = finding;
    const [answer, details] = divided(finding);
    text(this.finding, answer);
    show(this.finding, Boolean(answer));
    this.details.replaceChildren();
    for (const detail of details) el("li", { text: detail }, this.details);
    show(this.details, details.length > 0);
  }

  /** @param {Result | undefined} result */
  paintPartial(result) {
    const isPartial = result !== undefined && result.done < result.total;
    text(this.partial, isPartial ? `Partial result: ${doneWords(result)}.` : "");
    show(this.partial, isPartial);
  }

  /**
   * @param {Result | undefined} result
   * @param {Record<string, string>} profiles
   */
  paintFacts(result, profiles) {
    this.facts.replaceChildren();
    show(this.facts, Boolean(result));
    for (const [name, value] of result ? facts(result, profiles) : []) {
      el("dt", { text: name }, this.facts);
      el("dd", { text: value }, this.facts);
    }
  }
}

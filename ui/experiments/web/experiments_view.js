/* The Experiments tab. The server writes the list, the head and the tables; this module fills in
   what the chosen experiment has, and draws its plots. */
import { ExperimentsState } from "./experiments_state.js";
import { followTheme } from "../../shared/web/chart.js";
import { attr, el, show, sized, tell, text } from "../../shared/web/dom.js";
import { figurePanel } from "../../shared/web/figure_panel.js";
import { count } from "../../shared/web/format.js";
import { methodStyles } from "../../shared/web/method_style.js";
import { linkChanged } from "../../shared/web/page_link.js";
import { makeBanner, progressBar } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { putHtml } from "../../shared/web/server_html.js";

/** @import { Message, Recorded, Result } from "./experiments_state.js" */

/**
 * What the view asks for.
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
    const parts = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-part]"));
    this.parts = Object.fromEntries([...parts].map((node) => [node.dataset.part, node]));
    this.entries = /** @type {HTMLElement[]} */ ([...this.parts.list.children]);
    this.state.names = this.entries.map(({ dataset }) => dataset.name);
    const sides = /** @type {HTMLElement[]} */ ([...this.parts.sides.children]);
    this.sides = sides.map((node) => /** @type {const} */ ([node.dataset.side, node]));
    this.bar = progressBar(this.parts.head, "Parts done");
    this.banner = makeBanner(this.parts.head);
    this.figure = new FigureView(root);
    rove(this.parts.list);
    rove(this.parts.sides);
    this.listen();
  }

  listen() {
    const { parts } = this;
    for (const entry of this.entries)
      entry.addEventListener("click", () => this.choose(entry.dataset.name));
    for (const [side, button] of this.sides)
      button.addEventListener("click", () => this.turn(side));
    parts.run.addEventListener("click", () => this.run());
    parts.stop.addEventListener("click", () => this.asks.halt());
  }

  /** @param {Message} message */
  take(message) {
    this.state.take(message);
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
    if (this.state.names.includes(name)) this.choose(name);
  }

  /** @type {import("../../shared/web/page_link.js").LinkedView["say"]} */
  say(words, isError) {
    this.banner(words, isError);
  }

  /** @param {string} side */
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
    const { state, parts } = this;
    const { result, run, going } = state;
    const chosen = this.entryOf(state.chosen);
    for (const one of this.entries) {
      attr(one, "aria-pressed", one === chosen ? "true" : "false");
      attr(one, "data-running", going && run.name === one.dataset.name && "");
    }
    tell(parts.question, chosen?.dataset.question);
    tell(parts.claims, chosen?.dataset.claims);
    tell(parts.finding, result?.finding);
    tell(parts.partial, result?.partial);
    tell(parts.missing, state.missing);
    tell(parts.source, result?.source);
    parts.source.dataset.label = result?.source ?? "";
    parts.details.replaceChildren();
    for (const detail of result?.details ?? []) el("li", { text: detail }, parts.details);
    show(parts.more, parts.details.childElementCount > 0);
    this.paintSides();
    this.paintRun(chosen);
    this.figure.show(result);
  }

  /** @type {(name: string) => HTMLElement | undefined} */
  entryOf(name) {
    return this.entries.find(({ dataset }) => dataset.name === name);
  }

  paintSides() {
    const { results, shown } = this.state;
    show(this.parts.sides, Object.keys(results).length > 1);
    for (const [side, button] of this.sides) {
      show(button, side in results);
      attr(button, "aria-pressed", side === shown ? "true" : "false");
    }
  }

  /** @param {HTMLElement | undefined} chosen */
  paintRun(chosen) {
    const { state, parts } = this;
    const { run, going } = state;
    text(parts.run.firstElementChild, state.action);
    /** @type {HTMLButtonElement} */ (parts.run).disabled = going || !chosen;
    /** @type {HTMLButtonElement} */ (parts.stop).disabled = !going;
    text(parts.progress, this.progressWords(chosen));
    this.bar(going ? (run.share ?? 0) : null);
    this.banner(state.banner.words, state.banner.isError);
  }

  /** @type {(chosen: HTMLElement | undefined) => string} */
  progressWords(chosen) {
    const { run, going } = this.state;
    if (!going) return chosen ? count(Number(chosen.dataset.units), "part") : "";
    const words = run.words ?? "";
    if (run.name === this.state.chosen) return words;
    const other = this.entryOf(run.name)?.textContent ?? "Another experiment";
    return `“${other}” is running: ${words}`;
  }
}

const ONE_COLUMN = 560; // px; a narrower page has one column of plots
const TWO_COLUMNS = 900;

/** The plots and tables of the shown result. The plots are drawn again when their width or the
 * theme changes. */
class FigureView {
  /** @type {Result | undefined} */
  result;
  drawn = -1; // number of the layout

  /** @param {HTMLElement} host */
  constructor(host) {
    const caption = () => this.result?.caption ?? [];
    const name = () => this.result?.name ?? "figure";
    const about = { part: "figure", title: "Plots", cls: "xp-figure" };
    const { panel, chart } = figurePanel(host, about, { caption, name });
    this.root = panel.root;
    this.chart = chart;
    this.size = sized(panel.body, () => this.draw());
    this.tables = el("div", { "data-part": "tables" }, host);
    followTheme([chart]);
  }

  /** @param {Result | undefined} result */
  show(result) {
    if (result === this.result) return;
    this.result = result;
    this.drawn = -1;
    show(this.root, Boolean(result?.figure.data.length));
    putHtml(this.tables, result?.tables ?? "");
    this.draw();
  }

  draw() {
    const { w } = this.size;
    if (!this.result?.figure.data.length || !w) return;
    const columns = w < ONE_COLUMN ? 0 : w < TWO_COLUMNS ? 1 : 2;
    if (columns === this.drawn) return;
    this.drawn = columns;
    const { data, layouts } = this.result.figure;
    this.chart.node.style.height = layouts[columns].height + "px";
    this.chart.show({ data: styled(data), layout: layouts[columns] });
  }
}

/**
 * The traces in the styles of their methods. Traces of the same name look the same in all plots.
 * @param {any[]} data
 * @returns {any[]}
 */
export function styled(data) {
  const methods = new Map(data.map(({ name, meta }) => [name, meta]));
  const styles = methodStyles([...methods.values()]);
  const looks = new Map([...methods.keys()].map((name, i) => [name, styles[i]]));
  return data.map((trace) => {
    const { colour: color, dash, symbol } = looks.get(trace.name);
    return {
      ...trace,
      line: { color, dash, width: 2 },
      marker: { color, symbol, size: 7 },
      error_y: { ...trace.error_y, color },
    };
  });
}

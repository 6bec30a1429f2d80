/* The Experiments tab: the list of experiments, and the finding, plots and tables of the chosen
   experiment. */
import { el, show } from "../../shared/web/dom.js";
import { CommandPanel } from "./command_panel.js";
import { ExperimentList } from "./experiment_list.js";
import { ExperimentsState } from "./experiments_state.js";
import { FigureView } from "./figure_view.js";
import { ResultHead } from "./result_head.js";
import { ResultTables } from "./result_tables.js";
import { RunControls } from "./run_controls.js";

/** @import { Message, Recorded, Side } from "./experiments_state.js" */

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

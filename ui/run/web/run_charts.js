/* The charts: tokens and speed-up so far over decode time. They are drawn alternately, each at most
   four times a second. */
import { laneStyles } from "./lane_style.js";
import { baseOf, goalOf, speedRatio } from "./lane_places.js";
import { followTheme } from "../../shared/web/chart.js";
import { button, el, show, text } from "../../shared/web/dom.js";
import { figurePanel } from "../../shared/web/figure_panel.js";
import { plotlyText } from "../../shared/web/format.js";
import { factLines, runFacts } from "../../shared/web/run_facts.js";
import { isHypothetical } from "../../shared/web/run_words.js";
import { csv, saveText } from "../../shared/web/save_file.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {import("../../shared/web/chart.js").Chart} Chart */
/** @typedef {import("./lane_run.js").LaneRun} LaneRun */
/** @typedef {import("./lane_style.js").LaneStyle} LaneStyle */
/** @typedef {import("./run_store.js").RunStore} RunStore */
/**
 * A chart in its panel. `make` returns what to draw. `why`: the paragraph that is shown while there
 * is no chart. `none`: its text if there is still no chart when the run has ended. `shows`: the
 * state that the chart shows, as a key. `at`: when it was drawn last, in milliseconds.
 * @typedef {{data: any[], layout: any}} Drawing the arguments for Plotly
 * @typedef {{panel: any, word: HTMLElement, chart: Chart, make: () => Drawing | null,
 *   why: HTMLElement, none: string, shows: string, at: number}} Figure
 */

const WAITING = "The chart appears after the first steps.";
const NO_STEP = "No chart: no lane made a step.";
const NO_SPEEDUP = "No speed-up: fewer than two lanes on the same prompt made a step.";
const PAUSE = 125; // ms between two drawings, at least
const MARKERS = 9; // at most, on one line

// Plotly's automatic margins would cost a second layout at each drawing. The legend is in the
// upper margin; if that is too small, Plotly may move the legend down onto the curves.
const MARGIN = { l: 52, r: 18, b: 42 };
const ROW = 19; // px, height of a row of the legend
const ABOVE = 26; // px, the space above and below the legend
const axis = (label, range) => ({ title: { text: label }, automargin: false, range });

/** The two chart panels. */
export class RunCharts {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    this.waiting = 0;
    this.at = -PAUSE;
    this.version = 0; // of the run that the charts show
    this.root = el("div", { class: "run-charts" }, host);
    this.tokens = this.figure("tokens-over-time", "Tokens over time", NO_STEP, () =>
      this.tokenFigure(),
    );
    this.speedup = this.figure("speedup-so-far", "Speed-up so far", NO_SPEEDUP, () =>
      this.ratioFigure(),
    );
    this.figures = [this.tokens, this.speedup];
    addTerm(this.tokens.panel.titleBox, "decode time", "clock", "sq-word sq-dim");
    const note = { class: "run-note sq-dim", "data-part": "ratio-words" };
    this.words = el("p", note, this.speedup.panel.foot);
    const hint = TOOLTIPS["button save a run as csv"];
    button(this.tokens.panel.tools, { text: "CSV", hint, act: () => this.saveCsv() });
    followTheme([{ draw: () => this.drawAgain() }]);
  }

  /**
   * @param {string} part
   * @param {string} title
   * @param {string} none why there is no chart when the run has ended
   * @param {() => Drawing | null} make
   * @returns {Figure}
   */
  figure(part, title, none, make) {
    const caption = () => {
      const { meta } = this.store;
      const shown = (isHypothetical(meta) ? "hypothetical, " : "") + word.textContent;
      return [title + ": " + shown, ...factLines(meta, runFacts(meta))];
    };
    const about = { part, title, cls: "run-figure" };
    const { panel, word, chart } = figurePanel(this.root, about, { caption });
    const why = el("p", { class: "run-note run-waiting sq-dim", text: WAITING }, panel.body);
    panel.root.dataset.empty = "yes";
    return { panel, word, chart, make, why, none, shows: "", at: 0 };
  }

  paint() {
    const { lanes, word, version } = this.store;
    if (this.version !== version) this.clear();
    this.version = version;
    const base = lanes[baseOf(this.store, 0)];
    const over = base ? overWhat(base) : "";
    show(this.speedup.panel.root, lanes.length > 1);
    text(this.tokens.word, word);
    text(this.speedup.word, [word, over].filter(Boolean).join(", "));
    text(
      this.words,
      "Each line is a lane’s pace (tokens per second) up to its last step, divided by that " +
        "of the " +
        "lane it is compared with. It is of this run alone; the verdict has the interval.",
    );
    this.drawSoon();
  }

  /** Hide the charts, which show the previous run. */
  clear() {
    this.at = -PAUSE;
    for (const figure of this.figures) {
      figure.shows = "";
      figure.panel.root.dataset.empty = "yes";
      delete figure.chart.node.dataset.drawn; // there is nothing to save
      text(figure.why, WAITING);
    }
  }

  /** A key for the state that the charts should show. */
  get state() {
    const { version, time, arrived, done } = this.store;
    const { w } = this.tokens.chart.size; // on which the room for the legend depends
    return [version, time, arrived.length, done, w].join();
  }

  /** Of the charts that do not show the newest state, the one drawn least recently, if any. */
  get stale() {
    const old = this.figures.filter(({ shows }) => shows !== this.state);
    return old.sort((a, b) => a.at - b.at)[0];
  }

  /** Draw both charts again, because the colour theme may have changed. */
  drawAgain() {
    for (const figure of this.figures) figure.shows = "";
    this.drawSoon();
  }

  drawSoon() {
    if (this.waiting || !this.stale) return;
    const left = Math.max(PAUSE - (performance.now() - this.at), 0);
    this.waiting = setTimeout(() => this.draw(), left);
  }

  draw() {
    const figure = this.stale;
    this.waiting = 0;
    if (!figure) return;
    this.at = performance.now();
    figure.at = this.at;
    figure.shows = this.state;
    const made = figure.make();
    if (made) {
      figure.chart.show(made);
      delete figure.panel.root.dataset.empty;
    } else text(figure.why, this.store.done ? figure.none : WAITING);
    this.drawSoon();
  }

  // Null before the first step.
  tokenFigure() {
    const { store } = this;
    const { lanes } = store;
    const goal = goalOf(store);
    if (!store.end) return null;
    const styles = laneStyles(lanes);
    const data = lanes.map((lane, i) => {
      const sums = lane.sums.slice(0, store.shown(lane) + 1);
      const tokens = sums.map((sum) => sum.tokens);
      return this.curve(i, styles[i], sums, tokens, "%{y} tokens at %{x:.3f} s");
    });
    return { data, layout: { ...this.layout("tokens", goal * 1.06), shapes: [finishLine(goal)] } };
  }

  // Null before there is a speed-up.
  ratioFigure() {
    const { store } = this;
    const { lanes } = store;
    const references = lanes.map((_, i) => baseOf(store, i));
    const isKnown = (lane, i) =>
      i !== references[i] && lane.seconds && lanes[references[i]]?.seconds;
    if (!lanes.some(isKnown)) return null;
    const styles = laneStyles(lanes);
    let top = 1.2;
    const curves = lanes.map((lane, i) => {
      const self = i === references[i];
      const other = lanes[references[i]] ?? lane;
      const sums = lane.sums.slice(1, store.shown(lane) + 1);
      const y = sums.map((sum) => (self ? 1 : speedRatio(lane, other, sum.seconds)));
      const known = y.map((value) => (Number.isFinite(value) ? value : null));
      top = Math.max(top, ...known);
      return this.curve(i, styles[i], sums, known, "%{y:.1f}× at %{x:.3f} s");
    });
    return { data: curves, layout: this.layout("speed-up (×)", top * 1.08) };
  }

  // While a run goes on, the x axis grows by half its length at a time, so that it seldom changes.
  // `top`: the end of the y axis.
  layout(label, top) {
    const { done, end } = this.store;
    const room = done ? end * 1.02 : 1.5 ** Math.ceil(Math.log(end) / Math.log(1.5));
    const xaxis = axis("decode time (s)", [0, room]);
    const names = this.store.lanes.map(({ title }) => title);
    const rows = legendRows(names, this.tokens.chart.size.w - MARGIN.l - MARGIN.r);
    const margin = { ...MARGIN, t: ABOVE + ROW * rows };
    return { showlegend: true, margin, xaxis, yaxis: axis(label, [0, top]) };
  }

  // A lane's line, with a few markers.
  curve(i, { colour, dash, symbol }, sums, y, hovertemplate) {
    return {
      type: "scatter",
      mode: "lines+markers",
      name: plotlyText(this.store.lanes[i].title),
      x: sums.map((sum) => sum.seconds),
      y,
      line: { color: colour, width: 2, dash },
      marker: { color: colour, symbol, size: 8, maxdisplayed: MARKERS },
      hovertemplate,
    };
  }

  saveCsv() {
    const rows = stepRows(this.store);
    const table = [Object.keys(rows[0] || {}), ...rows.map(Object.values)];
    saveText("sequoia-run.csv", csv(table), "text/csv");
  }
}

/**
 * What speed-ups are relative to, in words.
 * @param {LaneRun} base the lane that the first lane is compared with
 * @returns {string}
 */
function overWhat({ about, title }) {
  const { plain, prompt_name: on } = about;
  if (!on) return "over " + title;
  return plain
    ? "each over plain decoding of its own prompt"
    : "each over the slowest lane on its prompt";
}

/**
 * How many rows a legend has, at most. In several rows, all entries are as wide as the widest.
 * @param {string[]} names
 * @param {number} room its width in px
 * @returns {number}
 */
export function legendRows(names, room) {
  const widths = names.map((name) => 40 + 6.4 * name.length);
  if (widths.reduce((sum, wide) => sum + wide, 0) <= room) return 1;
  return Math.ceil(names.length / Math.max(1, Math.floor(room / Math.max(...widths))));
}

const GREY = "var(--sq-dim-fixed)";
const finishLine = (y) => ({
  type: "line",
  xref: "paper",
  x0: 0,
  x1: 1,
  y0: y,
  y1: y,
  line: { color: GREY, width: 1, dash: "dot" },
  label: {
    text: "finish line",
    textposition: "start",
    yanchor: "top",
    font: { color: GREY, size: 12 },
  },
});

/**
 * The CSV table of tokens over time: one row per step.
 * @param {RunStore} store
 * @returns {Record<string, string | number>[]}
 */
const stepRows = ({ lanes, word }) =>
  lanes.flatMap(({ sums, title }, i) =>
    sums.slice(1).map((sum, k) => ({
      lane: i,
      name: title,
      step: sum.steps,
      seconds: sum.seconds,
      tokens: sum.tokens,
      from_draft: sum.drafted,
      tree_nodes: sum.nodes - sums[k].nodes,
      draft_seconds: sum.draft - sums[k].draft,
      verify_seconds: sum.verify - sums[k].verify,
      overhead_seconds: sum.overhead - sums[k].overhead,
      label: word,
    })),
  );

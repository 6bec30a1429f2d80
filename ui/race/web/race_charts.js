/* The race as figures: tokens against lane time, and the speed-up with its range. In turns, each at most four times a second, and the newest state always. */
import { csv, saveText } from "../../shared/web/save_file.js";
import { makePanel } from "../../shared/web/panel.js";
import { laneName } from "./lane.js";
import { referenceLane, speedInterval, speedRatio } from "./lane_totals.js";
import { raceFacts } from "./race_header.js";
import { Chart } from "../../shared/web/chart.js";
import { button, el, text } from "../../shared/web/dom.js";
import { factLines } from "../../shared/web/run_facts.js";
import * as pictures from "../../shared/web/save_picture.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const PAUSE = 125; // ms between two drawings; one figure at a time, so that text in between does not wait for both
const LONGEST = 1000; // ms between two drawings where they are dear
const SHARE = 0.1; // of the time of a race that runs: drawing takes its cores from the models
const DASHES = ["solid", "7px,3px", "7px,3px,2px,3px", "4px,2px"];

const colour = (lane, i) => (lane.plain ? "var(--race-plain)" : `var(--race-${i + 1})`);
const line = (lane, i) => ({
  color: colour(lane, i),
  width: 2,
  dash: lane.plain ? "2px,2px" : DASHES[i % DASHES.length],
});
// Margins that fit by themselves would cost a second layout each time.
const seconds = { title: { text: "lane time, seconds" }, rangemode: "tozero", automargin: false };
const upright = (label) => ({ title: { text: label }, automargin: false });
const margin = { l: 52, r: 12, t: 30, b: 42 };

export class RaceCharts {
  constructor(store, host, plotly) {
    Object.assign(this, { store, plotly, waiting: 0, at: -PAUSE, cost: 0 });
    const row = (this.root = el("div", { class: "race-charts" }, host));
    this.tokens = this.figure(row, "race-tokens", "Tokens against time");
    this.speedup = this.figure(row, "race-speedup", "Speed-up");
    addTerm(this.tokens.panel.titleBox, "lane time", "clock", "sq-word");
    addTerm(this.speedup.panel.titleBox, "range", "range", "sq-word");
    this.words = el(
      "p",
      { class: "race-note", "data-part": "ratio-words" },
      this.speedup.panel.foot,
    );
    button(this.tokens.panel.tools, {
      text: "CSV",
      hint: TOOLTIPS["button save a race as csv"],
    }).addEventListener("click", () => this.csv());
    this.theme = new MutationObserver(() => this.later(true));
    this.theme.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }

  figure(host, part, title) {
    const panel = makePanel(host, { part, title, cls: "race-figure" });
    const word = el("span", { class: "sq-word" }, panel.titleBox);
    if (!this.plotly && !window.Plotly) {
      el(
        "p",
        { class: "race-note", text: "No figures here: their library is not at hand." },
        panel.body,
      );
      return { panel, word };
    }
    const chart = new Chart(panel.body, this.plotly, title);
    pictures.buttons(panel.tools, () => (chart.figure ? chart.node : null), part, {
      caption: () => [
        title + ": " + word.textContent,
        ...factLines(this.store.meta, raceFacts(this.store.meta)),
      ],
    });
    return { panel, word, chart };
  }

  paint() {
    const { store } = this;
    const {
      lanes,
      folds,
      meta: { label },
    } = store;
    const reference = referenceLane(lanes, folds, store.end);
    const name = reference < 0 ? "" : laneName(lanes[reference], reference);
    const plain = reference < 0 || lanes[reference].plain;
    text(this.tokens.word, label || "");
    text(
      this.speedup.word,
      [label, name && (plain ? "over " : "over the slowest, ") + name].filter(Boolean).join(", "),
    );
    text(
      this.words,
      (plain ? "" : "No lane decodes plainly, so ratios are to the slowest. ") +
        "Line: the tokens of both lanes up to that moment. Dot: both whole runs, with the range, about 95 % sure, from how much the pace changes between eight stretches of each.",
    );
    this.later(false);
  }

  /** What the figures show, as a key: they are drawn where it has changed. */
  get state() {
    const { version, folded, t, last, done } = this.store;
    return [version, folded, t, last, done].join();
  }

  /** The figure drawn least recently of those that do not show the newest state; none once both do. */
  get stale() {
    const old = [this.tokens, this.speedup].filter(
      ({ chart, shows }) => chart && shows !== this.state,
    );
    return old.sort((a, b) => (a.at || 0) - (b.at || 0))[0];
  }

  /** Draw soon; `anew` even if no number has changed (the colours have). */
  later(anew) {
    if (anew) this.tokens.shows = this.speedup.shows = null;
    if (this.waiting || !this.stale) return;
    const pause = this.store.done ? PAUSE : Math.max(PAUSE, Math.min(this.cost / SHARE, LONGEST));
    this.waiting = setTimeout(
      () => this.draw(),
      Math.max(pause - (performance.now() - this.at), 0),
    );
  }

  draw() {
    const figure = this.stale;
    this.waiting = 0;
    if (!figure) return;
    Object.assign(figure, { shows: this.state, at: (this.at = performance.now()) });
    if (this.store.folds.length)
      figure.chart.show(figure === this.tokens ? this.tokenFigure() : this.ratioFigure());
    this.waiting = setTimeout(() => this.drew());
  }

  /** A drawing is over: what it took, and on to the next. */
  drew() {
    this.waiting = 0;
    this.cost = performance.now() - this.at;
    this.later(false);
  }

  tokenFigure() {
    const { store } = this;
    const { lanes, folds, t } = store;
    const data = folds.map((fold, i) => {
      const sums = fold.sums.slice(0, fold.count(t) + 1);
      return {
        type: "scatter",
        mode: "lines",
        name: laneName(lanes[i], i),
        x: sums.map((sum) => sum.seconds),
        y: sums.map((sum) => sum.tokens),
        line: line(lanes[i], i),
        hovertemplate: "%{y} tokens at %{x:.3f} s",
      };
    });
    return {
      data,
      layout: {
        showlegend: true,
        margin,
        xaxis: { ...seconds, range: [0, this.room()] },
        yaxis: { ...upright("tokens"), range: [0, store.line * 1.06] },
        shapes: [
          {
            type: "line",
            xref: "paper",
            x0: 0,
            x1: 1,
            y0: store.line,
            y1: store.line,
            line: { color: "var(--sq-dim-fixed)", width: 1, dash: "dot" },
          },
        ],
        annotations: [
          {
            xref: "paper",
            x: 0,
            xanchor: "left",
            y: store.line,
            yanchor: "top",
            text: "finish line",
            showarrow: false,
            bgcolor: "rgba(0,0,0,0)",
            bordercolor: "rgba(0,0,0,0)",
            font: { size: 11, color: "var(--sq-dim-fixed)" },
          },
        ],
      },
    };
  }

  /** Seconds on the x axis: all of a race that is over; a running one grows by halves, so that the axis seldom moves. */
  room() {
    const { done, end } = this.store;
    return done ? end * 1.02 : 1.5 ** Math.ceil(Math.log(Math.max(end, 1e-3)) / Math.log(1.5));
  }

  ratioFigure() {
    const { lanes, folds, t, end } = this.store;
    const reference = referenceLane(lanes, folds, end);
    const other = folds[reference];
    const data = [];
    const bars = [];
    let top = 1.2;
    folds.forEach((fold, i) => {
      const settled = fold.count(t) >> 3; // before the first eighth of the moves the ratio is mostly chance, and off the scale
      const sums = fold.sums.slice(1, fold.count(t) + 1);
      const y = sums.map((sum) =>
        other && i !== reference ? speedRatio(fold, other, sum.seconds) : 1,
      );
      const spread = other && i !== reference ? speedInterval(fold, other, t) : null;
      data.push({
        type: "scatter",
        mode: "lines",
        name: laneName(lanes[i], i),
        x: sums.map((sum) => sum.seconds),
        y: y.map((value) => (Number.isFinite(value) ? value : null)),
        line: line(lanes[i], i),
        hovertemplate: "%{y:.2f}× at %{x:.3f} s",
      });
      if (spread)
        bars.push(this.bar(spread, lanes[i], i, fold.at(t).seconds, speedRatio(fold, other, t)));
      top = Math.max(top, spread?.most || 0, ...y.slice(settled).filter(Number.isFinite));
    });
    return {
      data: [...data, ...bars],
      layout: {
        showlegend: true,
        margin,
        xaxis: { ...seconds, range: [0, this.room()] },
        yaxis: { ...upright("speed-up, ×"), range: [0, top * 1.08] },
      },
    };
  }

  /** The range as an error bar: bands over the whole line would hide one another and the lines. */
  bar({ least, most }, lane, i, x, y) {
    const error = {
      type: "data",
      symmetric: false,
      array: [Math.max(most - y, 0)],
      arrayminus: [Math.max(y - least, 0)],
      thickness: 1.6,
      width: 5,
      color: colour(lane, i),
    };
    return {
      type: "scatter",
      mode: "markers",
      x: [x],
      y: [y],
      error_y: error,
      marker: { size: 7, color: colour(lane, i) },
      line: line(lane, i),
      showlegend: false,
      hovertemplate: `${least.toFixed(2)}× to ${most.toFixed(2)}×<extra></extra>`,
      name: laneName(lane, i) + ", range",
    };
  }

  csv() {
    saveText("sequoia-race.csv", csv(raceRows(this.store)), "text/csv");
  }

  destroy() {
    clearTimeout(this.waiting);
    this.theme.disconnect();
  }
}

/** Tokens against time as rows, one a move, with the table's head. */
export const raceRows = ({ lanes, folds, meta }) => [
  [
    "lane",
    "name",
    "move",
    "seconds",
    "tokens",
    "from_draft",
    "tree_nodes",
    "draft_seconds",
    "verify_seconds",
    "overhead_seconds",
    "label",
  ],
  ...folds.flatMap((fold, i) =>
    fold.sums.slice(1).map((sum, k) => {
      const before = fold.sums[k];
      return [
        i,
        lanes[i].name,
        sum.moves,
        sum.seconds,
        sum.tokens,
        sum.drafted,
        sum.nodes - before.nodes,
        sum.draft - before.draft,
        sum.verify - before.verify,
        sum.overhead - before.overhead,
        meta.label || "",
      ];
    }),
  ),
];

/* The Lab's two figures with the number of nodes on the x axis. One shows the expected tokens of
   every shape. The other shows the predicted speed-up, and what the n-th node gains and costs. */
import * as planner from "../../shared/web/planner.js";
import { PUBLISHED_TREES } from "./published_trees.js";
import { acceptanceLine, timesLine } from "./sources.js";
import * as shapes from "./tree_shapes.js";
import { figurePanel } from "../../shared/web/figure_panel.js";
import { el, show, text } from "../../shared/web/dom.js";
import { addTerm } from "../../shared/web/tooltips.js";

/** @typedef {import("./lab_state.js").LabState} LabState */

const SIZES = [
  1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192,
  224, 256, 320, 384, 448, 512, 640, 768, 896, 1024,
];
const SHAPES = ["branching", "kary", "sequences", "chain"];
const STYLE = {
  best: ["var(--sq-heat)", "solid"],
  capped: ["var(--sq-heat)", "dot"],
  hand: ["var(--sq-text)", "diamond-open"],
  branching: ["var(--sq-target)", "dash"],
  kary: ["var(--sq-draft)", "dashdot"],
  medusa: ["var(--sq-target)", "circle-open"],
  eagle: ["var(--sq-target)", "square-open"],
  sequences: ["var(--sq-verify)", "12px,4px"],
  chain: ["var(--sq-ghost)", "solid"],
};
const NODES = {
  type: "log",
  range: [0, Math.log10(1024)],
  tickvals: [1, 4, 16, 64, 256, 1024],
  title: { text: "nodes" },
};
const LINE = { type: "scatter", mode: "lines" };

/** A panel with a figure and a note below it. */
class Figure {
  /**
   * @param {HTMLElement} host
   * @param {{part: string, title: string, term: string, cls: string}} about
   * @param {() => string[]} sources where the numbers come from, as lines in a saved figure
   */
  constructor(host, about, sources) {
    const caption = () => [`${about.title}: ${this.word.textContent}`, ...sources()];
    const { panel, word, chart } = figurePanel(host, about, { caption });
    this.word = word;
    this.chart = chart;
    this.note = el("p", { class: "sq-dim" }, panel.body);
  }

  draw(data, layout) {
    this.chart.show({
      data,
      layout: { hovermode: "x unified", showlegend: true, xaxis: NODES, ...layout },
    });
  }
}

/** Expected tokens of every shape, by size. */
export class Curves {
  /**
   * @param {HTMLElement} host
   * @param {LabState} state
   */
  constructor(host, state) {
    this.state = state;
    const about = { part: "curves", title: "Tokens per step vs. nodes", term: "expected" };
    const cls = "sq-lab-curves";
    this.figure = new Figure(host, { ...about, cls }, () => [acceptanceLine(state)]);
    text(this.figure.word, "expected, up to 1,024 nodes");
    addTerm(this.figure.note, "Limits", "ceiling");
    this.limits = el("span", {}, this.figure.note);
  }

  paint() {
    const { state } = this;
    const limits = shapeLimits(state);
    const words = limits.map(({ label, value }) =>
      Number.isFinite(value) ? `${label} ${value.toFixed(2)}` : `${label} none`,
    );
    text(
      this.limits,
      ` as n → ∞ (horizontal lines, unless too high for the plot): ${words.join("; ")}.`,
    );
    const near = limits.filter(({ value }) => value < state.freeGrowth.totals[1023] * 1.25);
    this.figure.draw(traces(state), {
      yaxis: { rangemode: "tozero", title: { text: "tokens per step" } },
      shapes: [...near.map(({ value, colour }) => across(value, colour)), upright(state.n)],
    });
  }
}

// The expected tokens that the best tree and the shapes in `others` approach as n grows. A shape
// with a number k keeps the k it has now. The best tree approaches the tree in which every node has
// a child of every rank. Under a level cap, it approaches the first levels of that tree.
function shapeLimits(state) {
  const { n, even, cap } = state;
  const best = (label, levels) => ({
    label,
    value: shapes.fullTree(even, levels),
    colour: STYLE.best[0],
  });
  const others = ["chain", "sequences", "kary"].map((name) => ({
    label: shapes.label(name, n, state),
    value: shapes.limit(name, shapes.setting(name, n, state), even),
    colour: STYLE[name][0],
  }));
  return [best("Sequoia", null), ...(cap ? [best(shapes.cappedName(cap), cap)] : []), ...others];
}

function traces(state) {
  const { cap, growth, freeGrowth } = state;
  const best = ({ totals }) => SIZES.map((n) => totals[n - 1]);
  const published = Object.entries(PUBLISHED_TREES);
  const data = [
    ...SHAPES.map((name) => shapeTrace(state, name)),
    trace("best", "Sequoia", best(freeGrowth), 2.6),
    ...(cap ? [trace("capped", shapes.cappedName(cap), best(growth))] : []),
    ...published.map(([name, { label, parents }]) => point(state, name, label, parents)),
  ];
  if (state.hand.length > 1) data.push(point(state, "hand", "Drawn by hand", state.hand));
  return data;
}

function shapeTrace(state, name) {
  const { even, n } = state;
  const k = shapes.setting(name, n, state);
  const tokens = state.once("curve-" + name, [even, String(k)], () =>
    SIZES.map((size) => planner.expectedTokens(shapes.SHAPES[name].make(size, k), even)),
  );
  return trace(name, shapes.label(name, n, state), tokens);
}

function trace(name, label, y, width = 1.6) {
  const [color, dash] = STYLE[name];
  const line = { color, dash, width };
  return { ...LINE, name: label, x: SIZES, y, line, hovertemplate: "%{y:.3f}" };
}

// A mark for a single tree, at its own size.
function point(state, name, label, parents) {
  const [color, symbol] = STYLE[name];
  const y = planner.expectedTokens(parents, state.even);
  return {
    type: "scatter",
    mode: "markers",
    name: label,
    x: [parents.length],
    y: [y],
    marker: { size: 9, symbol, color, line: { width: 2 } },
    hovertemplate: "%{y:.3f}",
  };
}

/** The speed-up by size, and below it what the n-th node gains and what it costs, both in tokens.
 * The cost is the time that the node adds, times the tree's tokens per second. The chosen profile
 * gives the times. */
export class Margins {
  /**
   * @param {HTMLElement} host
   * @param {LabState} state
   */
  constructor(host, state) {
    this.state = state;
    const about = { part: "margins", title: "Node n: gain vs. cost", term: "gain against cost" };
    const sources = () => [acceptanceLine(state), timesLine(state)];
    this.figure = new Figure(host, { ...about, cls: "sq-lab-margins" }, sources);
  }

  paint() {
    const { profile, n, basis } = this.state;
    const { figure } = this;
    text(figure.word, basis);
    show(figure.chart.node, Boolean(profile));
    text(
      figure.note,
      profile
        ? "A node makes the step longer. Its cost is the number of tokens that could be " +
            "decoded in this extra time. As long as a node gains more than it costs, a larger " +
            "tree is faster. The cost line shows an average over sizes from about 7n/8 to " +
            "9n/8, so it can differ from the cost of node n alone. It has a gap where the cost " +
            "is 0."
        : "This figure needs step times. The app measures those of its machine when it loads " +
            "models.",
    );
    if (!profile) return;
    figure.draw(marginTraces(this.state), {
      xaxis: { ...NODES, anchor: "y2" },
      yaxis: { domain: [0.57, 1], title: { text: "speed-up" }, ticksuffix: "×", nticks: 4 },
      yaxis2: {
        domain: [0, 0.47],
        type: "log",
        title: { text: "tokens per node" },
        tickvals: [0.001, 0.01, 0.1, 1],
        ticktext: [".001", ".01", ".1", "1"],
      },
      shapes: [upright(n)],
    });
  }
}

function marginTraces({ growth, times, profile }) {
  const plain = planner.plainSeconds(profile);
  const x = SIZES.slice(1);
  const speed = x.map((n) => (plain * growth.totals[n - 1]) / times[n - 1]);
  const gain = x.map((n) => growth.gains[n - 1]);
  const cost = x.map((n) => (slope(times, n) * growth.totals[n - 1]) / times[n - 1]);
  const line = (name, y, color, unit, look) => {
    return { ...LINE, name, x, y, ...unit, line: { color, ...look } };
  };
  const tokens = { yaxis: "y2", hovertemplate: "%{y:.4f} tokens" };
  return [
    line("speed-up", speed, "var(--sq-text)", { hovertemplate: "%{y:.3f}×" }, { width: 2.2 }),
    line("gain", gain, "var(--sq-heat)", tokens, { width: 1.8 }),
    line("cost", cost.map(positive), "var(--sq-verify)", tokens, { width: 1.8, dash: "dash" }),
  ];
}

const positive = (value) => (value > 0 ? value : null); // the axis is logarithmic

// Seconds that the n-th node costs. From n = 8 on, this is an average over neighbouring sizes.
function slope(times, n) {
  const half = Math.floor(n / 8);
  const low = Math.max(0, n - 2 - half);
  const high = Math.min(1023, n - 1 + half);
  return (times[high] - times[low]) / (high - low);
}

const across = (y, color) => ({
  type: "line",
  xref: "paper",
  x0: 0,
  x1: 1,
  y0: y,
  y1: y,
  line: { color, width: 1, dash: "dot" },
});

// A vertical line at n, the current node budget.
const upright = (n) => ({
  type: "line",
  xref: "x",
  yref: "paper",
  x0: n,
  x1: n,
  y0: 0,
  y1: 1,
  line: { color: "var(--sq-accent)", width: 1.5 },
});

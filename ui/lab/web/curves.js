/* The lab's two figures, drawn by Plotly: G(n) of every shape with its ceiling, and what the n-th node gains against what it costs. */
import { makePanel } from "../../shared/web/panel.js";
import * as planner from "./planner.js";
import { PUBLISHED_TREES } from "./published_trees.js";
import * as shapes from "./tree_shapes.js";
import * as dom from "../../shared/web/dom.js";
import { el, show, text } from "../../shared/web/dom.js";
import * as pictures from "../../shared/web/save_picture.js";
import { addTerm } from "../../shared/web/tooltips.js";

const SIZES = [
  1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192,
  224, 256, 320, 384, 448, 512, 640, 768, 896, 1024,
];
const SHAPES = ["branching", "kary", "sequences", "chain"];
const STYLE = {
  best: ["--sq-heat", "solid"],
  hand: ["--sq-text", "solid"],
  branching: ["--sq-own", "dash"],
  kary: ["--sq-draft", "dashdot"],
  medusa: ["--sq-own", "circle-open"],
  eagle: ["--sq-own", "square-open"],
  sequences: ["--sq-verify", "longdash"],
  chain: ["--sq-ghost", "solid"],
};

class Figure {
  constructor(host, state, about) {
    this.state = state;
    this.panel = makePanel(host, about);
    this.word = el("span", { class: "sq-word" }, this.panel.titleBox);
    this.box = el("div", { class: "sq-lab-figure" }, this.panel.body);
    this.views = 1;
    pictures.buttons(this.panel.tools, () => this.drawn, about.part, {
      reset: () => {
        this.views++;
        state.changed();
      },
    });
    const below = el("p", { class: "sq-lab-note" }, this.panel.body);
    if (about.note) addTerm(below, ...about.note);
    this.note = el("span", {}, below);
    this.size = dom.sized(this.box, () => this.drawn && window.Plotly.Plots.resize(this.drawn));
  }

  colour(name) {
    return getComputedStyle(this.box).getPropertyValue(name).trim();
  }

  layout(more) {
    const line = this.colour("--sq-line");
    const dim = this.colour("--sq-dim-fixed");
    const axis = {
      gridcolor: line,
      linecolor: line,
      zeroline: false,
      tickcolor: line,
      tickfont: { size: 10.5, color: dim },
      title: { font: { size: 11, color: dim }, standoff: 4 },
      fixedrange: false,
      automargin: false,
    };
    const x = {
      ...axis,
      type: "log",
      range: [0, Math.log10(1024)],
      tickvals: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
      ticktext: ["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"],
      title: { ...axis.title, text: "nodes" },
    };
    const base = {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 50, r: 12, t: 8, b: 40 },
      hovermode: "x unified",
      showlegend: true,
      uirevision: this.views,
      font: {
        family: getComputedStyle(this.box).fontFamily,
        size: 11,
        color: this.colour("--sq-text"),
      },
      legend: {
        orientation: "h",
        x: 0,
        y: 1.02,
        yanchor: "bottom",
        font: { size: 10.5 },
        bgcolor: "rgba(0,0,0,0)",
      },
      hoverlabel: {
        bgcolor: this.colour("--sq-surface") || "#fff",
        bordercolor: line,
        font: { size: 11, color: this.colour("--sq-text") },
      },
      xaxis: x,
      yaxis: axis,
    };
    return { ...base, ...more(base) };
  }

  draw(Plotly, data, layout) {
    this.drawn = this.box;
    return Plotly.react(this.box, data, layout, pictures.CONFIG);
  }

  failed(problem) {
    text(this.note, "No figure: " + problem.message + ".");
  }
}

export class Curves extends Figure {
  constructor(host, state) {
    super(host, state, {
      part: "curves",
      title: "Tokens a step by nodes",
      term: "expected",
      cls: "sq-lab-curves",
      note: ["Ceilings", "ceiling"],
    });
    text(this.word, "expected, to 1,024 nodes");
  }

  traces() {
    const { state } = this;
    const data = [];
    const { even } = state;
    for (const name of SHAPES) {
      const k = shapes.setting(name, state.n, state);
      const made = shapes.SHAPES[name];
      const y = state.once("curve-" + name + k, () =>
        SIZES.map((n) => planner.expectedTokens(made.make(n, k), even)),
      );
      data.push(this.trace(name, shapes.label(name, state.n, state), SIZES, y));
    }
    const { totals } = state.growth;
    data.push({
      ...this.trace(
        "best",
        "Sequoia" + (state.cap === null ? "" : `, ${state.cap} levels`),
        SIZES,
        SIZES.map((n) => totals[n - 1]),
      ),
      line: { color: this.colour("--sq-heat"), width: 2.6 },
    });
    for (const [name, one] of Object.entries(PUBLISHED_TREES))
      data.push(this.point(name, one.label, one.parents, STYLE[name][1]));
    if (state.hand.length > 1)
      data.push(this.point("hand", "Drawn by hand", state.hand, "diamond-open"));
    return data;
  }

  /** A single tree, at its own size. */
  point(name, label, parents, symbol) {
    const y = planner.expectedTokens(parents, this.state.even);
    const color = this.colour(STYLE[name][0]);
    return {
      ...this.trace(name, label, [parents.length], [y]),
      mode: "markers",
      marker: { size: 9, symbol, color, line: { width: 2 } },
    };
  }

  trace(name, label, x, y) {
    const [colour, dash] = STYLE[name];
    return {
      type: "scatter",
      mode: "lines",
      name: label,
      x,
      y,
      line: { color: this.colour(colour), dash, width: 1.6 },
      hovertemplate: "%{y:.3f}",
    };
  }

  /** Where chain, sequences and k-ary stop growing; those far above the picture are only named. */
  ceilings(top) {
    const { state } = this;
    const lines = [];
    const words = [];
    for (const name of ["chain", "sequences", "kary"]) {
      const k = shapes.setting(name, state.n, state);
      const ceiling = shapes.ceiling(name, k, state.even);
      const label = shapes.label(name, state.n, state);
      words.push(`${label} ${Number.isFinite(ceiling) ? ceiling.toFixed(2) : "none"}`);
      if (ceiling < top * 1.25)
        lines.push({
          y: ceiling,
          colour: this.colour(STYLE[name][0]),
          label: label.toLowerCase() + " ≤ " + ceiling.toFixed(2),
        });
    }
    return { lines, words };
  }

  paint(Plotly) {
    const { state } = this;
    const data = this.traces();
    const top = state.growth.totals[1023];
    const { lines, words } = this.ceilings(top);
    const line = (y, colour) => ({
      type: "line",
      xref: "paper",
      x0: 0,
      x1: 1,
      y0: y,
      y1: y,
      line: { color: colour, width: 1, dash: "dot" },
    });
    const layout = this.layout(({ yaxis }) => ({
      yaxis: { ...yaxis, rangemode: "tozero", title: { ...yaxis.title, text: "tokens a step" } },
      shapes: [
        ...lines.map((one) => line(one.y, one.colour)),
        marker(state.n, this.colour("--sq-accent")),
      ],
      annotations: lines.map((one) => ({
        xref: "paper",
        x: 0.01,
        xanchor: "left",
        y: one.y,
        yanchor: "bottom",
        text: one.label,
        showarrow: false,
        font: { size: 10, color: one.colour },
      })),
    }));
    text(this.note, " as n grows without end: " + words.join(", ") + ". Sequoia has no plateau.");
    return this.draw(Plotly, data, layout);
  }
}

export class Margins extends Figure {
  constructor(host, state) {
    super(host, state, {
      part: "margins",
      title: "Node n: gain against cost",
      term: "gain against cost",
      cls: "sq-lab-margins",
    });
    text(this.word, "predicted");
  }

  paint(Plotly) {
    const { state } = this;
    show(this.box, Boolean(state.profile));
    if (!state.profile)
      return text(
        this.note,
        "Needs the times of this machine, which are taken once the models are loaded.",
      );
    const { growth, times } = state;
    const last = 1023;
    const x = [];
    const gain = [];
    const cost = [];
    const speed = [];
    const plain = planner.plainSeconds(state.profile);
    for (const n of SIZES.slice(1)) {
      const half = Math.max(1, Math.floor(n / 8));
      const low = Math.max(0, n - 1 - half);
      const high = Math.min(last, n - 1 + half);
      x.push(n);
      gain.push(growth.gains[n - 1]);
      cost.push(
        (((times[high] - times[low]) / (high - low)) * growth.totals[n - 1]) / times[n - 1],
      );
      speed.push((plain * growth.totals[n - 1]) / times[n - 1]);
    }
    const layout = this.layout(({ xaxis, yaxis }) => ({
      xaxis: { ...xaxis, anchor: "y2" },
      yaxis: {
        ...yaxis,
        domain: [0.57, 1],
        title: { ...yaxis.title, text: "speed-up" },
        ticksuffix: "×",
        nticks: 4,
      },
      yaxis2: {
        ...yaxis,
        domain: [0, 0.47],
        type: "log",
        title: { ...yaxis.title, text: "tokens a node" },
        tickvals: [0.001, 0.01, 0.1, 1],
        ticktext: [".001", ".01", ".1", "1"],
      },
      shapes: [marker(state.n, this.colour("--sq-accent"))],
    }));
    const common = { type: "scatter", mode: "lines", x };
    text(
      this.note,
      "While a node gains more tokens than its time would have made, larger is faster. The cost is averaged over n/4 neighbours.",
    );
    return this.draw(
      Plotly,
      [
        {
          ...common,
          name: "speed-up",
          y: speed,
          line: { color: this.colour("--sq-text"), width: 2.2 },
          hovertemplate: "%{y:.3f}×",
        },
        {
          ...common,
          name: "gain",
          y: gain,
          yaxis: "y2",
          line: { color: this.colour("--sq-heat"), width: 1.8, dash: "solid" },
          hovertemplate: "%{y:.4f} tokens",
          showlegend: true,
        },
        {
          ...common,
          name: "cost",
          y: cost.map((value) => (value > 0 ? value : null)),
          yaxis: "y2",
          line: { color: this.colour("--sq-verify"), width: 1.8, dash: "dash" },
          hovertemplate: "%{y:.4f} tokens",
        },
      ],
      layout,
    );
  }
}

const marker = (n, colour) => ({
  type: "line",
  xref: "x",
  yref: "paper",
  x0: n,
  x1: n,
  y0: 0,
  y1: 1,
  line: { color: colour, width: 1.5 },
});

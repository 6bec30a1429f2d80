/* Figures in the colours of the page, drawn by Plotly, which is loaded when the first figure is
   drawn. A figure names its colours as `var(--name)`. Plotly cannot read such names, so it gets the
   colours' values instead. */
import * as dom from "./dom.js";
import * as pictures from "./save_picture.js";

/** The address of Plotly's script, which is served beside these modules. */
export const PLOTLY = new URL("plotly.min.js", import.meta.url).href;
const LEAST = 160; // px; a narrower figure is not drawn: Plotly would keep its large margins

/**
 * A figure in Plotly's format.
 * @typedef {{data: object[], layout: Record<string, object>}} Figure
 */

/** @type {Promise<any> | null} */
let loading = null;

// Plotly, loaded at most once per page, except after a failure. A saved page has it already.
function loadPlotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  loading ||= fetchPlotly().catch((problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

function fetchPlotly() {
  const script = dom.el("script", { src: PLOTLY });
  document.head.append(script);
  return new Promise((done, failed) => {
    const words = "Plotly, which draws this figure, could not be loaded. Reload the page.";
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", () => failed(new Error(words)));
  });
}

// `value` with every `var(--name)` in it replaced by the value of that variable in `styles`.
function coloured(value, styles) {
  if (typeof value === "string")
    return value.replace(/var\((--[\w-]+)\)/g, (_, name) => styles.getPropertyValue(name).trim());
  if (Array.isArray(value)) return value.map((item) => coloured(item, styles));
  if (!value || typeof value !== "object") return value;
  const parts = Object.entries(value).map(([name, item]) => [name, coloured(item, styles)]);
  return Object.fromEntries(parts);
}

const AXIS = {
  gridcolor: "var(--sq-line)",
  linecolor: "var(--sq-line)",
  zeroline: false,
  ticks: "outside",
  ticklen: 4,
  tickcolor: "var(--sq-line)",
  title: { standoff: 8, font: { size: 12 } },
  automargin: true,
};
const LAYOUT = {
  paper_bgcolor: "rgba(0,0,0,0)",
  plot_bgcolor: "rgba(0,0,0,0)",
  margin: { l: 44, r: 16, t: 26, b: 38 }, // r: room for half a tick label such as 1024
  dragmode: "zoom",
  uirevision: 1, // always the same, so that Plotly keeps a zoom when it draws the figure again
  font: { color: "var(--sq-dim)", size: 12 },
  bargap: 0.35,
  hoverlabel: {
    bgcolor: "var(--sq-surface)",
    bordercolor: "var(--sq-edge)",
    align: "left",
    font: { color: "var(--sq-text)", size: 12 },
  },
  legend: {
    orientation: "h",
    x: 0,
    y: 1.02,
    yanchor: "bottom",
    bgcolor: "rgba(0,0,0,0)",
    font: { color: "var(--sq-text)", size: 14 },
  },
};
const NOTE = {
  font: { color: "var(--sq-text)", size: 14 },
  bgcolor: "var(--sq-surface)",
  bordercolor: "var(--sq-edge)",
  borderpad: 3,
  arrowcolor: "var(--sq-text)",
};

const isAxis = (name) => /^[xy]axis\d*$/.test(name);

function whole(layout, styles, size) {
  const made = { ...LAYOUT, ...layout, width: size.w, height: size.h };
  for (const axis of ["xaxis", "yaxis", ...Object.keys(layout).filter(isAxis)])
    made[axis] = { ...AXIS, ...layout[axis], title: { ...AXIS.title, ...layout[axis]?.title } };
  made.legend = { ...LAYOUT.legend, ...layout.legend };
  if (!layout.showlegend) made.margin = { ...LAYOUT.margin, t: 8 };
  made.font = { ...LAYOUT.font, family: styles.fontFamily };
  made.annotations = (layout.annotations || []).map((note) => ({ ...NOTE, ...note }));
  return coloured(made, styles);
}

/** A figure that is drawn when its element has a size, and again when that size changes. */
export class Chart {
  /** @type {Figure | undefined} */
  figure;
  waiting = false; // whether Plotly is being loaded

  /**
   * @param {HTMLElement} host
   * @param {string} label for screen readers
   */
  constructor(host, label) {
    this.node = dom.el("div", { class: "hw-chart", role: "img", "aria-label": label }, host);
    this.size = dom.sized(this.node, () => this.draw());
  }

  /** The element with the figure; null unless Plotly has drawn it. */
  get drawn() {
    return this.node.dataset.drawn ? this.node : null;
  }

  /** @param {Figure} figure */
  show(figure) {
    this.figure = figure;
    this.draw();
  }

  /**
   * Draw the figure in the colours of the current theme.
   * @returns {Promise<void>}
   */
  async draw() {
    if (!this.figure || this.size.w < LEAST || this.waiting) return;
    this.waiting = true;
    try {
      const plotly = await loadPlotly().finally(() => (this.waiting = false));
      await this.drawWith(plotly);
      this.node.dataset.drawn = "yes";
    } catch (problem) {
      delete this.node.dataset.drawn;
      this.node.textContent = String(problem.message || problem);
    }
  }

  drawWith(plotly) {
    const { node, figure, size } = this;
    const styles = getComputedStyle(node);
    const layout = whole(figure.layout, styles, size);
    return plotly.react(node, coloured(figure.data, styles), layout, pictures.CONFIG);
  }
}

/**
 * Draw charts again whenever the page's theme changes.
 * @param {{draw: () => unknown}[]} charts
 */
export function followTheme(charts) {
  const draw = () => charts.forEach((chart) => chart.draw());
  const attributes = { attributes: true, attributeFilter: ["class"] };
  new MutationObserver(draw).observe(document.body, attributes);
}

/* The figure of an experiment: one plot per panel. All plots have the same axes. One legend serves
   them all; it is left out if there is only one name. Pure functions: shared/web/chart.js draws
   their result. */
import { plotlyText, short } from "../../shared/web/format.js";
import { methodStyles } from "../../shared/web/method_style.js";

/** @import { Axis, Point, Result, Series } from "./experiments_state.js" */
/** @typedef {{data: any[], layout: any, height: number}} Drawing `height` is in px */

const MARGIN = { l: 56, r: 14, b: 44 };
const PLOT = { one: 300, several: 170 }; // px, height
const GAP = { across: 44, down: 74 }; // px between plots
const TITLE = 24; // px above a plot
const LETTER = 7; // px, about the width of a letter
const LEGEND = { line: 20, mark: 48 }; // px: height of a line; width of a mark
// [px, columns]: a figure narrower than `px` has at most `columns` columns of plots
const COLUMNS = [
  [560, 1],
  [900, 2],
];
const MOST_COLUMNS = 3;
const TICKS = [1, 2, 5];
const MOST_TICKS = 8;

/**
 * @param {Result} result
 * @param {number} width px
 * @returns {Drawing}
 */
export function experimentFigure(result, width) {
  const panels = unique(result.series.map(({ panel }) => panel));
  const place = grid(panels.length, width);
  const looks = looksOf(result.series);
  const seen = new Set();
  const data = result.series.map((series) => {
    const isFirst = !seen.has(series.name);
    seen.add(series.name);
    const look = looks.get(series.name);
    return trace(result, series, look, panels.indexOf(series.panel), isFirst);
  });
  const names = [...looks.keys()];
  const top = legendHeight(names, width) + TITLE;
  const inner = place.height;
  const layout = {
    showlegend: names.length > 1,
    margin: { ...MARGIN, t: top },
    hovermode: "closest",
    legend: { y: 1 + TITLE / inner, yanchor: "bottom", tracegroupgap: 0 },
    annotations: panels.map((panel, i) => title(panel, place.cells[i])),
    ...axes(result, panels.length, place),
  };
  return { data, layout, height: inner + top + MARGIN.b };
}

// -- where the plots are --------------------------------------------------------------------------

// The cell of each plot, and the height of the area of all plots in px. x, y: [start, end] of a
// cell, as fractions of that area; x counts from the left, y from the bottom.
function grid(count, width) {
  const most = COLUMNS.find(([below]) => width < below)?.[1] ?? MOST_COLUMNS;
  const rows = Math.max(1, Math.ceil(count / most));
  const columns = Math.max(1, Math.ceil(count / rows)); // four plots: 2 and 2, not 3 and 1
  const plot = count > 1 ? PLOT.several : PLOT.one;
  const height = rows * plot + (rows - 1) * GAP.down;
  const wide = Math.max(width - MARGIN.l - MARGIN.r, 100);
  const across = (wide - (columns - 1) * GAP.across) / columns;
  const cells = Array.from({ length: count }, (_, i) => {
    const left = (i % columns) * (across + GAP.across);
    const top = Math.floor(i / columns) * (plot + GAP.down);
    return {
      x: [left / wide, (left + across) / wide],
      y: [1 - (top + plot) / height, 1 - top / height].map((share) => Math.max(share, 0)),
      isLeft: i % columns === 0,
    };
  });
  return { cells, height };
}

const title = (panel, { x, y }) => ({
  text: plotlyText(panel),
  xref: "paper",
  yref: "paper",
  x: x[0],
  y: y[1],
  xanchor: "left",
  yanchor: "bottom",
  showarrow: false,
  bgcolor: "rgba(0,0,0,0)",
  bordercolor: "rgba(0,0,0,0)",
});

// Height in px. The entries of the legend wrap like the words of a text.
function legendHeight(names, width) {
  if (names.length < 2) return 0;
  const across = width - MARGIN.l - MARGIN.r;
  let lines = 1;
  let used = 0;
  for (const { length } of names) {
    const entry = length * LETTER + LEGEND.mark;
    if (used && used + entry > across) {
      lines += 1;
      used = 0;
    }
    used += entry;
  }
  return lines * LEGEND.line + 6;
}

// -- axes -----------------------------------------------------------------------------------------

function axes({ x, y, series }, count, { cells }) {
  const points = series.flatMap((one) => one.points);
  const across = axis(
    x,
    points.map((point) => point.x),
  );
  const up = {
    ...axis(
      y,
      points.flatMap(({ mean, low, high }) => [mean, low ?? mean, high ?? mean]),
    ),
    ...(y.scale !== "log" && { rangemode: "tozero" }),
  };
  const made = {};
  for (let i = 0; i < count; i++) {
    const cell = cells[i];
    const own = { automargin: false };
    made["xaxis" + suffix(i)] = {
      ...across,
      ...own,
      domain: cell.x,
      anchor: "y" + suffix(i),
      title: { text: plotlyText(x.label) },
      ...(i && { matches: "x" }),
    };
    made["yaxis" + suffix(i)] = {
      ...up,
      ...own,
      domain: cell.y,
      anchor: "x" + suffix(i),
      title: { text: cell.isLeft ? plotlyText(y.label) : "" },
      ...(i && { matches: "y" }),
    };
  }
  return made;
}

const suffix = (i) => (i ? String(i + 1) : "");

/**
 * @param {Axis} about
 * @param {number[]} values
 * @returns {object}
 */
function axis({ scale }, values) {
  if (scale !== "log") return {};
  const ticks = logTicks(values);
  return { type: "log", ...(ticks.length > 1 && { tickvals: ticks, ticktext: ticks.map(tick) }) };
}

const tick = (value) => String(Number(value.toPrecision(3)));

/**
 * The ticks of a logarithmic axis, at most MOST_TICKS. If all values are whole numbers and the
 * largest is at least 8, the ticks are powers of two. Otherwise they are 1, 2 and 5 times powers of
 * ten, or only powers of ten if the axis is long. Values that are not positive are ignored.
 * @param {number[]} values
 * @returns {number[]}
 */
export function logTicks(values) {
  const above = values.filter((value) => value > 0);
  if (!above.length) return [];
  const low = Math.min(...above);
  const high = Math.max(...above);
  const isDoubling = above.every((value) => Number.isInteger(value)) && high >= 8;
  const all = isDoubling ? doublings(low, high) : decades(low, high);
  const step = Math.ceil(all.length / MOST_TICKS);
  return all.filter((_, i) => i % step === 0);
}

function doublings(low, high) {
  const first = Math.ceil(Math.log2(low) - 1e-9);
  const count = Math.floor(Math.log2(high) + 1e-9) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, i) => 2 ** (first + i));
}

function decades(low, high) {
  const first = Math.floor(Math.log10(low));
  const count = Math.ceil(Math.log10(high)) - first + 1;
  const powers = Array.from({ length: count }, (_, i) => Number("1e" + (first + i)));
  const steps = high / low > 300 ? [1] : TICKS;
  return powers
    .flatMap((power) => steps.map((step) => Number((step * power).toPrecision(3))))
    .filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

// -- lines ----------------------------------------------------------------------------------------

/** @type {(values: string[]) => string[]} */
const unique = (values) => [...new Set(values)];

/**
 * The style of each series, by name. Series of the same name look the same in all panels.
 * @param {Series[]} series
 * @returns {Map<string, import("../../shared/web/method_style.js").MethodStyle>}
 */
function looksOf(series) {
  const methods = new Map(series.map(({ name, method }) => [name, method]));
  const styles = methodStyles([...methods.values()]);
  return new Map([...methods.keys()].map((name, i) => [name, styles[i]]));
}

function trace({ x, y }, series, { colour, dash, symbol }, panel, isFirst) {
  const { points } = series;
  const error = points.some(({ low }) => low !== null) && errors(points, colour);
  const name = plotlyText(series.name);
  return {
    type: "scatter",
    mode: "lines+markers",
    name,
    legendgroup: name,
    showlegend: isFirst,
    xaxis: "x" + suffix(panel),
    yaxis: "y" + suffix(panel),
    x: points.map((point) => point.x),
    y: points.map(({ mean }) => mean),
    line: { color: colour, dash, width: 2 },
    marker: { color: colour, symbol, size: 7 },
    ...(error && { error_y: error }),
    text: points.map(interval),
    hovertemplate:
      `<b>${name}</b><br>${plotlyText(y.label)}: %{y:.4~g}%{text}` +
      `<br>${plotlyText(x.label)}: %{x}<extra></extra>`,
  };
}

/** @type {(point: Point) => string} */
const interval = ({ low, high }) =>
  low === null || high === null ? "" : ` (95% CI ${short(low)} to ${short(high)})`;

const errors = (points, color) => ({
  type: "data",
  symmetric: false,
  array: points.map(({ mean, high }) => (high ?? mean) - mean),
  arrayminus: points.map(({ mean, low }) => mean - (low ?? mean)),
  color,
  thickness: 1.2,
  width: 2,
});

/* Draws the figures of chart.js as SVG if Plotly is missing, as in a saved page. Supports lines,
   markers, error bars, shapes that are straight lines, notes and a legend, but no zoom. */
import { attr, svg } from "./dom.js";
import { makeAxis } from "./figure_axis.js";
import { MARKER_PATHS } from "./marker_paths.js";

/**
 * @import { Axis } from "./figure_axis.js"
 * @import { Figure } from "./chart.js"
 */

const LETTER = 6.6; // px, approximate width of a letter at a type size of 12 px
const LINE = 18; // px, height of a line of the legend
const MARK = 26; // px, width of a trace's sample in the legend
const EDGE = { left: 52, right: 18, bottom: 40, top: 10 }; // px around the plots
const MARKERS = 9; // maximum number of markers on a line, unless its trace sets `maxdisplayed`
/** @type {Record<string, string>} Plotly's names of dashes */
const DASHES = { dot: "2 3", dash: "7 4", dashdot: "7 4 2 4", longdash: "11 4" };

/**
 * Area: a part of the figure, as its edges in px. Plot: such an area with its axes.
 * @typedef {{left: number, right: number, top: number, bottom: number}} Area
 * @typedef {Area & {x: Axis, y: Axis}} Plot
 */

/**
 * Draw a figure into `node`, replacing its content.
 * @param {HTMLElement} node
 * @param {Figure} figure
 * @param {{w: number, h: number}} size of the node
 */
export function drawFigure(node, { data, layout }, { w, h }) {
  const frame = svg("svg", { class: "sq-chart", width: w, height: h, "aria-hidden": "true" });
  /** @type {any[]} */
  const traces = data;
  const named = traces.filter(({ showlegend, name }) => name && showlegend !== false);
  const top = layout.showlegend ? drawLegend(frame, named, w) : EDGE.top;
  const area = { left: EDGE.left, right: w - EDGE.right, top, bottom: h - EDGE.bottom };
  const plots = makePlots(traces, layout, area);
  Object.values(plots).forEach((plot) => drawAxes(frame, plot, plot.bottom === area.bottom));
  for (const shape of /** @type {any[]} */ (layout.shapes ?? [])) drawShape(frame, plots, shape);
  for (const trace of traces) {
    const plot = plots[trace.yaxis ?? "y"];
    drawTrace(clipped(frame, plot), plot, trace);
  }
  for (const note of /** @type {any[]} */ (layout.annotations ?? []))
    drawNote(frame, plots.y, note);
  node.replaceChildren(frame);
}

// The plots by the names of their y axes.
/** @type {(traces: any[], layout: any, area: Area) => Record<string, Plot>} */
function makePlots(traces, layout, { left, right, top, bottom }) {
  const { shapes = [] } = layout;
  const xs = [...traces.flatMap(({ x }) => x), ...ends(shapes, "x")];
  const x = makeAxis(layout.xaxis ?? {}, xs, left, right);
  const names = layout.yaxis2 ? ["y", "y2"] : ["y"];
  const made = names.map((name) => {
    const about = layout[name.replace("y", "yaxis")] ?? {};
    const [low, high] = about.domain ?? [0, 1];
    const up = (share) => bottom - share * (bottom - top);
    const ys = traces.filter(({ yaxis = "y" }) => yaxis === name).flatMap(({ y }) => y);
    if (name === "y") ys.push(...ends(shapes, "y"));
    const y = makeAxis(about, ys, up(low), up(high));
    return [name, { x, y, left, right, top: up(high), bottom: up(low) }];
  });
  return Object.fromEntries(made);
}

// Where shapes begin and end on an axis. As in Plotly, the range of the axis includes these values.
/** @type {(shapes: any[], axis: "x" | "y") => number[]} */
const ends = (shapes, axis) =>
  shapes
    .filter((shape) => shape[axis + "ref"] !== "paper")
    .flatMap((shape) => [shape[axis + "0"], shape[axis + "1"]]);

// -- legend ---------------------------------------------------------------------------------------

// Returns the lower end of the legend in px.
function drawLegend(frame, traces, width) {
  let x = EDGE.left;
  let y = LINE / 2 + 4;
  for (const trace of traces) {
    const wide = MARK + 8 + trace.name.length * LETTER + 14;
    if (x > EDGE.left && x + wide > width) {
      x = EDGE.left;
      y += LINE;
    }
    drawSample(frame, trace, x, y);
    write(frame, trace.name, { x: x + MARK + 6, y: y + 4, class: "sq-chart-name" });
    x += wide;
  }
  return y + LINE;
}

function drawSample(frame, trace, x, y) {
  if (trace.mode !== "markers") stroke(frame, `M${x} ${y}h${MARK}`, trace.line);
  if (trace.mode !== "lines") drawMarker(frame, trace.marker, x + MARK / 2, y);
}

// -- axes -----------------------------------------------------------------------------------------

function drawAxes(frame, { x, y, left, right, top, bottom }, isLowest) {
  const grid = { class: "sq-chart-grid" };
  for (const { at, text } of y.ticks) {
    svg("path", { ...grid, d: `M${left} ${at}H${right}` }, frame);
    write(frame, text, { x: left - 6, y: at + 4, "text-anchor": "end" });
  }
  for (const { at, text } of x.ticks) {
    svg("path", { ...grid, d: `M${at} ${top}V${bottom}` }, frame);
    if (isLowest) write(frame, text, { x: at, y: bottom + 16, "text-anchor": "middle" });
  }
  const middle = (top + bottom) / 2;
  const turned = { transform: `translate(12 ${middle}) rotate(-90)`, "text-anchor": "middle" };
  write(frame, y.title, turned);
  if (!isLowest) return;
  write(frame, x.title, { x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle" });
}

// -- traces ---------------------------------------------------------------------------------------

// An element that cuts off what is outside the plot, and has the same coordinates as the frame.
function clipped(frame, { left, right, top, bottom }) {
  const width = Math.max(0, right - left);
  const height = Math.max(0, bottom - top);
  const viewBox = [left, top, width, height].join(" ");
  return svg("svg", { x: left, y: top, width, height, viewBox, overflow: "hidden" }, frame);
}

function drawTrace(frame, plot, trace) {
  const points = trace.x.map((value, i) => [value, trace.y[i]]);
  const place = ([px, py]) => [plot.x.at(px), plot.y.at(py)];
  const seen = points.map((point) => (isDrawn(point) ? place(point) : null));
  if (trace.mode !== "markers") stroke(frame, pathOf(seen), trace.line);
  if (trace.error_y) drawErrors(frame, plot, trace);
  if (trace.mode === "lines") return;
  const most = trace.mode === "markers" ? Infinity : (trace.marker.maxdisplayed ?? MARKERS);
  for (const point of thinned(seen.filter(Boolean), most))
    drawMarker(frame, trace.marker, ...point);
}

const isDrawn = (point) => point.every((value) => value !== null && Number.isFinite(value));

// The path of a line through the points, interrupted at a missing point.
function pathOf(points) {
  const pieces = points.map((point, i) => {
    if (!point || !point.every(Number.isFinite)) return "";
    const command = points[i - 1]?.every(Number.isFinite) ? "L" : "M";
    return command + point.map((value) => value.toFixed(1)).join(" ");
  });
  return pieces.join("");
}

/** @type {<T>(points: T[], most: number) => T[]} at most `most` evenly spaced points, including the
 * last */
function thinned(points, most) {
  const every = Math.max(1, Math.ceil(points.length / most));
  return points.filter((_, i) => (points.length - 1 - i) % every === 0);
}

function drawErrors(frame, { x, y }, { x: xs, y: ys, error_y: error }) {
  xs.forEach((value, i) => {
    const px = x.at(value);
    const high = y.at(ys[i] + error.array[i]);
    const low = y.at(ys[i] - error.arrayminus[i]);
    const cap = `m-${error.width} 0h${2 * error.width}`;
    const path = `M${px} ${low}V${high}M${px} ${low}${cap}M${px} ${high}${cap}`;
    stroke(frame, path, { color: error.color, width: error.thickness });
  });
}

function drawMarker(frame, { symbol = "circle", color, size = 8 }, x, y) {
  const [, name, open] = /^(.*?)(-open)?$/.exec(symbol);
  const d = MARKER_PATHS[name] ?? MARKER_PATHS.circle;
  const fill = open ? "var(--sq-surface)" : color;
  const style = `fill: ${fill}; stroke: ${color}; stroke-width: 1.6`;
  svg("path", { d, style, transform: `translate(${x} ${y}) scale(${size / 8})` }, frame);
}

// -- shapes and notes -----------------------------------------------------------------------------

function drawShape(frame, plots, { xref, yref, x0, x1, y0, y1, line, label }) {
  const all = Object.values(plots);
  const [{ x, y, left, right }] = all;
  const top = Math.min(...all.map((plot) => plot.top));
  const bottom = Math.max(...all.map((plot) => plot.bottom));
  const px = (value) => (xref === "paper" ? left + value * (right - left) : x.at(value));
  const py = (value) => (yref === "paper" ? bottom - value * (bottom - top) : y.at(value));
  stroke(frame, `M${px(x0)} ${py(y0)}L${px(x1)} ${py(y1)}`, line);
  if (label) write(frame, label.text, { x: px(x0) + 4, y: py(y0) + 13 });
}

function drawNote(frame, { x, y, left, right }, note) {
  const px = note.xref === "paper" ? left + note.x * (right - left) : x.at(note.x);
  const py = y.at(note.y) + (note.yanchor === "top" ? 13 : -4);
  write(frame, note.text, { x: px, y: py, class: "sq-chart-name" });
}

/** @type {(frame: SVGElement, d: string, line: any) => void} */
function stroke(frame, d, { color, width = 1.5, dash = "solid" }) {
  if (!d) return;
  const style = `fill: none; stroke: ${color}; stroke-width: ${width}`;
  const path = svg("path", { d, style }, frame);
  const dashes = DASHES[dash] ?? dash.replaceAll("px", "").replaceAll(",", " ");
  if (dash !== "solid") attr(path, "stroke-dasharray", dashes);
}

const write = (frame, words, look) => svg("text", { text: words, ...look }, frame);

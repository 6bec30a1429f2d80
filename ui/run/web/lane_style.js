/* The look of a lane. Its decoding method gives the colour and the marker. Lanes of the same method
   differ in their dash pattern, and every second lane of a method has an open marker. */
import { svg } from "../../shared/web/dom.js";
import { methodStyles } from "../../shared/web/method_style.js";

/** @typedef {import("./lane_run.js").LaneRun} LaneRun */
/** @typedef {import("../../shared/web/method_style.js").MethodStyle} LaneStyle */

// The method of each tree kind. The method of unlisted kinds is "other".
const METHODS = new Map([
  ["chain", "chain"],
  ["tuned_chain", "chain"],
  ["sequences", "sequences"],
  ["kary", "kary"],
  ["branching", "kary"],
  ["planned", "sequoia"],
  ["best", "sequoia"],
  ["dynamic", "dynamic"],
]);

/**
 * @param {LaneRun[]} lanes
 * @returns {LaneStyle[]}
 */
export function laneStyles(lanes) {
  return methodStyles(
    lanes.map(({ about: { plain, kind } }) => (plain ? "plain" : (METHODS.get(kind) ?? "other"))),
  );
}

/**
 * Draw a lane's line from x = 0 to `to`, with its marker at `at`.
 * @param {SVGElement} host
 * @param {LaneStyle} style
 * @param {number} y
 * @param {number} to
 * @param {number} at
 */
export function drawLine(host, { earlierSame, colour, dash, path }, y, to, at) {
  const line = svg("g", { class: "run-stroke", style: `--lane: ${colour}` }, host);
  const dashes = dash === "solid" ? null : dash.replaceAll("px", "");
  svg("path", { d: `M0 ${y}H${to}`, "stroke-dasharray": dashes }, line);
  const open = earlierSame % 2 ? "yes" : null;
  svg("path", { d: path, transform: `translate(${at} ${y})`, "data-open": open }, line);
}

/**
 * A lane's line and marker beside its name.
 * @param {LaneStyle} style
 * @returns {SVGElement}
 */
export function laneMark(style) {
  const mark = svg("svg", { class: "run-mark", viewBox: "0 0 26 12", "aria-hidden": "true" });
  drawLine(mark, style, 6, 26, 13);
  return mark;
}

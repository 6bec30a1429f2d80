/* How a lane looks everywhere on the page. Colour and marker belong to its method. Lanes of the
   same method differ in dash pattern, and every second one has open markers. */
import { svg } from "../../shared/web/dom.js";
import { MARKER_PATHS } from "../../shared/web/marker_paths.js";

/** @typedef {import("./race_store.js").Lane} Lane */
/**
 * `earlierSame`: number of earlier lanes of this method. `symbol`: Plotly's name of the marker,
 * `path`: the same as an SVG path, centred on the origin.
 * @typedef {{earlierSame: number, colour: string, dash: string, symbol: string,
 *   path: string}} LaneStyle
 */

// Method (colour and marker) of each tree kind; unlisted kinds are 'other'.
const METHODS = new Map([
  ["chain", "chain"],
  ["tuned_chain", "chain"],
  ["sequences", "sequences"],
  ["kary", "kary"],
  ["branching", "kary"],
  ["planned", "sequoia"],
  ["best", "sequoia"],
  ["replanned", "replanned"],
  ["dynamic", "dynamic"],
]);
/** @type {Record<string, string>} */
const MARKERS = {
  plain: "circle",
  chain: "square",
  sequences: "triangle-up",
  kary: "triangle-down",
  sequoia: "diamond",
  replanned: "cross",
  dynamic: "x",
  other: "hourglass",
};
const DASHES = ["solid", "7px,4px", "2px,3px", "8px,3px,2px,3px"];

/**
 * The style of each lane of a race.
 * @param {Lane[]} lanes
 * @returns {LaneStyle[]}
 */
export function laneStyles(lanes) {
  const used = {};
  return lanes.map(({ plain, kind }) => {
    const method = plain ? "plain" : (METHODS.get(kind) ?? "other");
    const earlierSame = used[method] ?? 0;
    used[method] = earlierSame + 1;
    const symbol = MARKERS[method];
    const path = MARKER_PATHS[symbol];
    const dash = DASHES[earlierSame % DASHES.length];
    const colour = `var(--race-${method})`;
    return { earlierSame, colour, dash, symbol: symbol + (earlierSame % 2 ? "-open" : ""), path };
  });
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
  const line = svg("g", { class: "race-stroke", style: `--race-lane: ${colour}` }, host);
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
  const mark = svg("svg", { class: "race-mark", viewBox: "0 0 26 12", "aria-hidden": "true" });
  drawLine(mark, style, 6, 26, 13);
  return mark;
}

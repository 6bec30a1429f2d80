/* How a method looks in the charts of Race and Experiments. A method is a way to decode, such as a
   tree shape or a verifier. Each method has its own colour and marker. If a chart has several lines
   of one method, the first four differ in their dash pattern, and every second one has open
   markers. */
import { MARKER_PATHS } from "./marker_paths.js";

/**
 * `earlierSame`: number of earlier lines of the same method. `symbol`: Plotly's name of the marker.
 * `path`: the marker as an SVG path centred on the origin.
 * @typedef {{earlierSame: number, colour: string, dash: string, symbol: string,
 *   path: string}} MethodStyle
 */

/** @type {Record<string, string>} */
const MARKERS = {
  plain: "circle",
  chain: "square",
  sequences: "triangle-up",
  kary: "triangle-down",
  sequoia: "diamond",
  replanned: "cross",
  dynamic: "x",
  specinfer: "triangle-left",
  topk: "triangle-right",
  traversal: "bowtie",
  block: "pentagon",
  other: "hourglass",
};
const DASHES = ["solid", "7px,4px", "2px,3px", "8px,3px,2px,3px"];

/**
 * The style of each line of a chart.
 * @param {string[]} methods the method of each line; an unknown method is shown as "other"
 * @returns {MethodStyle[]}
 */
export function methodStyles(methods) {
  const used = {};
  return methods.map((name) => {
    const method = Object.hasOwn(MARKERS, name) ? name : "other";
    const earlierSame = used[method] ?? 0;
    used[method] = earlierSame + 1;
    const symbol = MARKERS[method];
    const path = MARKER_PATHS[symbol];
    const dash = DASHES[earlierSame % DASHES.length];
    const colour = `var(--race-${method})`;
    return { earlierSame, colour, dash, symbol: symbol + (earlierSame % 2 ? "-open" : ""), path };
  });
}

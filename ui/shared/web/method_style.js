/* How a method looks in the charts of Run and Experiments. A method is a way to decode, such as a
   tree shape or a verifier. Each method has its own colour and marker. If a chart has several lines
   of one method, the first four differ in their dash pattern, and every second one has open
   markers. */
import VERIFIERS from "./verifiers.json" with { type: "json" };

/**
 * `earlierSame`: number of earlier lines of the same method. `symbol`: Plotly's name of the marker.
 * `path`: the marker as an SVG path centred on the origin.
 * @typedef {{earlierSame: number, colour: string, dash: string, symbol: string,
 *   path: string}} MethodStyle
 */

/** @type {Record<string, string>} the markers of charts, by Plotly's names, as SVG paths centred on
 * the origin */
const MARKER_PATHS = {
  circle: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  square: "M-3.5-3.5h7v7h-7z",
  "triangle-up": "M0-4.6 4.6 3.4h-9.2z",
  "triangle-down": "M0 4.6 4.6-3.4h-9.2z",
  "triangle-left": "M-4.6 0 3.4-4.6v9.2z",
  "triangle-right": "M4.6 0-3.4-4.6v9.2z",
  diamond: "M0-5 5 0 0 5-5 0z",
  x: "M0-2 2.5-4.5 4.5-2.5 2 0 4.5 2.5 2.5 4.5 0 2-2.5 4.5-4.5 2.5-2 0-4.5-2.5-2.5-4.5z",
  hourglass: "M-4-4.5h8l-8 9h8z",
  bowtie: "M-4.5-4v8l9-8v8z",
  pentagon: "M0-4.8 4.6-1.5 2.8 3.9h-5.6L-4.6-1.5z",
};

/** @type {Record<string, string>} */
const MARKERS = {
  plain: "circle",
  chain: "square",
  sequences: "triangle-up",
  kary: "triangle-down",
  dynamic: "x",
  block: "pentagon",
  other: "hourglass",
  ...Object.fromEntries(Object.entries(VERIFIERS).map(([key, { marker }]) => [key, marker])),
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

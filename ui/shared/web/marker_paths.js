/* The markers of charts, by Plotly's names, as SVG paths centred on the origin. */

/** @type {Record<string, string>} */
export const MARKER_PATHS = {
  circle: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  square: "M-3.5-3.5h7v7h-7z",
  "triangle-up": "M0-4.6 4.6 3.4h-9.2z",
  "triangle-down": "M0 4.6 4.6-3.4h-9.2z",
  "triangle-left": "M-4.6 0 3.4-4.6v9.2z",
  "triangle-right": "M4.6 0-3.4-4.6v9.2z",
  diamond: "M0-5 5 0 0 5-5 0z",
  cross: "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
  x: "M0-2 2.5-4.5 4.5-2.5 2 0 4.5 2.5 2.5 4.5 0 2-2.5 4.5-4.5 2.5-2 0-4.5-2.5-2.5-4.5z",
  hourglass: "M-4-4.5h8l-8 9h8z",
  bowtie: "M-4.5-4v8l9-8v8z",
  pentagon: "M0-4.8 4.6-1.5 2.8 3.9h-5.6L-4.6-1.5z",
};

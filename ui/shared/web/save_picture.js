/* Saves figures and trees as picture files, which are made in the browser. */
import COLOURS from "../../../assets/colours.json" with { type: "json" };
import { button, el, segments } from "./dom.js";
import { plotlyText } from "./format.js";
import { saveAddress } from "./save_file.js";

const SCALE = 2; // pixels of a PNG per px of the page
// The largest canvas that every desktop browser can make, in pixels.
const MOST_SIDE = 16_384;
const MOST_AREA = 1e8;
const LINE = 17; // px, height of a line of a caption
const LETTER = 6.6; // px, approximate width of its letters

/** @typedef {"svg" | "png"} Format */

/**
 * The background colour of `node` or its nearest ancestor that has one, else that of paper.
 * @param {Element} node
 * @returns {string}
 */
export function ground(node) {
  for (let at = node; at; at = at.parentElement) {
    const { backgroundColor } = getComputedStyle(at);
    if (!/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor)) return backgroundColor;
  }
  return COLOURS.pictures.paper;
}

// Saves the Plotly figure in `node`, with the lines of `caption` above it.
async function saveFigure(node, format, name, caption = []) {
  const letters = Math.floor(node.clientWidth / LETTER);
  const lines = caption.flatMap((line) => wrapped(line, letters));
  const head = lines.length && LINE * (lines.length + 1);
  const size = { width: node.clientWidth, height: node.clientHeight + head };
  const layout = { ...pictureLayout(node), ...size };
  if (head) {
    const { margin = {} } = node.layout;
    const legend = node.querySelector(".legend")?.getBoundingClientRect().height ?? 0;
    layout.margin = { ...margin, t: Math.max(margin.t ?? 100, legend) + head };
    layout.title = captionTitle(lines.map(plotlyText));
  }
  const look = { format, ...size, scale: format === "png" ? SCALE : 1 };
  const address = await window.Plotly.toImage({ data: node.data, layout }, look);
  saveAddress(`${name}.${format}`, address);
}

// `line` in lines of at most `most` characters.
const wrapped = (line, most) => line.match(RegExp(`\\S.{0,${most - 1}}(?!\\S)|\\S{${most}}`, "g"));

function pictureLayout(node) {
  const colour = ground(node);
  return {
    ...node.layout,
    // A saved picture cannot use the page's web fonts, so Plotly must not measure text in them.
    font: { ...node.layout.font, family: "sans-serif" },
    paper_bgcolor: colour,
    plot_bgcolor: colour,
    autosize: false,
  };
}

/** @type {(lines: string[]) => any} */
const captionTitle = ([title, ...lines]) => ({
  text: [`<b>${title}</b>`, ...lines].join("<br>"),
  x: 0,
  xref: "container",
  xanchor: "left",
  y: 1,
  yref: "container",
  yanchor: "top",
  pad: { l: 12, t: LINE },
  font: { size: 12 },
});

const svgBlob = (source) => URL.createObjectURL(new Blob([source], { type: "image/svg+xml" }));

/**
 * Save an SVG as a PNG.
 * @param {string} source XML of the SVG
 * @param {number} width px
 * @param {number} height px
 * @param {string} name of the file, without its suffix
 */
async function raster(source, width, height, name) {
  const image = new Image();
  image.src = svgBlob(source);
  await image.decode().finally(() => URL.revokeObjectURL(image.src));
  canvas(width, height, (pen) => pen.drawImage(image, 0, 0, width, height), name);
}

/**
 * Save a PNG of what `draw` draws. If the canvas would be too large, the resolution is reduced.
 * @param {number} width px
 * @param {number} height px
 * @param {(pen: CanvasRenderingContext2D) => void} draw
 * @param {string} name of the file, without its suffix
 */
export function canvas(width, height, draw, name) {
  const largest = Math.sqrt(MOST_AREA / width / height);
  const scale = Math.min(SCALE, MOST_SIDE / width, MOST_SIDE / height, largest);
  const size = { width: Math.ceil(width * scale), height: Math.ceil(height * scale) };
  const sheet = el("canvas", size);
  const pen = sheet.getContext("2d");
  pen.scale(scale, scale);
  draw(pen);
  sheet.toBlob((blob) => saveAddress(`${name}.png`, URL.createObjectURL(blob)), "image/png");
}

/** Plotly's options. Its toolbar would cover the legend, so `buttons` adds other buttons. A double
 * click shows the whole figure again. */
export const CONFIG = { displayModeBar: false, responsive: false };

/**
 * Add buttons that save a Plotly figure.
 * @param {Element} host
 * @param {() => (Element | null | false)} drawn returns the node with the figure; null or false
 *   while nothing is drawn
 * @param {string | (() => string)} name of the file, between "sequoia-" and its suffix
 * @param {() => string[]} caption returns the lines above the saved figure
 */
export function buttons(host, drawn, name, caption) {
  formats(host, "figure", (format) => {
    const file = "sequoia-" + (typeof name === "function" ? name() : name);
    if (drawn()) saveFigure(drawn(), format, file, caption());
  });
}

/**
 * Add two buttons that save something as SVG and as PNG.
 * @param {Element} host
 * @param {string} what is saved, such as "figure"
 * @param {(format: Format) => void} save
 * @returns {HTMLButtonElement[]}
 */
export function formats(host, what, save) {
  const label = "Save the " + what;
  const group = segments(host, label);
  return /** @type {Format[]} */ (["svg", "png"]).map((format) => {
    const text = format.toUpperCase();
    const one = button(group, { text, hint: `${label} as ${text}`, act: () => save(format) });
    one.dataset.save = format;
    return one;
  });
}

/**
 * Save an SVG element, which must have the attributes `width` and `height`.
 * @param {SVGElement} svg
 * @param {Format} format
 * @param {string} name of the file, without its suffix
 */
export function drawing(svg, format, name) {
  const source = new XMLSerializer().serializeToString(svg);
  const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  if (format === "png") raster(source, width, height, name);
  else saveAddress(name + ".svg", svgBlob(source));
}

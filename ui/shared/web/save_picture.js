/* Pictures of figures and trees as files, made in the browser. */
import COLOURS from "../../../assets/colours.json" with { type: "json" };
import { button, el } from "./dom.js";
import { plotlyText } from "./format.js";
import { saveAddress } from "./save_file.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const SCALE = 2; // pixels of a PNG for each of the page
const MOST_SIDE = 16_384; // pixels of a PNG that every browser can make
const MOST_AREA = 1e8;
const LINE = 17; // px that a line of a caption takes

/** @typedef {"svg" | "png"} Format */

/**
 * The colour behind `node`: a picture has no page below it to show through.
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

// Save the Plotly figure in `node` in the colours of the page, below the lines of a `caption`: away
// from the page nothing else says what it shows.
async function saveFigure(node, format, name, caption = []) {
  const head = caption.length && LINE * (caption.length + 1);
  const size = { width: node.clientWidth, height: node.clientHeight + head };
  const layout = { ...pictureLayout(node), ...size };
  if (head) {
    const { margin = {} } = node.layout;
    layout.margin = { ...margin, t: (margin.t ?? 100) + head };
    layout.title = captionTitle(caption.map(plotlyText));
  }
  const look = { format, ...size, scale: format === "png" ? SCALE : 1 };
  const address = await window.Plotly.toImage({ data: node.data, layout }, look);
  saveAddress(`${name}.${format}`, address);
}

function pictureLayout(node) {
  const colour = ground(node);
  return {
    ...node.layout,
    // A picture is drawn without the page's own face, and what that measures would not fit.
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
 * Save an SVG text as PNG.
 * @param {string} source
 * @param {number} width
 * @param {number} height
 * @param {string} name of the file, without its ending
 */
export async function raster(source, width, height, name) {
  const image = new Image();
  image.src = svgBlob(source);
  await image.decode().finally(() => URL.revokeObjectURL(image.src));
  canvas(width, height, (pen) => pen.drawImage(image, 0, 0, width, height), name);
}

/**
 * Save as PNG what `draw` draws.
 * @param {number} width
 * @param {number} height
 * @param {(pen: CanvasRenderingContext2D) => void} draw
 * @param {string} name of the file, without its ending
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

/** Plotly's own tools would cover the legend: the panel has buttons in their place. */
export const CONFIG = { displayModeBar: false, responsive: false };

/**
 * Buttons that save a Plotly figure, and one that shows the whole of it.
 * @param {Element} host
 * @param {() => (Element | null | false)} drawn the node with the figure; none while there is none
 * @param {string | (() => string)} name of the file, without its ending
 * @param {{reset?: () => void, caption?: () => string[]}} [options]
 */
export function buttons(host, drawn, name, { reset, caption } = {}) {
  const hint = TOOLTIPS["button whole figure"];
  if (reset)
    button(host, { icon: "fit", label: "The whole figure", hint }).addEventListener("click", reset);
  formats(host, "figure", (format) => {
    const file = "sequoia-" + (typeof name === "function" ? name() : name);
    if (drawn()) saveFigure(drawn(), format, file, caption?.());
  });
}

/**
 * Two buttons that save in a format.
 * @param {Element} host
 * @param {string} what is saved, in words
 * @param {(format: Format) => void} save
 * @returns {HTMLButtonElement[]}
 */
export function formats(host, what, save) {
  const label = "Save the " + what;
  const group = el("span", { class: "sq-segments", role: "group", "aria-label": label }, host);
  return /** @type {Format[]} */ (["svg", "png"]).map((format) => {
    const text = format.toUpperCase();
    const one = button(group, { text, hint: `${label} as ${text}` });
    one.dataset.save = format;
    one.addEventListener("click", () => save(format));
    return one;
  });
}

/**
 * Save an SVG element that has its size as attributes.
 * @param {SVGElement} svg
 * @param {Format} format
 * @param {string} name of the file, without its ending
 */
export function drawing(svg, format, name) {
  const source = new XMLSerializer().serializeToString(svg);
  const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  if (format === "png") raster(source, width, height, name);
  else saveAddress(name + ".svg", svgBlob(source));
}

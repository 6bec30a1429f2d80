/* Figures: Plotly asked for when one is first wanted, and pictures of figures and trees for the visitor to keep. All in the browser. */
import { button, el } from "./dom.js";
import { saveAddress } from "./save_file.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const SCALE = 2; // pixels of a PNG for each of the page
const SIDE = 16384;
const AREA = 1e8; // pixels of a PNG at most, which every browser can make
const LINE = 17; // px that a line of a caption takes

/** What stands behind `node`: a picture has no page below it to show through. */
export function ground(node) {
  for (let at = node; at; at = at.parentElement) {
    const { backgroundColor } = getComputedStyle(at);
    if (!/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor)) return backgroundColor;
  }
  return "#ffffff";
}

/** Keep the Plotly figure drawn in `node`, in the colours and on the ground of the page, below the lines of a `caption`: away from
      the page nothing else says what it shows. */
async function figure(node, format, name, caption = []) {
  const colour = ground(node);
  const head = caption.length && LINE * (caption.length + 1);
  const size = { width: node.clientWidth, height: node.clientHeight + head };
  const face = { ...node.layout.font, family: "sans-serif" }; // a picture is drawn without the page's own, and would not have room for what that measures
  const layout = {
    ...node.layout,
    ...size,
    font: face,
    paper_bgcolor: colour,
    plot_bgcolor: colour,
    autosize: false,
  };
  if (head) {
    const { margin = {} } = layout;
    const lines = caption.map(plain);
    layout.margin = { ...margin, t: (margin.t ?? 100) + head };
    layout.title = {
      text: [`<b>${lines[0]}</b>`, ...lines.slice(1)].join("<br>"),
      x: 0,
      xref: "container",
      xanchor: "left",
      y: 1,
      yref: "container",
      yanchor: "top",
      pad: { l: 12, t: LINE },
      font: { size: 11.5 },
    };
  }
  saveAddress(
    `${name}.${format}`,
    await window.Plotly.toImage(
      { data: node.data, layout },
      { format, ...size, scale: format === "png" ? SCALE : 1 },
    ),
  );
}

/** A text that Plotly shows as it is, and takes no part of for one of its tags. */
const plain = (words) =>
  words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Keep an SVG text of `width` x `height` as PNG. */
export async function raster(source, width, height, name) {
  const address = URL.createObjectURL(new Blob([source], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  await image.decode().finally(() => URL.revokeObjectURL(address));
  canvas(width, height, (pen) => pen.drawImage(image, 0, 0, width, height), name);
}

/** Keep as PNG what `draw` puts on a canvas of `width` x `height`. */
export function canvas(width, height, draw, name) {
  const scale = Math.min(SCALE, SIDE / width, SIDE / height, Math.sqrt(AREA / width / height));
  const sheet = el("canvas", {
    width: Math.ceil(width * scale),
    height: Math.ceil(height * scale),
  });
  const pen = sheet.getContext("2d");
  pen.scale(scale, scale);
  draw(pen);
  sheet.toBlob((blob) => saveAddress(`${name}.png`, URL.createObjectURL(blob)), "image/png");
}

/** Plotly's own tools would lie over the legend: the panel has buttons in their place. */
export const CONFIG = { displayModeBar: false, responsive: false };

/** Buttons that keep what `drawn()` answers, a node with a Plotly figure, or null while there is none, below the lines of `caption()`;
      and one for the whole figure. */
export function buttons(host, drawn, name, { reset, caption } = {}) {
  if (reset)
    button(host, {
      icon: "fit",
      label: "The whole figure",
      hint: TOOLTIPS["button whole figure"],
    }).addEventListener("click", reset);
  formats(
    host,
    "figure",
    (format) => drawn() && figure(drawn(), format, "sequoia-" + name, caption?.()),
  );
}

/** Two buttons that call `save` with "svg" or "png". `what` is saved, in words. */
export function formats(host, what, save) {
  const group = el(
    "span",
    { class: "sq-segments", role: "group", "aria-label": "Save the " + what },
    host,
  );
  return ["svg", "png"].map((format) => {
    const one = button(group, {
      text: format.toUpperCase(),
      hint: `Save the ${what} as ${format.toUpperCase()}`,
    });
    one.dataset.save = format;
    one.addEventListener("click", () => save(format));
    return one;
  });
}

/** Keep an `svg` element of its own size in `format`. */
export function drawing(svg, format, name) {
  const source = new XMLSerializer().serializeToString(svg);
  const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  if (format === "png") return raster(source, width, height, name);
  saveAddress(name + ".svg", URL.createObjectURL(new Blob([source], { type: "image/svg+xml" })));
}

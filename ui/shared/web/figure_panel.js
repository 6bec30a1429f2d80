/* A panel with a Plotly figure, a line beside the title, and buttons that save the figure. */
import { Chart } from "./chart.js";
import { el } from "./dom.js";
import { makePanel } from "./panel.js";
import { rove } from "./roving_focus.js";
import * as pictures from "./save_picture.js";

/**
 * @param {HTMLElement} host
 * @param {{part: string, title: string, term?: string, cls?: string}} about see `makePanel`
 * @param {{caption?: () => string[], name?: () => string}} [saved] `caption`: the lines above
 *   the saved figure; default: the title and the line beside it. `name`: the file name of the saved
 *   figure, without "sequoia-" and the suffix; default: `about.part`
 * @returns {{panel: ReturnType<typeof makePanel>, word: HTMLElement, chart: Chart}} `word`: the
 *   line beside the title
 */
export function figurePanel(host, { cls = "", ...about }, { caption, name } = {}) {
  const panel = makePanel(host, { ...about, cls: "hw-figure " + cls });
  const word = el("span", { class: "sq-word sq-dim" }, panel.titleBox);
  const chart = new Chart(panel.body, about.title);
  const lines = caption ?? (() => [about.title, word.textContent].filter(Boolean));
  pictures.buttons(panel.tools, () => chart.drawn, name ?? about.part, lines);
  rove(panel.tools);
  return { panel, word, chart };
}

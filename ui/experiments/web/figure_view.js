/* The figure of the shown result. It is drawn again when its width or the theme changes. */
import { followTheme } from "../../shared/web/chart.js";
import { button, el, show, sized, text } from "../../shared/web/dom.js";
import { figurePanel } from "../../shared/web/figure_panel.js";
import { csv, saveText } from "../../shared/web/save_file.js";
import { experimentFigure } from "./experiment_figure.js";
import { captionLines, pointRows } from "./result_rows.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @import { Result } from "./experiments_state.js" */

const PAIRED =
  "Error bars: 95% confidence intervals over prompts. Comparisons are made prompt by prompt, so a difference can be clear (its own 95% interval excludes 0) although the bars overlap.";

/** The panel with the plots of the result. */
export class FigureView {
  /** @type {Result | undefined | null} null before the method `show` is first called */
  result = null;
  drawnWidth = 0;

  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "figure", title: "Plots", cls: "xp-figure" };
    const caption = () => (this.result ? captionLines(this.result) : []);
    const name = () => this.result?.name ?? about.part;
    const { panel, chart } = figurePanel(host, about, { caption, name });
    this.panel = panel;
    this.chart = chart;
    button(panel.tools, {
      text: "CSV",
      hint: TOOLTIPS["button experiment csv"],
      part: "points-csv",
      act: () => this.saveCsv(),
    });
    this.bars = el("p", { class: "xp-dim xp-note", text: PAIRED });
    chart.node.before(this.bars);
    this.note = el("p", { class: "xp-dim xp-note" }, panel.body);
    this.size = sized(panel.body, () => this.draw());
    followTheme([chart]);
  }

  /**
   * @param {Result | undefined} result
   * @param {string} [about] sentences below the plots
   */
  show(result, about = "") {
    if (result === this.result) return;
    this.result = result;
    this.drawnWidth = 0;
    show(this.panel.root, Boolean(result?.series.length));
    show(this.bars, Boolean(result?.comparisons.some(({ low }) => low !== null)));
    text(this.note, about);
    this.draw();
  }

  draw() {
    const width = Math.round(this.chart.node.clientWidth);
    if (!this.result?.series.length || !width || width === this.drawnWidth) return;
    this.drawnWidth = width;
    const { height, ...figure } = experimentFigure(this.result, width);
    this.chart.node.style.height = height + "px";
    this.chart.show(figure);
  }

  saveCsv() {
    if (!this.result) return;
    saveText(`sequoia-${this.result.name}.csv`, csv(pointRows(this.result)), "text/csv");
  }
}

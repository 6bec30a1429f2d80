/* The Paper tab. The server writes the tab's tables. This module only adds the figure and connects
   the buttons that open another tab. */
import { connectComponent } from "../../shared/web/connect_component.js";
import { followTheme } from "../../shared/web/chart.js";
import { text } from "../../shared/web/dom.js";
import { figurePanel } from "../../shared/web/figure_panel.js";
import { connectTabButtons } from "../../shared/web/tabs.js";

/** @import { Figure } from "../../shared/web/chart.js" */

/**
 * The message from ui/paper/tab.py.
 * @typedef {{figure?: Figure, error?: string}} Message
 */

class PaperView {
  /** @param {Element} root */
  constructor(root) {
    const host = /** @type {HTMLElement} */ (root.querySelector("[data-part=figure-host]"));
    const about = { part: "figure", title: "Simulated vs. paper", cls: "pp-figure" };
    this.figure = figurePanel(host, about);
    text(
      this.figure.word,
      "filled: Sequoia; open: SpecInfer and top-k match; on the dotted line: simulated = paper",
    );
    followTheme([this.figure.chart]);
    connectTabButtons(root);
  }

  /** @param {Message} message */
  take({ figure, error }) {
    if (figure) this.figure.chart.show(figure);
    if (error) text(this.figure.word, error);
  }
}

/**
 * Called from the component's js_on_load with what Gradio gives it.
 * @param {HTMLElement} element
 * @param {{value?: string}} props
 * @param {(name: string, changed: () => void) => void} watch
 */
export function connect(element, props, watch) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".pp-stage");
  connectComponent(root, props, watch, new PaperView(root));
}

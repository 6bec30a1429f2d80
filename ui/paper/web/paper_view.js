/* The Paper tab. The server writes the tab's tables. This module only adds the figure and connects
   the buttons that open another tab. */
import { whenShown } from "../../shared/web/connect_component.js";
import { followTheme } from "../../shared/web/chart.js";
import { text } from "../../shared/web/dom.js";
import { figurePanel } from "../../shared/web/figure_panel.js";
import { connectTabButtons } from "../../shared/web/tabs.js";

/** @import { Props, Server, Trigger, Watch } from "../../shared/web/connect_component.js" */

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

  /** @param {Server} server */
  async load(server) {
    if (this.figure.chart.figure) return;
    try {
      const { figure } = JSON.parse(await server.get_speedups_figure(null));
      this.figure.chart.show(figure);
    } catch (problem) {
      console.debug(problem);
      text(this.figure.word, "The figure could not be fetched. Open the tab again.");
    }
  }
}

/**
 * Called from the component's js_on_load with what Gradio gives it.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} _watch
 * @param {Trigger} _trigger
 * @param {Server} server
 */
export function connect(element, props, _watch, _trigger, server) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".pp-stage");
  const view = new PaperView(root);
  whenShown(root, () => view.load(server));
}

/* The Paper tab. The server writes the claims and tables. This module adds the figures, and
   connects the buttons of the claims. */
import { askExperiment } from "../../shared/web/between_tabs.js";
import { whenShown } from "../../shared/web/connect_component.js";
import { followTheme } from "../../shared/web/chart.js";
import { text } from "../../shared/web/dom.js";
import { figurePanel } from "../../shared/web/figure_panel.js";

/** @import { Props, Server, Trigger, Watch } from "../../shared/web/connect_component.js" */

const FIGURES = [
  ["scale", "Speed over the floor", "filled: measured speed; open: speed-up over its own baseline"],
  [
    "speedups",
    "Simulated vs. paper",
    "filled: Sequoia; open: SpecInfer and top-k match; on the dotted line: simulated = paper",
  ],
];

class PaperView {
  /** @param {Element} root */
  constructor(root) {
    this.figures = FIGURES.map(([name, title, words]) => {
      const host = /** @type {HTMLElement} */ (root.querySelector(`[data-part=${name}-host]`));
      const made = figurePanel(host, { part: `${name}-figure`, title, cls: `pp-figure-${name}` });
      text(made.word, words);
      return { name, ...made };
    });
    followTheme(this.figures.map(({ chart }) => chart));
    root.addEventListener("click", ({ target }) => act(root, /** @type {Element} */ (target)));
  }

  /** @param {Server} server */
  async load(server) {
    if (this.figures[0].chart.figure) return;
    try {
      const found = JSON.parse(await server.get_paper_figures(null));
      for (const { name, chart } of this.figures) chart.show(found[name]);
    } catch (problem) {
      console.debug(problem);
      for (const { word } of this.figures)
        text(word, "The figure could not be fetched. Open the view again.");
    }
  }
}

/**
 * Do what the button around `target` is for: show a part of this view, open another view, or run an
 * experiment.
 * @param {Element} root
 * @param {Element} target
 */
function act(root, target) {
  const button = target.closest("button");
  const { shows, address, run } = button?.dataset ?? {};
  if (address) location.hash = address;
  if (run) askExperiment(run);
  if (!shows) return;
  const part = root.querySelector(`[data-part="${shows}"]`);
  for (let fold = part.closest("details"); fold; fold = fold.parentElement.closest("details"))
    fold.open = true;
  part.scrollIntoView();
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

/* Joins the Tour tab's component to its view. */
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { TourView } from "./tour_view.js";

/** @import { Props, Trigger, Watch } from "../../shared/web/connect_component.js" */

/**
 * Called from the component's js_on_load with the objects that Gradio passes to it.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} watch
 * @param {Trigger} trigger
 */
export function connect(element, props, watch, trigger) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-tour");
  const view = new TourView(root, (bug) => trigger("test", { bug }));
  connectComponent(root, props, watch, view, { ask: () => trigger("come") });
  whenShown(root, () => {
    if (!view.isReady) trigger("come");
    view.shown();
  });
}

/* Joins the Lab tab's component to its view. */
import { connectComponent } from "../../shared/web/connect_component.js";
import { PLOTLY } from "../../shared/web/plotly.js";
import { mountLab } from "./lab_view.js";

/** Called from the component's js_on_load with what Gradio gives it. */
export function connect(element, props, watch, trigger) {
  const root = element.querySelector(".sq-lab");
  const view = mountLab(root, { trigger, plotly: PLOTLY });
  connectComponent(root, props, watch, { ...view, take: view.ingest });
}

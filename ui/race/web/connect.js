/* Joins the Race tab's component to its view. */
import { connectComponent } from "../../shared/web/connect_component.js";
import { formBeside } from "../../shared/web/form_buttons.js";
import { rememberInAddress } from "../../shared/web/page_address.js";
import { PLOTLY } from "../../shared/web/plotly.js";
import { mountRace } from "./race_view.js";

/** Called from the component's js_on_load with what Gradio gives it. */
export function connect(element, props, watch, trigger, server) {
  const root = element.querySelector(".sq-stage");
  const view = mountRace(root, { trigger, server, plotly: PLOTLY, page: formBeside("rc") });
  const take = (message) => {
    view.ingest(message);
    rememberInAddress(message, "race");
  };
  connectComponent(root, props, watch, { ...view, take }, () => trigger("come"));
}

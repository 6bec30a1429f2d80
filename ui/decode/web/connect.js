/* Joins the Decode tab's component to its view. */
import { connectComponent } from "../../shared/web/connect_component.js";
import { formBeside } from "../../shared/web/form_buttons.js";
import { rememberInAddress } from "../../shared/web/page_address.js";
import { mountDecode } from "./decode_view.js";
import { refused } from "./form_changes.js";

/** @import { Props, Server, Trigger, Watch } from "../../shared/web/connect_component.js" */

/**
 * Called from the component's js_on_load with what Gradio gives it.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} watch
 * @param {Trigger} trigger
 * @param {Server} server
 */
export function connect(element, props, watch, trigger, server) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-stage");
  const page = { ...formBeside("pg"), take: (meta) => trigger("take", meta) };
  const view = mountDecode(root, { server, page });
  const take = (message) => {
    view.ingest(message);
    rememberInAddress(message, "run");
    if (message.error) refused();
  };
  connectComponent(root, props, watch, { ...view, take }, () => trigger("come"));
}

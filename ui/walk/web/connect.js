/* Connects the Walk tab's Gradio component to its view. */
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { copyLink } from "../../shared/web/page_link.js";
import { linkWalk } from "./walk_link.js";
import { WalkView } from "./walk_view.js";

/** @import { Props, Server, Trigger, Watch } from "../../shared/web/connect_component.js" */

/**
 * Called from the component's js_on_load with the arguments that Gradio provides.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} watch
 * @param {Trigger} trigger
 * @param {Server} server
 */
export function connect(element, props, watch, trigger, server) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-walk");
  const ask = (name) => server.get_recorded_run(name);
  const view = new WalkView(root, { ask, copy: () => copyLink("walk") });
  connectComponent(root, props, watch, view, { ask: () => trigger("list") });
  linkWalk(view);
  whenShown(root, () => {
    if (!view.real.listed.length) trigger("list");
    view.shown();
  });
}

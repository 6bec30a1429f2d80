/* Joins the Experiments tab's component to its view. */
import { onAskedExperiment } from "../../shared/web/between_tabs.js";
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { linkView } from "../../shared/web/page_link.js";
import { ExperimentsView } from "./experiments_view.js";

/** @import { Props, Server, Trigger, Watch } from "../../shared/web/connect_component.js" */

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} watch
 * @param {Trigger} trigger
 * @param {Server} server
 */
export function connect(element, props, watch, trigger, server) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".xp-stage");
  const recorded = async (name) => JSON.parse(await server.get_recorded_experiment(name));
  const run = (name, again) => trigger("run", { name, again });
  const halt = () => trigger("halt");
  const view = new ExperimentsView(root, { recorded, run, halt });
  const job = { trigger, isBusy: () => view.state.going };
  connectComponent(root, props, watch, view, { job });
  linkView("experiments", view);
  onAskedExperiment((name) => {
    view.choose(name);
    view.run();
  });
  whenShown(root, () => {
    if (!view.state.chosen) view.choose(view.state.names[0]);
  });
}

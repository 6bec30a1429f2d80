/* Connects the Film view's Gradio component to its view. */
import { Opening } from "./opening.js";
import { linkMoment, offerShown } from "../../run/web/link_moment.js";
import { mountRun } from "../../run/web/run_view.js";
import { onModels } from "../../shared/web/between_tabs.js";
import { connectComponent } from "../../shared/web/connect_component.js";
import { goToForm } from "../../shared/web/form_side.js";

/** @import { Props, Trigger, Watch } from "../../shared/web/connect_component.js" */

/**
 * Called from the component's js_on_load with what Gradio gives it.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} watch
 * @param {Trigger} trigger
 */
export function connect(element, props, watch, trigger) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-stage");
  const take = (run) => {
    goToForm();
    trigger("take", { run });
  };
  const view = mountRun(root);
  const { store, stage } = view;
  const opening = new Opening(store, stage.verdict, take);
  store.onPaint(() => {
    opening.paint();
    document.getElementById("first-frame")?.remove();
  });
  onModels(() => store.changed());
  const taking = { ...view, take: view.ingest };
  connectComponent(root, props, watch, taking, { ask: () => trigger("come") });
  linkMoment("film", store, () => {});
  offerShown("film", store);
}

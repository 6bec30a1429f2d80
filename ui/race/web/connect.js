/* Connects the Race tab's Gradio component to its view. */
import { connectComponent } from "../../shared/web/connect_component.js";
import { canStop, formBeside } from "../../shared/web/form_buttons.js";
import { isOfOtherModels, onModels } from "../../shared/web/loaded_models.js";
import { sayInterrupted } from "../../shared/web/interrupted.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { rememberInAddress } from "../../shared/web/page_address.js";
import { PLOTLY } from "../../shared/web/plotly.js";
import { linkRace } from "./race_link.js";
import { mountRace } from "./race_view.js";
import { rove } from "../../shared/web/roving_focus.js";

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {{value?: string}} props
 * @param {(name: string, changed: () => void) => void} watch
 * @param {(name: string, data?: object) => void} trigger
 * @param {object} server functions of the server: get_steps
 */
export function connect(element, props, watch, trigger, server) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-stage");
  const page = { ...formBeside("rc"), follow: () => trigger("follow") };
  const view = mountRace(root, { trigger, server, plotly: PLOTLY, page });
  const isBusy = () => canStop("rc");
  const job = watchJob({ isBusy, ask: (asked) => trigger("ask", asked) });
  sayInterrupted("race", isBusy, "race");
  // The race that the page opens with is only shown while its models are loaded. It is the first
  // message; `opening` is its race until another race is shown.
  let opening;
  const forgetOpening = () => {
    const { store } = view;
    if (opening && store.race === opening && isOfOtherModels(store.meta)) store.reset(null);
    store.changed();
  };
  onModels(forgetOpening);
  const take = (received) => {
    const message = view.store.following.note(received, view.store.notice);
    if (!message) return;
    view.ingest(message);
    if (message.race) opening ??= message.stored === false && message.race;
    forgetOpening();
    if (message.followed) return;
    const isOver = Boolean(message.done || message.error);
    job.take(message.done === false || Boolean(message.wait), isOver);
    rememberInAddress(message, "race");
  };
  connectComponent(root, props, watch, { ...view, take }, { ask: () => trigger("come") });
  /** @type {NodeListOf<HTMLElement>} */
  const groups = document.querySelectorAll("#rc-side .pg-chips");
  for (const group of groups) rove(group);
  linkRace(view.store, (values) => trigger("link", values));
}

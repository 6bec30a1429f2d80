/* Connects the Decode tab's Gradio component to its view. */
import { mountDecode } from "./decode_view.js";
import { refused } from "../../run/web/form_changes.js";
import { ownRun } from "./own_run.js";
import { linkMoment, offerShown } from "../../run/web/link_moment.js";
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { isOfOtherModels, onModels, publishRun } from "../../shared/web/between_tabs.js";
import { canStop, formBeside } from "../../shared/web/form_buttons.js";
import { showForm } from "../../shared/web/form_side.js";
import { sayInterrupted } from "../../shared/web/interrupted.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { isOpened, showTop } from "../../shared/web/opened_file.js";
import { rememberInAddress } from "../../shared/web/page_link.js";

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
  const take = (meta) => {
    showForm(root, true);
    trigger("take", meta);
  };
  const again = (run) => trigger("again", { run });
  const page = { ...formBeside("pg"), isPaced: true, take, again, follow: () => trigger("follow") };
  const view = mountDecode(root, { page });
  const isBusy = () => canStop("pg");
  const job = watchJob({ isBusy, ask: (asked) => trigger("ask", asked) });
  sayInterrupted("decode", isBusy, "run");
  let hasCome = false; // whether the first run was asked for
  // The run that the view opens with is only shown while its models are loaded. It is the first
  // message; `opening` is its run until another run is shown.
  let opening;
  const forgetOpening = () => {
    const { store } = view;
    if (opening && store.name === opening && isOfOtherModels(store.meta)) view.stage.forget();
    store.changed();
  };
  onModels(forgetOpening);
  const receive = (received) => {
    const message = view.store.following.note(received, view.store.notice);
    if (!message) return;
    if (isOpened(message, "run", view.store)) showTop(root);
    view.store.ingest(message);
    if (message.run) opening ??= message.stored === false && message.run;
    if (message.followed) return;
    const isOver = Boolean(message.done || message.error);
    const isGoing = message.done === false || message.again || Boolean(message.wait);
    job.take(Boolean(isGoing), isOver);
    forgetOpening();
    rememberInAddress(message, "run");
    if (message.error) refused("decode");
    const own = message.done ? ownRun(view.store) : null;
    if (own) publishRun(own);
  };
  const come = () => trigger("come");
  connectComponent(root, props, watch, { ...view, take: receive }, { ask: come });
  whenShown(root, () => {
    if (!hasCome) come();
    hasCome = true;
  });
  linkMoment("decode", view.store, (values) => trigger("link", values));
  offerShown("decode", view.store);
}

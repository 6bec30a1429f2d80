/* Connects the Decode tab's Gradio component to its view. */
import { mountDecode } from "./decode_view.js";
import { refused } from "../../run/web/form_changes.js";
import { ownRun } from "./own_run.js";
import { linkMoment, offerShown } from "../../run/web/link_moment.js";
import { connectComponent } from "../../shared/web/connect_component.js";
import { isOfOtherModels, onModels, publishRun } from "../../shared/web/between_tabs.js";
import { canStop, formBeside } from "../../shared/web/form_buttons.js";
import { openWithForm, showForm } from "../../shared/web/form_side.js";
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
  // Whether a message has been shown. The form is hidden at first. It stays so beside the run that
  // the page opens with (`meta.opening`).
  let hasOpened = false;
  // The run that the page opens with is only shown while its models are loaded.
  const forgetOpening = () => {
    const { store } = view;
    if (store.meta.opening && isOfOtherModels(store.meta)) {
      view.stage.forget();
      showForm(root, true);
    }
    store.changed();
  };
  onModels(forgetOpening);
  const receive = (received) => {
    const message = view.store.following.note(received, view.store.notice);
    if (!message) return;
    if (isOpened(message, "run", view.store)) showTop(root);
    view.store.ingest(message);
    if (!hasOpened && !message.meta?.opening) openWithForm(root, true);
    hasOpened = true;
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
  connectComponent(root, props, watch, { ...view, take: receive }, { ask: () => trigger("come") });
  linkMoment("decode", view.store, (values) => trigger("link", values));
  offerShown("decode", view.store);
}

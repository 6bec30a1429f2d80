/* Connects the Run view's Gradio component to the view. */
import { finishedHere } from "./finished_run.js";
import { mountRun } from "./run_view.js";
import { refused, valuesOfRun } from "./form_changes.js";
import { linkMoment, offerShown } from "./link_moment.js";
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { canStop, formBeside } from "../../shared/web/form_buttons.js";
import { showForm } from "../../shared/web/form_side.js";
import { formValues, watchFormValues } from "../../shared/web/form_values.js";
import { sayInterrupted } from "../../shared/web/interrupted.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { isOfOtherModels, onModels, publishRun } from "../../shared/web/between_tabs.js";
import { rememberInAddress } from "../../shared/web/page_link.js";

/** @import { Props, Trigger, Watch } from "../../shared/web/connect_component.js" */

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {Props} props
 * @param {Watch} watch
 * @param {Trigger} trigger
 */
export function connect(element, props, watch, trigger) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-stage");
  const take = (run) => {
    showForm(root, true);
    trigger("take", { run });
  };
  const page = {
    ...formBeside("pg"),
    isPaced: true,
    trigger,
    take,
    follow: () => trigger("follow"),
  };
  const view = mountRun(root, page);
  const { store } = view;
  const isBusy = () => canStop("pg");
  const job = watchJob({ isBusy, ask: (asked) => trigger("ask", asked) });
  sayInterrupted("run", isBusy);
  // The run that the view opens with is only shown while its models are loaded. It is the first
  // message; `opening` is its run until another run is shown.
  let opening;
  let hasCome = false; // whether the first run was asked for
  const forgetOpening = () => {
    if (opening && store.name === opening && isOfOtherModels(store.meta)) view.stage.forget();
    store.changed();
  };
  onModels(forgetOpening);
  const form = () => JSON.stringify(formValues("run"));
  // The form's values when the run on screen began; "" if it did not begin on this page.
  let begun = "";
  const noteChanges = () => store.set({ isEarlier: begun !== "" && form() !== begun });
  watchFormValues("run", noteChanges);
  const receive = (received) => {
    const message = store.following.note(received, store.notice);
    if (!message) return;
    const isNew = message.run && message.run !== store.name;
    if (isNew) begun = isStored(message) || message.followed ? "" : valuesOfRun();
    if (isNew && message.done && root.offsetParent) scrollTo(0, 0); // it is read from its top
    store.ingest(message);
    if (isNew) noteChanges();
    if (message.run) opening ??= message.stored === false && message.run;
    forgetOpening();
    if (message.followed) return;
    const isOver = Boolean(message.done || message.error);
    job.take(message.done === false || Boolean(message.wait), isOver);
    rememberInAddress(message);
    if (message.error) refused();
    const finished = message.done ? finishedHere(store) : null;
    if (finished) publishRun(finished);
  };
  const come = () => trigger("come");
  connectComponent(root, props, watch, { ...view, take: receive }, { ask: come });
  whenShown(root, () => {
    if (!hasCome) come();
    hasCome = true;
  });
  const as = { written: withLanes, read: withFields };
  linkMoment("run", store, (values) => trigger("link", values), as);
  offerShown("run", store);
}

const isStored = ({ meta, stored }) => meta?.label === "recorded" || stored === false;

const LANES = [1, 2, 3, 4];

// Adds to the values of the form one value for each lane: the list of the lane's three fields. A
// link contains these lists instead of the fields.
function withLanes(values) {
  const lanes = LANES.filter((number) => `kind${number}` in values).map((number) => [
    `lane${number}`,
    ["kind", "numbers", "verifier"].map((name) => values[name + number]),
  ]);
  return { ...values, ...Object.fromEntries(lanes) };
}

// Adds to the values of a link the three form fields of each lane in it.
function withFields(values) {
  const fields = LANES.filter((number) => `lane${number}` in values).flatMap((number) => {
    const [kind, numbers, verifier] = values[`lane${number}`];
    return Object.entries({ kind, numbers, verifier }).map(([name, value]) => [
      name + number,
      value,
    ]);
  });
  return { ...values, ...Object.fromEntries(fields) };
}

/* Connects the Race tab's Gradio component to its view. */
import { mountRace } from "./race_view.js";
import { refused } from "../../run/web/form_changes.js";
import { linkMoment, offerShown } from "../../run/web/link_moment.js";
import { connectComponent, whenShown } from "../../shared/web/connect_component.js";
import { canStop, formBeside } from "../../shared/web/form_buttons.js";
import { formValues, watchFormValues } from "../../shared/web/form_values.js";
import { sayInterrupted } from "../../shared/web/interrupted.js";
import { watchJob } from "../../shared/web/job_watch.js";
import { isOfOtherModels, onModels } from "../../shared/web/between_tabs.js";
import { isOpened, showTop } from "../../shared/web/opened_file.js";
import { rememberInAddress } from "../../shared/web/page_link.js";
import { rove } from "../../shared/web/roving_focus.js";

const UNKNOWN = "{}"; // values of a form that are not known yet

/**
 * Called from the component's js_on_load with the arguments that Gradio passes.
 * @param {HTMLElement} element
 * @param {{value?: string}} props
 * @param {(name: string, changed: () => void) => void} watch
 * @param {(name: string, data?: object) => void} trigger
 */
export function connect(element, props, watch, trigger) {
  /** @type {HTMLElement} */
  const root = element.querySelector(".sq-stage");
  const page = { ...formBeside("rc"), follow: () => trigger("follow") };
  const view = mountRace(root, { trigger, page });
  const isBusy = () => canStop("rc");
  const job = watchJob({ isBusy, ask: (asked) => trigger("ask", asked) });
  sayInterrupted("race", isBusy, "race");
  // The race that the page opens with is only shown while its models are loaded. It is the first
  // message; `opening` is its race until another race is shown.
  let opening;
  let hasCome = false; // whether the first race was asked for
  const forgetOpening = () => {
    const { store } = view;
    if (opening && store.name === opening && isOfOtherModels(store.meta)) store.reset(null);
    store.changed();
  };
  onModels(forgetOpening);
  const form = () => JSON.stringify(formValues("race"));
  let raced = UNKNOWN; // the form's values when the race on screen appeared
  watchFormValues("race", () => {
    if (raced === UNKNOWN) raced = form();
    view.store.set({ isEarlier: form() !== raced });
  });
  const take = (received) => {
    const message = view.store.following.note(received, view.store.notice);
    if (!message) return;
    if (message.race && message.race !== view.store.name) raced = form();
    if (isOpened(message, "race", view.store)) showTop(root);
    view.store.ingest(message);
    if (message.race) opening ??= message.stored === false && message.race;
    forgetOpening();
    if (message.followed) return;
    const isOver = Boolean(message.done || message.error);
    job.take(message.done === false || Boolean(message.wait), isOver);
    rememberInAddress(message, "race");
    if (message.error) refused("race");
  };
  const come = () => trigger("come");
  connectComponent(root, props, watch, { ...view, take }, { ask: come });
  whenShown(root, () => {
    if (!hasCome) come();
    hasCome = true;
  });
  /** @type {NodeListOf<HTMLElement>} */
  const groups = document.querySelectorAll("#rc-side .pg-chips");
  for (const group of groups) rove(group);
  const as = { written: withLanes, read: withFields };
  linkMoment("race", view.store, (values) => trigger("link", values), as);
  offerShown("race", view.store);
}

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

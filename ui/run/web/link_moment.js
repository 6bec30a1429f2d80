/* Connects a view of runs to the page's address, which keeps the form's values, the step
   on screen and the chosen lane. */
import { offerStep } from "../../shared/web/between_tabs.js";
import { formValues, withFormValues } from "../../shared/web/form_values.js";
import { linkChanged, linkView } from "../../shared/web/page_link.js";

/** @import { RunStore } from "./run_store.js" */

/**
 * @param {string} view
 * @param {RunStore} store
 * @param {(values: Record<string, any>) => void} fill puts values into the form
 * @param {{written?: (values: any) => any, read?: (values: any) => any}} [as] how the form's values
 *   are written into the address, and read from it
 */
export function linkMoment(view, store, fill, { written = same, read = same } = {}) {
  linkView(view, {
    read: () => ({ ...written(formValues(view)), ...momentOf(store) }),
    apply({ lane, step, ...values }) {
      if (lane !== undefined) once(store, hasLane(lane), () => store.choose(lane - 1));
      if (step !== undefined) once(store, hasStep(lane, step), () => store.seek(step));
      if (Object.keys(values).length)
        whenShown(store, () => withFormValues(view, (now) => fill({ ...now, ...read(values) })));
    },
    say: (words, isError) => whenShown(store, () => (isError ? failed : said)(store, words)),
  });
  let last = Object.values(momentOf(store)).join();
  store.onPaint(() => {
    const now = Object.values(momentOf(store)).join();
    if (now === last) return;
    last = now;
    linkChanged(view);
  });
}

/**
 * Let other views read the step on screen.
 * @param {string} view
 * @param {RunStore} store
 */
export function offerShown(view, store) {
  offerStep(view, () => {
    const step = store.view();
    return step && { step, label: store.meta.label ?? "" };
  });
}

const same = (values) => values;
const SAID = 4000; // ms that a notice stays

const failed = (store, error) => store.set({ error });

function said(store, notice) {
  store.set({ notice });
  setTimeout(() => store.notice === notice && store.set({ notice: null }), SAID);
}

// The step for the address: the one on screen. Null if no step is on screen. Also null while the
// run plays, while the newest step is followed, or while the whole text is shown. The lane is null
// if it is the one that is chosen at first.
/** @type {(store: RunStore) => {lane: number | null, step: number | null}} */
function momentOf({ chosen, first, at, playing, follow, isWhole }) {
  const isPlain = at < 0 || playing || follow || isWhole;
  return { lane: chosen === first ? null : chosen + 1, step: isPlain ? null : at };
}

const hasLane = (lane) => (store) => store.lanes.length >= lane && store.arrived.length > 0;

/** @type {(lane: number | undefined, step: number) => (store: RunStore) => boolean} */
const hasStep =
  (lane, step) =>
  ({ lanes, chosen, steps, done, last }) =>
    (lane === undefined || !lanes[lane - 1] || chosen === lane - 1) &&
    steps.length > 0 &&
    (done || last >= step);

// Wait for the first message of a run: that message clears any error or notice shown before it.
const whenShown = (store, act) => once(store, ({ name }) => name !== null, act);

function once(store, isTime, act) {
  let isOver = false;
  store.onPaint(() => {
    if (isOver || !isTime(store)) return;
    isOver = true;
    act();
  });
  store.changed();
}

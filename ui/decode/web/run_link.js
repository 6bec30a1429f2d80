/* The Decode tab's part of the page's address: the values of its form, and the step on screen. */
import { formValues, withFormValues } from "../../shared/web/form_values.js";
import { linkChanged, linkView } from "../../shared/web/page_link.js";

/** @import { RunStore } from "./run_store.js" */

/**
 * Connect the view to the page's address.
 * @param {RunStore} store
 * @param {(values: Record<string, any>) => void} fill puts values into the form
 */
export function linkRun(store, fill) {
  linkView("decode", {
    read: () => ({ ...formValues("decode"), step: shownStep(store) }),
    apply({ step, ...values }) {
      if (step !== undefined) seekWhenThere(store, step);
      if (Object.keys(values).length)
        whenRun(store, () => withFormValues("decode", (now) => fill({ ...now, ...values })));
    },
    say: (words, isError) =>
      whenRun(store, () => store.set({ [isError ? "error" : "notice"]: words })),
  });
  let last = null;
  store.onPaint(() => {
    const step = shownStep(store);
    if (step === last) return;
    last = step;
    linkChanged("decode");
  });
}

// The step for the address: the one on screen. Null if no step is on screen. Also null while the
// run plays, while the newest step is followed, or while the whole text is shown.
const shownStep = ({ at, playing, follow, isWhole }) =>
  at < 0 || playing || follow || isWhole ? null : at;

const seekWhenThere = (store, step) =>
  once(
    store,
    ({ steps, done, last }) => steps.length > 0 && (done || last >= step),
    () => store.seek(step),
  );

// Wait for the first message of a run: that message clears any error or notice shown before it.
const whenRun = (store, act) => once(store, ({ run }) => run !== null, act);

function once(store, isTime, act) {
  let isOver = false;
  store.onPaint(() => {
    if (isOver || !isTime(store)) return;
    isOver = true;
    act();
  });
  store.changed();
}

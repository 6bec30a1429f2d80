/* The Race tab's part of a link to the page: the values of the tab's form. */
import { formValues, withFormValues } from "../../shared/web/form_values.js";
import { linkView } from "../../shared/web/page_link.js";

/** @import { RaceStore } from "./race_store.js" */

const LANES = [1, 2, 3, 4];

/**
 * @param {RaceStore} store
 * @param {(values: Record<string, any>) => void} fill puts values into the form
 */
export function linkRace(store, fill) {
  linkView("race", {
    read: () => withLanes(formValues("race")),
    apply: (values) => {
      if (!Object.keys(values).length) return;
      withFormValues("race", (now) => fill({ ...now, ...withFields(values) }));
    },
    say: (words, isError) => store.set({ [isError ? "error" : "notice"]: words }),
  });
}

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

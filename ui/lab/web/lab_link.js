/* The Lab's part of a link to the page: the Lab's choices, as values in the address. */
import { choicesOf, choose } from "./lab_choices.js";
import { linkChanged, linkView } from "../../shared/web/page_link.js";

/** @import { Lab } from "./lab_view.js" */

const ORIGIN = { label: "imported", words: "from a link" };
const ROUNDING = 1e-4;
const KNOWN_MS = 3000; // longest wait for the server's acceptance vectors and hardware profiles
const LOOK_MS = 50; // between two looks at what has arrived

/**
 * Register the Lab with the page's link.
 * @param {Lab} lab
 */
export function linkLab(lab) {
  linkView("lab", {
    read: () => valuesOf(lab),
    apply: (values) => whenKnown(lab, () => apply(lab, values)),
    say: (words) => lab.answer.say(words),
  });
  lab.state.watch(() => linkChanged("lab"));
}

function valuesOf(lab) {
  const { kinds, ...choices } = choicesOf(lab);
  return { ...choices, ...kinds };
}

// A link without any value for the Lab changes nothing.
function apply(lab, values) {
  if (!Object.keys(values).length) return;
  const { sequences = null, kary = null, branching, n = null, levels = null, ...rest } = values;
  const kinds = { sequences, kary, ...(branching ? { branching } : {}) };
  const size = { n, ...(n === null && levels === null ? {} : { levels }) };
  report(lab, choose(lab, { ...rest, ...vectorOf(lab, values), ...size, kinds }));
}

// The link's `rates` or `vector` as `choose` needs them; empty if they need no change. A vector
// that is not in the menu may belong to models that are still being loaded. It is chosen after
// loading, unless the visitor has chosen or edited a vector by then.
function vectorOf(lab, { rates, vector }) {
  if (rates) return { rates: within1(rates), origin: ORIGIN };
  if (!vector || !lab.loading || lab.editor.has(vector)) return {};
  whenLoaded(lab, () => lab.isUntouched && report(lab, choose(lab, { vector })));
  return { vector: undefined };
}

function report(lab, unknown) {
  if (unknown.length) lab.answer.say(`Not available here: ${unknown.join(" and ")}.`);
}

// The rates of a link are rounded, so their sum may be slightly more than 1. They are then scaled
// to a sum of 1.
function within1(rates) {
  const sum = rates.reduce((total, rate) => total + rate, 0);
  return sum > 1 && sum < 1 + ROUNDING ? rates.map((rate) => rate / sum) : rates;
}

// Acts once the server's first message has filled the menus, or after KNOWN_MS.
function whenKnown(lab, act, since = performance.now()) {
  if ("survey" in lab.known || performance.now() - since > KNOWN_MS) return act();
  setTimeout(() => whenKnown(lab, act, since), LOOK_MS);
}

// Acts once no models are being loaded. The vectors of the new models are then in the menu.
function whenLoaded(lab, act) {
  if (!lab.loading) return act();
  setTimeout(() => whenLoaded(lab, act), LOOK_MS);
}

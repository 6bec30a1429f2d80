/* What the Lab contributes to the page's address. */
import { choicesOf, choose } from "./lab_choices.js";
import { linkChanged, linkView } from "../../shared/web/page_link.js";

/** @import { Lab } from "./lab_view.js" */

const ORIGIN = { label: "imported", words: "from a link" };
const ROUNDING = 1e-4;
const KNOWN_MS = 3000; // within which the server's vectors and profiles come

/** @param {Lab} lab */
export function linkLab(lab) {
  linkView("lab", {
    read: () => valuesOf(lab),
    apply: (values) => whenKnown(lab, () => apply(lab, values)),
    say: (words) => lab.numbers.say(words),
  });
  lab.state.watch(() => linkChanged("lab"));
}

function valuesOf(lab) {
  const { kinds, ...choices } = choicesOf(lab);
  return { ...choices, ...kinds };
}

// A link that names neither a vector nor a tree changes nothing.
function apply(lab, values) {
  if (!Object.keys(values).length) return;
  const { sequences = null, kary = null, branching, levels = null, rates, ...rest } = values;
  const kinds = { sequences, kary, ...(branching ? { branching } : {}) };
  const vector = rates ? { rates: within1(rates), origin: ORIGIN } : {};
  const unknown = choose(lab, { ...rest, ...vector, levels, kinds });
  if (unknown.length) lab.numbers.say(`Not known here: ${unknown.join(" and ")}.`);
}

// Rates are rounded in a link, so that those with the sum 1 may come to a little more.
function within1(rates) {
  const sum = rates.reduce((total, rate) => total + rate, 0);
  return sum > 1 && sum < 1 + ROUNDING ? rates.map((rate) => rate / sum) : rates;
}

// The menus are complete once the server has said what it knows.
function whenKnown(lab, act, since = performance.now()) {
  if ("survey" in lab.known || performance.now() - since > KNOWN_MS) return act();
  setTimeout(() => whenKnown(lab, act, since), 50);
}

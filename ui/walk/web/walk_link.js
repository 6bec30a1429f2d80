/* The Walk tab's values in the page's address: the toy (see toy.js) and its seed, or the recorded
   run and its step. A step on screen in Run or Film has no values in the address. An
   address without values shows the toy that the tab opens with, unless such a step is shown. */
import { linkChanged, linkView } from "../../shared/web/page_link.js";
import { verifierNamed } from "./rules/verifiers.js";
import { readShares } from "./shares.js";
import { LEAST_WORDS, MOST_CHILDREN, WORDS } from "./toy.js";

/** @import { WalkView } from "./walk_view.js" */

const DAMAGED = "The toy in this link cannot be shown";

/**
 * Connect the view to the page's address.
 * @param {WalkView} view
 */
export function linkWalk(view) {
  linkView("walk", {
    read: () => valuesOf(view),
    apply: (values) => apply(view, values),
    say: (words) => view.say(words),
  });
  view.link.changed = () => linkChanged("walk");
}

function valuesOf({ isOfView, isReal, real, toy, seed }) {
  if (isOfView) return {};
  return isReal ? { example: real.menu.value, step: real.at } : { ...toy, seed };
}

/** @type {(view: WalkView, values: Record<string, any>) => void} */
function apply(view, values) {
  const { example, step } = values;
  if (example) view.choose(true, { name: example, step });
  else if (values.p) applyToy(view, values);
  else if (!view.isOfView) view.restart();
}

/** @type {(view: WalkView, values: Record<string, any>) => void} */
function applyToy(view, values) {
  const { p, q = [], children = [1, 0], verifier = "sequoia", shape = "levels", seed = 1 } = values;
  const problem = problemOf(p, q, verifier) || childrenProblem(children);
  if (problem) return view.say(`${DAMAGED}: ${problem}`);
  view.form.put({ p, q, children, verifier, shape });
  view.choose(false);
  view.takeToy(view.form.toy, seed);
}

function problemOf(p, q, verifier) {
  const wanted = `both need the same number, at least ${LEAST_WORDS}`;
  if (p.length !== q.length || p.length < LEAST_WORDS)
    return `p has ${p.length} values and q has ${q.length}; ${wanted}.`;
  if (!verifierNamed(verifier)) return `“${verifier}” is not a known verifier.`;
  const [one, other] = [p, q].map((values, i) => readShares("pq"[i], values.map(String), WORDS));
  return one.problem?.words ?? other.problem?.words ?? "";
}

function childrenProblem(children) {
  if (children[0] < 1) return "its root has no children; it needs at least 1.";
  const at = children.findIndex((count, i) => count > MOST_CHILDREN[i]);
  if (at < 0) return "";
  const most = `at most ${MOST_CHILDREN[at]} are possible`;
  return `a node on level ${at + 1} has ${children[at]} children; ${most}.`;
}

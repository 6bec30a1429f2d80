/* A step in slow motion, as a series of still pictures. First the draft adds one level after
   another. Then the target checks all nodes in one pass. Then the verifier walks through the tree
   and tries one child after another (the verifier Traversal: one path after another). The last
   picture shows the result. Nothing is drawn here: a picture is plain data. */
import * as captions from "./step_captions.js";

/** @import { StepView } from "./step_view.js" */

/** @typedef {"guess" | "check" | "walk" | "result"} Phase */

/**
 * One picture.
 * @typedef {object} StepFrame
 * @property {Phase} phase
 * @property {string[]} states of the nodes: those of StepView, or "hidden" (not drafted yet),
 *   "checked" (during the target's pass), or "drafted" (not decided)
 * @property {boolean} hasBonus whether the token from the target is visible
 * @property {number | null} trial index of the trial (of a child or a path) that is shown; null if
 *   none is
 * @property {string} words the caption
 * @property {number} hold seconds for which the picture is shown in slow motion
 */

// Seconds for which pictures are shown.
const LEVEL = 0.55;
const ALL_LEVELS = 2.6; // at most, for all levels together; the last one gets LEVEL more
const PASS = 1.6;
const TRIAL = 0.85;
const TURN = 1.9; // for the rejection that ends a chain's step, while the tree has a next guess
const ALL_TRIALS = 6; // at most, for all other trials together
const RESULT = 2.4;

/**
 * All pictures of a step.
 * @param {StepView} step
 * @returns {StepFrame[]}
 */
export function stepFrames(step) {
  return [...guesses(step), check(step), ...walk(step), result(step)];
}

/**
 * Whether a step has any picture of a phase.
 * @param {StepView} step
 * @param {Phase} phase
 * @returns {boolean}
 */
export function hasPhase({ topo, trials }, phase) {
  if (phase === "guess") return topo.levels > 1;
  return phase !== "walk" || trials.length > 0;
}

/** @type {(step: StepView) => StepFrame[]} */
function guesses(step) {
  const { topo } = step;
  const count = topo.levels - 1;
  const hold = Math.min(LEVEL, ALL_LEVELS / Math.max(count, 1));
  return Array.from({ length: count }, (_, k) => ({
    phase: "guess",
    states: drawnAs(step, (node) => (topo.depth[node] <= k + 1 ? "drafted" : "hidden")),
    hasBonus: false,
    trial: null,
    words: captions.guess(step, k + 1),
    hold: k + 1 < count ? hold : hold + LEVEL,
  }));
}

/** @type {(step: StepView) => StepFrame} */
const check = (step) => ({
  phase: "check",
  states: drawnAs(step, () => "checked"),
  hasBonus: false,
  trial: null,
  words: captions.check(step),
  hold: PASS,
});

// A picture after each trial.
/** @type {(step: StepView) => StepFrame[]} */
function walk(step) {
  const { trials, topo } = step;
  const hold = Math.min(TRIAL, ALL_TRIALS / Math.max(trials.length, 1));
  return trials.map((trial, i) => {
    const tried = new Map(trials.slice(0, i + 1).map((one) => [one.node, one.accepted]));
    const accepted = [...tried.keys()].filter((node) => tried.get(node));
    const chosen = new Map(accepted.map((node) => [topo.parents[node], node]));
    const isPassed = (node) => (chosen.get(topo.parents[node]) ?? node) !== node;
    const isDropped = (node) => {
      for (let up = topo.parents[node]; up > 0; up = topo.parents[up])
        if (tried.get(up) === false || isPassed(up)) return true;
      return false;
    };
    const stateOf = (node) => {
      if (tried.has(node)) return tried.get(node) ? "accepted" : "rejected";
      if (isDropped(node)) return "never";
      return isPassed(node) ? "untested" : "drafted";
    };
    return {
      phase: "walk",
      // with Traversal, an accepted path decides all nodes
      states: step.fromLeaves && trial.accepted ? step.state : drawnAs(step, stateOf),
      hasBonus: false,
      trial: i,
      words: captions.trial(step, i),
      hold: captions.chainEnd(step) === i ? TURN : hold,
    };
  });
}

/** @type {(step: StepView) => StepFrame} */
const result = (step) => ({
  phase: "result",
  states: step.state,
  hasBonus: step.kind !== "none",
  trial: null,
  words: captions.result(step),
  hold: RESULT,
});

function drawnAs({ topo }, stateOf) {
  return topo.parents.map((_, node) => (node ? stateOf(node) : "root"));
}

/* Words about a run: its badge, its verifier, and why a run ended. */
import * as dom from "./dom.js";
import { readable } from "./format.js";
import VERIFIERS from "./verifiers.json" with { type: "json" };

/** @import { Meta } from "./run_facts.js" */

/** @type {Record<string, string>} why a run ended or paused */
const ENDS = {
  eos: "end of text",
  length: "token limit reached",
  context: "context is full",
  stopped: "stopped",
  time: "time limit reached",
  paused: "paused",
  broken: "stopped by an error",
};

/**
 * A time with its source, such as "3 ms (measured)".
 * @param {string} time
 * @param {string} word the source; empty if there is none
 * @returns {string}
 */
export const sourced = (time, word) => time + (word ? " (" + word + ")" : "");

/**
 * Write the source of a run's numbers into its badge.
 * @param {HTMLElement} node the badge
 * @param {Meta | null} meta null: there is no run yet
 * @param {boolean} done whether it has ended or paused
 */
export function paintBadge(node, meta, done) {
  if (meta && isSimulated(meta)) {
    paintSimulated(node, meta);
    if (isHypothetical(meta)) dom.text(node, "hypothetical, " + simulatedFor(meta));
  } else paintLabel(node, meta, done);
}

function paintLabel(node, meta, done) {
  const label = meta?.label || "";
  const at = /^\d{4}-\d\d-\d\d (\d\d:\d\d)/.exec(String(meta?.date ?? ""));
  const isOver = label === "measured" && done;
  dom.text(node, meta ? badgeWords(label || "run", isOver, at) : "no run yet");
  dom.attr(node, "title", isOver && at ? "Measured on this machine, " + at[0] : null);
  node.dataset.label = meta ? label : "none";
}

/**
 * Whether the step times of a run are simulated. Its tokens and trees are real.
 * @param {Meta} meta
 * @returns {boolean}
 */
export const isSimulated = ({ label, clock }) => label === "simulated" && Boolean(clock);

/**
 * A sentence that says what is real in a simulated run.
 * @param {Meta} meta
 * @returns {string}
 */
export const simulatedWords = ({ clock }) =>
  `Simulated: tokens and trees are real, step times come from the profile “${readable(clock)}”.`;

/**
 * Whether the step times of a run are of other models than its acceptance.
 * @param {Meta} meta
 * @returns {boolean}
 */
export const isHypothetical = (meta) => isSimulated(meta) && Boolean(meta.hypothetical);

/**
 * The code that colours a verdict: a hypothetical success has not the colour of a real one.
 * @param {Meta} meta
 * @param {string | undefined} code of the verdict
 * @returns {string | null} null without a verdict
 */
export const verdictColour = (meta, code) =>
  code === "win" && isHypothetical(meta) ? "hypothetical" : (code ?? null);

/**
 * What is mixed in a hypothetical run, and what the paper measured with the models and the
 * card of its clock, if it did.
 * @param {Meta} meta
 * @returns {string} "" if nothing is mixed
 */
export function mixtureWords(meta) {
  if (!isHypothetical(meta)) return "";
  const words = "Step times and acceptance are of different models.";
  return [words, paperWords(meta)].filter(Boolean).join(" ");
}

/** @type {(meta: Meta) => string} */
function paperWords({ paper }) {
  if (!paper) return "";
  const { ratio, target, draft, machine, source } = paper;
  const models = `${target} with ${draft}, ${machine}, ${source}`;
  return readable(`Paper: ${ratio.toFixed(2)}× at best (${models}).`);
}

/**
 * Write the badge of a simulated run.
 * @param {HTMLElement} node the badge
 * @param {Meta} meta
 */
export function paintSimulated(node, meta) {
  dom.text(node, simulatedFor(meta));
  const title = [simulatedWords(meta), mixtureWords(meta), readable(meta.clock_note)]
    .filter(Boolean)
    .join("\n");
  dom.attr(node, "title", title);
  node.dataset.label = "simulated";
}

/** @type {(meta: Meta) => string} */
const simulatedFor = ({ clock_machine: machine, clock }) =>
  "simulated for " + readable(machine ?? `“${clock}”`);

function badgeWords(label, isOver, at) {
  if (isOver) return "measured here" + (at ? ", " + at[1] : "");
  return label === "measured" ? "measured live" : label;
}

/**
 * The label of a verifier, such as "top-k match".
 * @param {string} name its name in the code
 * @returns {string}
 */
export const verifier = (name) => VERIFIERS[name]?.label ?? name;

/**
 * Why a run ended or paused, such as "token limit reached".
 * @param {string} reason a key of ENDS
 * @returns {string}
 */
export const finish = (reason) => ENDS[reason] || reason;

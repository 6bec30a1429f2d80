/* Words about a run: its badge, its verifier, why it ended. */
import * as dom from "./dom.js";
import { readable } from "./format.js";

/** @import { Meta } from "./run_facts.js" */

/** @type {Record<string, [string, string]>} why a run ended: as its verb, and by itself */
const ENDS = {
  eos: ["finished at the end of text", "end of text"],
  length: ["finished at its token limit", "token limit reached"],
  context: ["finished with its context full", "context is full"],
  stopped: ["stopped", "stopped"],
  time: ["stopped at its time limit", "time limit reached"],
  paused: ["paused", "paused"],
  broken: ["broken off", "broken off"],
};

const BEGINS_WITH_VOWEL = /^([AEIO]|[FHLMNRSX](?=[A-Z0-9]))/; // by its sound, as in "RTX"
/** @type {Record<string, string>} */
const VERIFIERS = {
  sequoia: "Sequoia",
  specinfer: "SpecInfer",
  topk: "top-k match",
  traversal: "Traversal",
};

/**
 * A time with where it comes from.
 * @param {string} time
 * @param {string} word "measured" or the like
 * @returns {string}
 */
export const sourced = (time, word) => time + (word ? " (" + word + ")" : "");

/**
 * Where the numbers of a `kind` come from, into its badge; without `meta` there are none. What was
 * measured was measured on the server's machine.
 * @param {HTMLElement} node
 * @param {Meta | null} meta
 * @param {boolean} done
 * @param {string} kind "run" or "race"
 */
export function paintBadge(node, meta, done, kind) {
  if (meta && isSimulated(meta)) paintSimulated(node, meta);
  else paintLabel(node, meta, done, kind);
}

function paintLabel(node, meta, done, kind) {
  const label = meta?.label || "";
  const at = /^\d{4}-\d\d-\d\d (\d\d:\d\d)/.exec(String(meta?.date ?? ""));
  const isOver = label === "measured" && done;
  dom.text(node, meta ? badgeWords(label || kind, isOver, at) : "no " + kind + " yet");
  dom.attr(node, "title", isOver && at ? "Measured on this machine, " + at[0] : null);
  node.dataset.label = meta ? label : "none";
}

/**
 * Whether the step times of a run are those of another machine. Its tokens and trees are real.
 * @param {Meta} meta
 * @returns {boolean}
 */
export const isSimulated = ({ label, clock }) => label === "simulated" && Boolean(clock);

/**
 * The other machine in a few words: the part of its name that comes before the models.
 * @param {Meta} meta of a simulated run
 * @returns {string}
 */
export function asOn({ clock }) {
  const [machine] = readable(clock).split(",");
  if (/^(an?|the) /i.test(machine)) return "as on " + machine;
  return `as on ${BEGINS_WITH_VOWEL.test(machine) ? "an" : "a"} ${machine}`;
}

/**
 * Where the numbers of a simulated run come from, in a sentence.
 * @param {Meta} meta
 * @returns {string}
 */
export const simulatedWords = ({ clock }) =>
  `Simulated: real tokens and trees; step times of the profile “${readable(clock)}”.`;

/**
 * The badge of a simulated run.
 * @param {HTMLElement} node
 * @param {Meta} meta
 */
export function paintSimulated(node, meta) {
  dom.text(node, "simulated: " + asOn(meta));
  const title = [simulatedWords(meta), readable(meta.clock_note)].filter(Boolean).join("\n");
  dom.attr(node, "title", title);
  node.dataset.label = "simulated";
}

function badgeWords(label, isOver, at) {
  if (isOver) return "measured here" + (at ? ", " + at[1] : "");
  return label === "measured" ? "measured live" : label;
}

/**
 * A verifier as the menus call it.
 * @param {string} name
 * @returns {string}
 */
export const verifier = (name) => VERIFIERS[name] || name;

/**
 * Why a run ended.
 * @param {string} reason
 * @returns {string}
 */
export const finish = (reason) => ENDS[reason]?.[1] || reason;

/**
 * The same as a verb.
 * @param {string} reason
 * @returns {string}
 */
export const finished = (reason) => ENDS[reason]?.[0] || "ended";

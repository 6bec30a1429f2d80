/* Words about a run: its badge, its verifier, why it ended. */
import * as dom from "./dom.js";

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

/** @type {Record<string, string>} */
const VERIFIERS = { sequoia: "Sequoia", specinfer: "SpecInfer", topk: "top-k match" };

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
  const label = meta?.label || "";
  const at = /^\d{4}-\d\d-\d\d (\d\d:\d\d)/.exec(String(meta?.date ?? ""));
  const isOver = label === "measured" && done;
  dom.text(node, meta ? badgeWords(label || kind, isOver, at) : "no " + kind + " yet");
  dom.attr(node, "title", isOver && at ? "Measured on this machine, " + at[0] : null);
  node.dataset.label = meta ? label : "none";
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

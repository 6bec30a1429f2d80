/* What was measured is recorded once it is in a file. */

/**
 * A label in a file: what was measured then is recorded now. Other labels stay.
 * @param {string} label
 * @returns {string}
 */
export const recordedLabel = (label) => (label === "measured" ? "recorded" : label);

/**
 * The meta of a run or a race, as it is stored in a file.
 * @param {Record<string, any>} meta
 * @returns {Record<string, any>}
 */
export function recordedMeta(meta) {
  const label = meta.label === "simulated" ? "simulated" : "recorded";
  /** @type {Record<string, any>} */
  const saved = { ...meta, label };
  if (meta.tree?.rates) saved.tree = { ...meta.tree, rates: recordedLabel(meta.tree.rates) };
  if (meta.speedup) saved.speedup = { ...meta.speedup, label };
  delete saved.again; // a file cannot be run again
  return saved;
}

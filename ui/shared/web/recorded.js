/* What was measured is recorded once it is in a file. */

/**
 * A label in a file: what was measured then is recorded now. Other labels stay.
 * @param {string} label
 * @returns {string}
 */
export const recordedLabel = (label) => (label === "measured" ? "recorded" : label);

/**
 * The meta of a run, as it is stored in a file.
 * @param {Record<string, any>} meta
 * @returns {Record<string, any>}
 */
export function recordedMeta(meta) {
  const label = meta.label === "simulated" ? "simulated" : "recorded";
  return { ...meta, label };
}

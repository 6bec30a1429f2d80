/* The contents of the saved page of a race. */
import { recordedMeta, relabelled } from "../../shared/web/save_page.js";

/** @import { RaceStore } from "./race_store.js" */

/**
 * The fields of one message with the whole race. `race`, `from` and `done` are added when the saved
 * page is opened. The further runs (`pool`) are included, but a saved page cannot make more.
 * @param {RaceStore} store
 * @returns {any}
 */
export const raceData = ({ meta, lanes, trees, steps, stopped, results, verdict, pool }) => ({
  v: 1,
  meta: recordedMeta(meta),
  lanes: lanes.map((lane) => ({ ...lane, how: relabelled(lane.how) })),
  trees,
  moves: steps,
  stopped,
  results: relabelled(results),
  ...(verdict ? { verdict } : {}),
  ...(pool ? { pool: { ...pool, more: 0, planned: null } } : {}),
});

/* Saves the race on screen as one HTML file. */
import { raceFacts } from "./race_header.js";
import { readable } from "../../shared/web/format.js";
import { factLines } from "../../shared/web/run_facts.js";
import { pageName, recordedMeta, relabelled, savePage } from "../../shared/web/save_page.js";

/** @import { RaceStore } from "./race_store.js" */

const WIDE = 160; // characters of a line of facts

/**
 * Save the race that the Race tab shows; a problem becomes a message of the view.
 * @returns {Promise<void>}
 */
export async function saveShown() {
  /** @type {any} */
  const stage = document.querySelector("#rc-view .sq-stage");
  await saveRace(stage.view.store);
}

/**
 * Save a race; a problem becomes its `error`.
 * @param {RaceStore} store
 * @returns {Promise<void>}
 */
export async function saveRace(store) {
  const problem = whyNot(store);
  if (problem) return store.set({ error: `Not saved: ${problem}` });
  const data = raceData(store);
  const { meta } = data;
  try {
    await savePage({
      view: "race",
      name: pageName("race", meta.date),
      title: raceTitle(meta),
      facts: factLines({}, raceFacts(meta), WIDE),
      data,
    });
  } catch (failure) {
    store.set({ error: `Not saved: ${failure.message}` });
  }
}

/** @type {(store: RaceStore) => string} */
function whyNot({ steps, done }) {
  if (!steps.length) return "there is no race on screen; start one or open a file first";
  if (steps.includes(null)) return "some of its steps did not arrive; run the race again";
  return done ? "" : "the race is not over yet; save it when it has ended, or stop it first";
}

/**
 * The race as one message, as the server sends a recorded one.
 * @param {RaceStore} store
 * @returns {any}
 */
export const raceData = ({ meta, lanes, trees, steps, stopped, results, verdict }) => ({
  v: 1,
  meta: recordedMeta(meta),
  lanes: lanes.map((lane) => ({ ...lane, how: relabelled(lane.how) })),
  trees,
  moves: steps,
  stopped,
  results: relabelled(results),
  ...(verdict ? { verdict } : {}),
});

/**
 * @param {Record<string, any>} meta
 * @returns {string}
 */
export function raceTitle({ label, target, draft }) {
  const models = [target, draft].filter(Boolean).map(readable).join(" + ");
  return ["Sequoia: a " + label + " race", models].filter(Boolean).join(", ");
}

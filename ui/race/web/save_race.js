/* Saves the race on screen as one HTML file. */
import { raceData } from "./race_data.js";
import { raceFacts } from "./race_header.js";
import { pageLines } from "../../shared/web/run_facts.js";
import { saveRecording } from "../../shared/web/save_page.js";

/** @import { RaceStore } from "./race_store.js" */

/**
 * Save the race that the Race tab shows. If that fails, the view shows why.
 * @returns {Promise<void>}
 */
export async function saveShown() {
  /** @type {any} */
  const stage = document.querySelector("#rc-view .sq-stage");
  await saveRace(stage.view.store);
}

/**
 * Save a race. If that fails, the store's `error` says why.
 * @param {RaceStore} store
 * @returns {Promise<void>}
 */
const saveRace = (store) =>
  saveRecording(store, {
    view: "race",
    what: "race",
    start: "start one",
    data: raceData,
    hasCharts: true,
    facts: (meta) => pageLines(raceFacts(meta)),
  });

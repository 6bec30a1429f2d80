/* Saves the run on screen as one HTML file. */
import { recordedMeta } from "../../shared/web/recorded.js";
import { saveShownIn } from "../../shared/web/save_page.js";

/** @import { RunStore } from "../../run/web/run_store.js" */

/**
 * Save the run that the Decode tab shows. If that fails, the view shows why.
 * @returns {Promise<void>}
 */
export const saveShown = () =>
  saveShownIn("#pg-view", {
    view: "decode",
    what: "run",
    start: "run one",
    data: runData,
    hasCharts: false,
  });

/**
 * The run as the data of a saved page. It has the form of a message from the server
 * (ui/decode/messages.py). The script saved_page.js adds the fields that are the same for all runs.
 * @param {RunStore} store
 * @returns {any}
 */
const runData = ({ meta, trees, pieces, arrived, reason, tail }) => ({
  meta: recordedMeta(meta),
  trees: trees.map(({ parents }) => parents),
  pieces: Object.fromEntries(pieces),
  steps: arrived,
  end: reason,
  tail,
});

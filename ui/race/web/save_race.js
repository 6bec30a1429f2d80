/* Saves the race on screen as one HTML file. */
import { raceData } from "./race_data.js";
import { saveShownIn } from "../../shared/web/save_page.js";

/**
 * Save the race that the Race tab shows. If that fails, the view shows why.
 * @returns {Promise<void>}
 */
export const saveShown = () =>
  saveShownIn("#rc-view", {
    view: "race",
    what: "race",
    start: "start one",
    data: raceData,
    hasCharts: true,
  });

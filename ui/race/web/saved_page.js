/* The script of a race that was saved as a web page. */
import { raceFacts } from "./race_header.js";
import { mountRace } from "./race_view.js";
import { openSavedPage } from "../../shared/web/opened_page.js";
import { pageLines } from "../../shared/web/run_facts.js";

/**
 * Show the race in this page and play it.
 * @returns {Promise<void>}
 */
export const openPage = () =>
  openSavedPage(
    (stage, race) => {
      const view = mountRace(stage);
      Object.assign(stage, { view });
      view.ingest({ ...race, race: "saved", from: 0, done: true });
    },
    ({ meta }) => pageLines(raceFacts(meta)),
  );

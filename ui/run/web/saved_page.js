/* The script of a saved page: one HTML file that contains a run. */
import { mountRun } from "./run_view.js";
import { openSavedPage } from "../../shared/web/opened_page.js";
import { pageLines, runFacts } from "../../shared/web/run_facts.js";

/**
 * Show the run that the page contains, and play it.
 * @returns {Promise<void>}
 */
export const openPage = () =>
  openSavedPage(
    (stage, run) => {
      const view = mountRun(stage);
      Object.assign(stage, { view });
      view.ingest({ ...run, run: "saved", from: 0, done: true });
    },
    ({ meta }) => pageLines(runFacts(meta)),
  );

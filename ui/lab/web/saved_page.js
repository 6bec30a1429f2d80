/* The Lab in a saved page. */
import { choose } from "./lab_choices.js";
import { mountLab } from "./lab_view.js";
import { openSavedPage } from "../../shared/web/opened_page.js";

/**
 * Show the saved Lab.
 * @returns {Promise<void>}
 */
export const openPage = () =>
  openSavedPage(
    (stage, { known, choices }) => {
      stage.classList.add("sq-lab");
      const view = mountLab(stage);
      Object.assign(stage, { view });
      view.lab.machine.place = "the machine this page was saved on";
      view.ingest(known);
      choose(view.lab, choices);
    },
    ({ facts }) => facts,
  );

/* The Lab in a saved page. */
import { choose } from "./lab_choices.js";
import { Lab } from "./lab_view.js";
import { openSavedPage } from "../../shared/web/opened_page.js";

/**
 * Show the saved Lab.
 * @returns {Promise<void>}
 */
export const openPage = () =>
  openSavedPage(
    (stage, { known, choices }) => {
      stage.classList.add("sq-lab");
      const lab = new Lab(stage);
      Object.assign(stage, { view: lab });
      lab.machine.place = "the machine this page was saved on";
      lab.take(known);
      choose(lab, choices);
    },
    ({ facts }) => facts,
  );

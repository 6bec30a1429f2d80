/* What is shown on demand: charts, the check of losslessness, and where the time went. It is built
   when it is first opened. */
import { DistributionCheck } from "./distribution_check.js";
import { RunCharts } from "./run_charts.js";
import { WhereTimeWent } from "./where_time_went.js";
import { makeFold } from "../../shared/web/panel.js";

/**
 * @import { Page } from "./run_view.js"
 * @import { RunStore } from "./run_store.js"
 */

/** The fold. */
export class Analysis {
  /** @type {{paint: () => void}[]} */
  panels = [];

  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {Page} page
   */
  constructor(store, host, page) {
    this.store = store;
    this.page = page;
    this.root = makeFold(host, "Charts and analysis", "analysis");
    this.root.classList.add("run-analysis");
    this.root.addEventListener("toggle", () => store.changed());
  }

  paint() {
    const { store, root, page } = this;
    if (!root.open) return;
    if (!this.panels.length)
      this.panels = [
        new RunCharts(store, root),
        new DistributionCheck(store, root),
        new WhereTimeWent(store, root, page.trigger),
      ];
    for (const panel of this.panels) panel.paint();
  }
}

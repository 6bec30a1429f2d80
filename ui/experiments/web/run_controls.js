/* The buttons Run and Stop, and the progress of a run. */
import { makeBanner } from "../../shared/web/banner.js";
import { button, el, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";
import { progressBar } from "../../shared/web/progress_bar.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @import { ExperimentsState } from "./experiments_state.js" */

/** The controls of the chosen experiment. Stop ends the run in progress, even if it is a run of
 * another experiment. */
export class RunControls {
  /**
   * @param {HTMLElement} host
   * @param {{run: () => void, halt: () => void}} acts
   */
  constructor(host, { run, halt }) {
    this.root = el("div", { class: "xp-run" }, host);
    const line = el("div", { class: "xp-line" }, this.root);
    this.run = button(line, {
      text: "Run",
      cls: "xp-go",
      hint: TOOLTIPS["button run experiment"],
      part: "run",
      act: run,
    });
    this.stop = button(line, {
      text: "Stop",
      hint: TOOLTIPS["button stop experiment"],
      part: "stop",
      act: halt,
    });
    this.words = el("span", { class: "xp-dim", role: "status", "data-part": "progress" }, line);
    this.bar = progressBar(this.root, "Parts done");
    this.say = makeBanner(this.root);
  }

  /** @param {ExperimentsState} state */
  paint(state) {
    const { run, going, experiment } = state;
    text(this.run.querySelector("span"), state.action);
    this.run.disabled = going || !experiment;
    this.stop.disabled = !going;
    text(this.words, this.progressWords(state));
    this.bar(going ? (run.share ?? 0) : null);
    const { words, isError } = state.banner;
    this.say(words, isError);
  }

  /** @type {(state: ExperimentsState) => string} */
  progressWords({ run, going, experiment, chosen, list }) {
    if (!going)
      return experiment
        ? `A run from this page is a small version of this experiment with the loaded pair. It has ${count(experiment.units, "part")}, each with one prompt.`
        : "";
    const words = run.words ?? "";
    if (run.name === chosen) return words;
    const other = list.find(({ name }) => name === run.name)?.title ?? "Another experiment";
    return `“${other}” is running: ${words}`;
  }
}

/* The panel with two terminal commands. One runs the same small version of the experiment as the
   Run button, the other records a full result. Both use the bundled pair of models in float32. */
import { el, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";

/** @import { Listed } from "./experiments_state.js" */

/** The panel below the results. */
export class CommandPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "command", title: "Run it from a terminal", cls: "xp-command" };
    const { body } = makePanel(host, about);
    this.small = line(
      body,
      "This runs the same small version as the Run button, but always with the bundled pair in float32:",
    );
    this.full = line(body, "This runs the full experiment and replaces the recorded result:");
  }

  /** @param {Listed | undefined} experiment */
  show(experiment) {
    text(this.small, experiment?.command ?? "");
    text(this.full, experiment?.full ?? "");
  }
}

function line(host, words) {
  const row = el("p", {}, host);
  el("span", { class: "xp-dim", text: words + " " }, row);
  return el("code", {}, row);
}

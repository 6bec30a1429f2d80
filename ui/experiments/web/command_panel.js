/* The panel with two commands for the bundled pair: one runs the same units as Run, the other
   records a full result. Both use float32. */
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
      "The same small experiment as with the Run button, for the bundled pair in float32:",
    );
    this.full = line(body, "The full experiment; its result replaces the recorded one:");
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

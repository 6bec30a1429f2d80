/* The commands that do the same as Run, and that record a full result. */
import { el, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";

/** @import { Listed } from "./experiments_state.js" */

/** The panel below the results. */
export class CommandPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "command", title: "Run it from a terminal", cls: "xp-command" };
    const { body } = makePanel(host, about);
    this.small = line(body, "what Run does:");
    this.full = line(body, "the full experiment, which records the result:");
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

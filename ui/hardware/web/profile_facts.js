/* The panel that shows where a hardware profile comes from: device, models, date and so on. A
   button exports the profile. */
import { button, el, show, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";
import { dtypes } from "../../shared/web/run_facts.js";
import { saveText } from "../../shared/web/save_file.js";
import { addTerm } from "../../shared/web/tooltips.js";

/** @typedef {import("./hardware_view.js").Profile} Profile */

const TERMS = { Device: "on", Prefix: "prefix", Precision: "precision" };

/** The panel. */
export class ProfileFacts {
  file = "";
  name = "";

  /** @param {HTMLElement} host */
  constructor(host) {
    const panel = makePanel(host, { part: "facts", title: "Profile", cls: "hw-facts" });
    this.list = el("dl", { class: "sq-facts" }, panel.body);
    this.note = el("p", { class: "sq-foot-note", "data-part": "note" }, panel.body);
    const label = "Export the profile as JSON";
    const save = button(panel.tools, { text: "Export", label });
    save.addEventListener("click", () => this.export());
  }

  /**
   * @param {Profile} profile
   * @param {string} file the profile as JSON
   */
  show(profile, file) {
    this.file = file;
    this.name = profile.name;
    this.list.replaceChildren();
    for (const [name, value] of facts(profile)) {
      const head = el("dt", {}, this.list);
      if (TERMS[name]) addTerm(head, name, TERMS[name]);
      else text(head, name);
      el("dd", { text: value, title: value }, this.list);
    }
    text(this.note, profile.note);
    show(this.note, Boolean(profile.note));
  }

  export() {
    const name = this.name.replace(/[^\w.-]+/g, "-").slice(0, 40);
    saveText(`sequoia-profile-${name}.json`, this.file);
  }
}

function facts({ label, device, dtype, target, draft, prefix, date, versions }) {
  const known = Object.entries(versions).map((pair) => pair.join(" "));
  return [
    ["Source", label],
    ["Device", device],
    ["Precision", dtypes(dtype)],
    ["Target", target],
    ["Draft", draft],
    ["Prefix", prefix ? `${prefix} tokens` : "not given"],
    ["Date", date],
    ["Versions", known.join(", ") || "not given"],
  ];
}

/* Whose times are planned with: this machine's, or those of another profile. */
import { attr, el, show, text } from "../../shared/web/dom.js";

const HERE = "here";
const SOURCES = { paper: "from the paper", recorded: "recorded there", simulated: "simulated" };

/** @typedef {import("../../shared/web/planner.js").Profile} Profile */
/** @typedef {{key: string, name: string, note: string, profile: Profile}} OtherProfile */

/** A menu of profiles, and what is known of the chosen one. */
export class WhatIf {
  /** @type {OtherProfile[]} */
  others = [];
  /** @type {Profile | null} */
  here = null;
  note = "";
  place = "this machine"; // where `here` was timed, in words

  /**
   * @param {HTMLElement} host
   * @param {import("./lab_state.js").LabState} state
   * @param {() => void} onChoose called when a person chose a profile
   */
  constructor(host, state, onChoose) {
    this.state = state;
    const line = el("div", { class: "sq-lab-line sq-lab-whatif" }, host);
    el("span", { class: "sq-lab-field", text: "Timings from" }, line);
    const menu = { class: "sq-input sq-lab-menu", "data-part": "whatif" };
    const name = "Timings from: hardware profile to plan with";
    this.menu = el("select", { ...menu, "aria-label": name }, line);
    this.menu.addEventListener("change", () => {
      this.choose(this.menu.value);
      if (state.profile) onChoose();
    });
    this.badge = el("span", { class: "sq-badge" }, line);
    this.words = el("p", { class: "sq-lab-says", "data-part": "whatif-words" }, host);
    this.offer();
  }

  /**
   * What is undefined stays as it is.
   * @param {Profile | null} [here] this machine's profile
   * @param {OtherProfile[]} [others]
   */
  take(here, others) {
    if (here !== undefined) this.here = here;
    if (others !== undefined) this.others = others;
    this.offer();
    this.choose(this.menu.value);
  }

  offer() {
    const value = this.menu.value || HERE;
    const here = this.place + (this.here ? "" : " (not timed yet)");
    this.menu.replaceChildren(el("option", { value: HERE, text: here }));
    for (const { key, name, profile } of this.others)
      el("option", { value: key, text: `what if: ${name} (${profile.source})` }, this.menu);
    this.menu.value = value;
    if (!this.menu.value) this.menu.value = HERE;
  }

  /**
   * @param {string} key
   * @returns {boolean} whether the menu has it
   */
  has(key) {
    return key === HERE || this.others.some((one) => one.key === key);
  }

  /** @param {string} key of a profile in the menu */
  select(key) {
    this.menu.value = key;
    this.choose(key);
  }

  /** The chosen profile's name; null for that of this machine. */
  get name() {
    return this.state.elsewhere;
  }

  choose(key) {
    const other = this.others.find((one) => one.key === key);
    this.note = other?.note || "";
    this.state.set({ profile: other?.profile ?? this.here, elsewhere: other?.name ?? null });
  }

  paint() {
    const { profile, elsewhere } = this.state;
    show(this.badge, Boolean(profile));
    show(this.words, Boolean(elsewhere));
    if (!profile) return;
    text(this.badge, profile.source);
    attr(this.badge, "data-label", profile.source);
    attr(this.words, "title", this.note);
    text(this.words, elsewhere ? hypothetical(profile) : "");
  }
}

function hypothetical({ device, target, draft, source }) {
  const times = SOURCES[source] || source;
  return `Hypothetical: ${device}, ${target} with ${draft}. Its times are ${times}; nothing was measured here. A run still uses this machine.`;
}

/* Whose times are planned with: this machine's, or what if it were another. The chosen tree follows at once. */
import { attr, el, show, text } from "../../shared/web/dom.js";

const HERE = "here";
const FROM = { paper: "taken from the paper", recorded: "recorded there", simulated: "made up" };

export class WhatIf {
  /** onChoose(): a person chose; the fastest tree with these times is to be shown. */
  constructor(host, state, onChoose) {
    this.state = state;
    this.others = [];
    this.here = null;
    const line = el("label", { class: "sq-lab-line sq-lab-whatif" }, host);
    el("span", { class: "sq-lab-field", text: "Times of" }, line);
    this.menu = el(
      "select",
      {
        class: "sq-input sq-lab-menu",
        "aria-label": "Hardware profile to plan with",
        "data-part": "whatif",
      },
      line,
    );
    this.menu.addEventListener("change", () => {
      this.choose(this.menu.value);
      if (this.state.profile) onChoose();
    });
    this.badge = el("span", { class: "sq-badge" }, line);
    this.words = el("p", { class: "sq-lab-says", "data-part": "whatif-words" }, host);
    this.offer();
  }

  /** This machine's profile, and others as [{key, name, note, profile}]; what is undefined stays. */
  take(here, others) {
    if (here !== undefined) this.here = here;
    if (others !== undefined) this.others = others;
    this.offer();
    this.choose(this.menu.value);
  }

  offer() {
    const value = this.menu.value || HERE;
    this.menu.replaceChildren(
      el("option", {
        value: HERE,
        text: this.here ? "this machine" : "this machine (not timed yet)",
      }),
    );
    for (const { key, name, profile } of this.others)
      el("option", { value: key, text: `what if: ${name} (${profile.source})` }, this.menu);
    this.menu.value = value;
    if (!this.menu.value) this.menu.value = HERE;
  }

  choose(key) {
    const other = this.others.find((one) => one.key === key);
    this.note = other?.note || "";
    this.state.set({
      profile: other ? other.profile : this.here,
      elsewhere: other ? other.name : null,
    });
  }

  paint() {
    const { profile, elsewhere } = this.state;
    show(this.badge, Boolean(profile));
    show(this.words, Boolean(elsewhere));
    if (!profile) return;
    text(this.badge, profile.source);
    attr(this.badge, "data-label", profile.source);
    attr(this.words, "title", this.note);
    text(
      this.words,
      elsewhere
        ? `What if: ${profile.device}, ${profile.target} with ${profile.draft}. Its times are ${FROM[profile.source] || profile.source}; nothing of it was measured here, and a run runs on this machine.`
        : "",
    );
  }
}

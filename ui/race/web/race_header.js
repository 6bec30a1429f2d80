/* The header: what races, where the numbers come from, how far the race is; and what went wrong. */
import { laneName } from "./lane.js";
import { lanePlaces, placeInWords } from "./lane_totals.js";
import * as dom from "../../shared/web/dom.js";
import { el, show, text } from "../../shared/web/dom.js";
import { known, readable, seconds } from "../../shared/web/format.js";
import { FactStrip, sharedFacts } from "../../shared/web/run_facts.js";
import * as stepWords from "../../shared/web/run_words.js";

const STATES = {
  none: "",
  running: "running",
  stopped: "stopped",
  broken: "broken off",
  finished: "finished",
};

export class RaceHeader {
  constructor(store, host) {
    this.store = store;
    const root = (this.root = el("header", { class: "sq-head", "data-part": "head" }, host));
    const about = el("div", { class: "sq-about" }, root);
    this.badge = el("span", { class: "sq-badge", "data-part": "badge" }, about);
    this.state = el("span", { class: "race-state", "data-part": "state" }, about);
    this.about = new FactStrip(about);
    const line = el("div", { class: "race-line" }, root);
    this.prompt = el("p", { class: "sq-asked race-prompt", "data-part": "prompt" }, line);
    this.whose = el("span", { class: "sq-asked-whose" }, this.prompt);
    this.wording = el("span", { class: "sq-asked-text" }, this.prompt);
    const key = el("span", { class: "sq-key" }, line);
    el("span", { class: "sq-tok sq-tok-draft", text: "from the draft" }, key);
    el("span", { class: "sq-tok sq-tok-own", text: "the target’s own" }, key);
    this.error = el(
      "p",
      { class: "sq-banner sq-banner-error", role: "alert", hidden: "", "data-part": "error" },
      root,
    );
    this.notice = el(
      "p",
      { class: "sq-banner", role: "status", hidden: "", "data-part": "notice" },
      root,
    );
    this.gap = el(
      "p",
      { class: "sq-banner", role: "status", hidden: "", "data-part": "gap" },
      root,
    );
    this.spoken = el("p", { class: "sq-spoken", "aria-live": "polite" }, root);
  }

  paint() {
    const { store } = this;
    const { gap, state } = store;
    if (this.meta !== store.meta || this.version !== store.version) this.paintMeta();
    stepWords.paintBadge(this.badge, store.race ? store.meta : null, store.done, "race");
    text(
      this.state,
      [STATES[state], store.end ? seconds(store.end) : ""].filter(Boolean).join(" · "),
    );
    this.state.dataset.state = state;
    for (const name of ["error", "notice"]) {
      text(this[name], store[name] ? readable(store[name]) : "");
      show(this[name], Boolean(store[name]));
    }
    text(
      this.gap,
      gap ? `Moves ${gap.a + 1} to ${gap.b} did not arrive; the figures leave them out.` : "",
    );
    show(this.gap, Boolean(gap));
    text(this.spoken, store.done && store.end ? "Race " + STATES[state] + ". " + order(store) : "");
  }

  paintMeta() {
    const { store } = this;
    const { meta } = store;
    this.version = store.version;
    this.meta = meta;
    this.about.paint(meta, raceFacts(meta));
    const prompt = String(meta.prompt || "");
    show(this.prompt, Boolean(prompt));
    text(this.whose, meta.chat ? "prompt, as a chat message" : "prompt");
    text(this.wording, readable(prompt.slice(0, 400)));
    dom.attr(this.prompt, "title", readable(prompt.slice(0, 2000)).replaceAll("⏎", "\n"));
  }
}

/** The settings of a race as short facts: [name, value]. */
export function raceFacts(meta) {
  const { max_new_tokens: most, seed, ignore_eos: ignore } = meta.policy || {};
  return sharedFacts(meta, [
    ["", known(most) ? most + " tokens" : ""],
    ["seed", known(seed) ? String(seed) : ""],
    ["", ignore ? "end of text ignored" : ""],
  ]);
}

/** The order of arrival, for those who cannot see it. */
function order({ lanes, folds, end }) {
  const places = lanePlaces(folds, end, true);
  const placed = lanes
    .map((lane, i) => i)
    .filter((i) => places[i])
    .sort((a, b) => folds[a].clock - folds[b].clock);
  return placed.map((i) => placeInWords(places[i]) + " " + laneName(lanes[i], i)).join(", ");
}

/* The header of the Race view: the models, settings, state, prompts and notes of the race, and
   banners. */
import { Banners } from "../../shared/web/banners.js";
import { placeInWords } from "./lane_places.js";
import { codeOfAll, headlinesInWords } from "./race_headline.js";
import { attr, el, pool, show, text } from "../../shared/web/dom.js";
import { known, readable, seconds } from "../../shared/web/format.js";
import { FactStrip, sharedFacts } from "../../shared/web/run_facts.js";
import * as runWords from "../../shared/web/run_words.js";

/** @typedef {import("../../run/web/run_store.js").RunStore} RunStore */
/** @typedef {import("../../shared/web/run_facts.js").Fact} Fact */

const STATES = {
  none: "",
  running: "running",
  stopped: "stopped",
  broken: "failed",
  finished: "finished",
};

/** The header of the Race view. */
export class RaceHeader {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {() => void} [follow] asks the server for the current race of another visitor
   */
  constructor(store, host, follow) {
    this.store = store;
    this.meta = null;
    this.root = el("header", { class: "sq-head", "data-part": "head" }, host);
    el("h2", { class: "sq-spoken", text: "Race" }, this.root);
    const about = el("div", { class: "sq-about" }, this.root);
    this.badge = el("span", { class: "sq-badge", "data-part": "badge" }, about);
    this.state = el("span", { class: "race-state", "data-part": "state" }, about);
    this.about = new FactStrip(about);
    this.makePrompt();
    this.notes = el("ul", { class: "race-notes", "data-part": "notes" }, this.root);
    this.noteLines = pool(() => el("li", {}, this.notes));
    this.banners = new Banners(store, host, "race", follow);
    host.prepend(this.banners.root); // above everything else
    this.spoken = el("p", { class: "sq-spoken", "aria-live": "polite" }, this.root);
  }

  makePrompt() {
    const line = el("div", { class: "race-line" }, this.root);
    this.prompts = ["prompt", "second-prompt"].map((part) => {
      const root = el("p", { class: "sq-asked race-prompt", "data-part": part }, line);
      const whose = el("span", { class: "sq-asked-whose" }, root);
      return { root, whose, wording: el("span", { class: "sq-asked-text" }, root) };
    });
    const key = el("span", { class: "sq-key" }, line);
    el("span", { class: "sq-tok sq-tok-draft", text: "from the draft" }, key);
    el("span", { class: "sq-tok sq-tok-own", text: "from the target" }, key);
  }

  paint() {
    const { store } = this;
    const { state } = store;
    if (this.meta !== store.meta) this.paintMeta();
    runWords.paintBadge(this.badge, store.name ? store.meta : null, store.done, "race");
    text(this.state, [stateInWords(store), timeInWords(store)].filter(Boolean).join(" · "));
    this.state.dataset.state = state;
    this.banners.paint();
    const over = store.done && store.end;
    // while further runs of the race are made, read nothing out: the verdict changes after each
    if (store.pool?.planned) return;
    text(
      this.spoken,
      over ? [`Race ${STATES[state]}`, ...headlinesInWords(store), order(store)].join(". ") : "",
    );
  }

  paintMeta() {
    const { meta, notes } = this.store;
    this.meta = meta;
    this.about.paint(meta, raceFacts(meta));
    this.paintPrompt(
      0,
      String(meta.prompt || ""),
      meta.chat ? "prompt, as a chat message" : "prompt",
    );
    this.paintPrompt(1, String(meta.second_prompt || ""), "second prompt");
    const lines = this.noteLines.take(notes.length);
    notes.forEach((note, i) => text(lines[i], readable(note)));
    show(this.notes, notes.length > 0);
  }

  /**
   * @param {number} number 0 or 1
   * @param {string} prompt hidden if empty
   * @param {string} name
   */
  paintPrompt(number, prompt, name) {
    const { root, whose, wording } = this.prompts[number];
    show(root, Boolean(prompt));
    text(whose, name);
    text(wording, readable(prompt.slice(0, 400)));
    attr(root, "title", readable(prompt.slice(0, 2000)).replaceAll("⏎", "\n"));
  }
}

/**
 * The machine and settings of a race as short facts.
 * @param {any} meta
 * @returns {Fact[]}
 */
export function raceFacts(meta) {
  const { max_new_tokens: most, seed, ignore_eos: ignore } = meta.params || {};
  return sharedFacts(meta, [
    ["", known(most) ? most + " tokens" : ""],
    ["seed", known(seed) ? String(seed) : ""],
    ["", ignore ? "end of text ignored" : ""],
  ]);
}

// Whether a finished race is shown at a time before its end.
/** @type {(store: RunStore) => boolean} */
const isReplay = ({ state, isOver, end }) => state === "finished" && end > 0 && !isOver;

/**
 * @param {RunStore} store
 * @returns {string}
 */
export function stateInWords(store) {
  if (store.state === "running" && !store.end) return "processing the prompt";
  if (store.reason === "paused") return "paused";
  if (!isReplay(store)) return STATES[store.state];
  return store.playing ? "replaying" : "replay paused";
}

/**
 * The line on top of presenter mode: the verdict, and until it is known the state.
 * @param {RunStore} store
 * @returns {import("../../run/web/presenter.js").PresenterHead}
 */
export function presenterHead(store) {
  const { verdict, isOver } = store;
  if (!verdict || !isOver) return { words: stateInWords(store), code: null, basis: "" };
  return {
    words: headlinesInWords(store).join(". "),
    code: codeOfAll(store),
    basis: verdict.races > 1 ? `over ${verdict.races} runs` : "",
  };
}

/** @type {(store: RunStore) => string} the time that the race took, or has taken so far */
function timeInWords(store) {
  if (!store.end) return "";
  const time = seconds(store.end);
  if (isReplay(store)) return time + " in total";
  return store.state === "finished" && store.lanes.length > 1 ? "slowest lane " + time : time;
}

/**
 * The places of the lanes in words, for screen readers. The lane with the least decode time comes
 * first.
 * @param {RunStore} store
 * @returns {string}
 */
function order({ lanes, verdict }) {
  const places = verdict?.places ?? [];
  const placed = [...lanes.keys()]
    .filter((i) => places[i])
    .sort((a, b) => lanes[a].seconds - lanes[b].seconds);
  return placed.map((i) => placeInWords(i, lanes, places) + " " + lanes[i].title).join(", ");
}

/* The models, settings and notes of a run, the label of its numbers, and the result for screen
   readers. */
import { placeInWords } from "./lane_places.js";
import { resultsInWords } from "./headline.js";
import { button, el, pool, show, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { FactStrip, runFacts } from "../../shared/web/run_facts.js";
import * as runWords from "../../shared/web/run_words.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { Page } from "./run_view.js"
 * @import { RunStore } from "./run_store.js"
 */

/** The facts and notes. */
export class RunAbout {
  /** @type {unknown[]} the meta and the lane whose facts are shown */
  shown = [];

  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {Page} page
   */
  constructor(store, host, page) {
    this.store = store;
    this.root = el("div", { class: "sq-head sq-stack", "data-part": "head" }, host);
    const about = el("div", { class: "sq-about sq-wrap" }, this.root);
    this.badge = el("span", { class: "sq-badge", "data-part": "badge" }, about);
    this.about = new FactStrip(about);
    const hint = "Copy this run’s prompts, lanes and settings to the form";
    const look = { text: "Copy to form", part: "take", hint };
    this.taker = button(about, { ...look, act: () => page.take?.(store.name) });
    show(this.taker, Boolean(page.take));
    this.notes = el("ul", { class: "run-notes sq-dim", "data-part": "notes" }, this.root);
    this.noteLines = pool(() => el("li", {}, this.notes));
    this.spoken = el("p", { class: "sq-spoken", "aria-live": "polite" }, this.root);
  }

  paint() {
    const { store } = this;
    const { meta, lane, notes } = store;
    const shown = [meta, lane, notes];
    if (shown.some((one, i) => one !== this.shown[i])) this.paintFacts();
    this.shown = shown;
    runWords.paintBadge(this.badge, store.name ? meta : null, store.done);
    // while further runs are made, read nothing out: the verdict changes after each
    if (store.pool?.planned) return;
    const isOver = store.done && store.end;
    text(
      this.spoken,
      isOver ? [...resultsInWords(store), order(store)].filter(Boolean).join(". ") : "",
    );
  }

  paintFacts() {
    const { meta, lane } = this.store;
    const notes = notesOf(this.store).others;
    this.about.paint(meta, runFacts(meta, lane));
    const lines = this.noteLines.take(notes.length);
    notes.forEach((note, i) => text(lines[i], readable(note)));
    show(this.notes, notes.length > 0);
  }
}

/**
 * The places of the lanes in words. The lane with the least decode time comes first.
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

const LEFT_OUT = ["repeat", "instead"]; // codes of the notes on lanes that are left out

/**
 * The sentences about the choice of the trees: those on lanes that are left out, and the others.
 * @param {{meta: Meta, notes: string[]}} store
 * @returns {{leftOut: string[], others: string[]}}
 */
export function notesOf({ meta, notes }) {
  const isOf = (_, i) => LEFT_OUT.includes(meta.notes?.[i]?.code);
  return {
    leftOut: notes.filter(isOf),
    others: notes.filter((note, i) => !isOf(note, i)),
  };
}

/* "Make more runs": makes further runs of a finished run, with other prompts or seeds. The verdict
   is then about all of them together. */
import { button, el, show, text } from "../../shared/web/dom.js";
import { count, duration } from "../../shared/web/format.js";
import { progressBar } from "../../shared/web/panel.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/**
 * @import { PoolShown } from "../../shared/web/schema.js"
 * @import { Page } from "./run_view.js"
 * @import { RunStore } from "./run_store.js"
 * @import { Verdict } from "./arrived.js"
 */

/** The button, the progress of the runs, and what further runs would show. */
export class FurtherRuns {
  /** @type {PoolShown | null} the store's pool when the button was last pressed; null after an
   *   error. The button is disabled until the store gets another pool or an error */
  pressed = null;

  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {HTMLElement} about what further runs would show is written here
   * @param {Page} page
   */
  constructor(store, host, about, page) {
    this.store = store;
    this.page = page;
    this.root = el("div", { class: "run-further sq-wrap", "data-part": "further" }, host);
    const look = { text: "Make more runs", hint: TOOLTIPS["button more runs"], part: "more-runs" };
    this.button = button(this.root, { ...look, act: () => this.press() });
    this.words = el("p", { "data-part": "further-words" }, this.root);
    this.bar = progressBar(this.root, "Runs completed");
    this.offer = el("p", { "data-part": "offer" }, about);
  }

  press() {
    const { name, pool } = this.store;
    if (pool?.planned) {
      this.page.stop?.();
      return;
    }
    this.pressed = pool;
    this.store.set({ error: null });
    this.page.trigger?.("more", { run: name });
  }

  paint() {
    const { pool, verdict, error } = this.store;
    const mayGoOn = Boolean(this.page.trigger) && !this.store.following.isFollowed;
    const going = Boolean(pool?.planned) && mayGoOn;
    const more = mayGoOn ? (pool?.more ?? 0) : 0;
    if (error) this.pressed = null;
    show(this.root, going || more > 0);
    text(this.offer, pool ? offer({ ...pool, more }, verdict) : "");
    if (!pool) return;
    this.button.disabled = this.pressed === pool && !going;
    const make = `Make ${count(pool.more, "more run")} (${duration(pool.more_seconds)})`;
    text(this.button.lastElementChild, going ? "Stop" : make);
    this.button.title = TOOLTIPS[going ? "button stop more runs" : "button more runs"];
    text(this.words, going ? progress(pool) : "");
    this.bar(going ? pool.runs.length / pool.planned : null);
  }
}

/**
 * The prompts and seeds of further runs, in words.
 * @param {PoolShown} pool
 * @returns {string}
 */
const onPrompts = ({ kind, seeds }) =>
  kind
    ? `on other ${kind} prompts${seeds ? ", each with its own seed" : ""}`
    : "on the same two prompts, each run with its own seed";

/**
 * @param {PoolShown} pool
 * @returns {string}
 */
function progress(pool) {
  const number = Math.min(pool.runs.length + 1, pool.planned);
  return (
    `Run ${number} of ${pool.planned}, ${onPrompts(pool)}. p-values follow after the last ` + "run."
  );
}

/**
 * What further runs would show, in words. If none are possible, the text is empty, or says that the
 * limit of runs is reached.
 * @param {PoolShown} pool
 * @param {Verdict} verdict
 * @returns {string}
 */
function offer(pool, { more_races: more }) {
  const { runs, most } = pool;
  if (!pool.more) return runs.length >= most ? `The limit of ${most} runs is reached.` : "";
  return `Further runs use the same lanes, ${onPrompts(pool)}. ${helpOf(more, runs.length, most)}`;
}

// The number of further runs is rounded to two significant digits.
/** @type {(more: number | null, made: number, most: number) => string} */
function helpOf(more, made, most) {
  if (more === 0) return "They show whether the result holds, and narrow the interval.";
  const runs = more && `about ${count(Number(more.toPrecision(2)), "more run")} (predicted)`;
  if (!more || made + more > most)
    return (
      "They narrow the interval, but separating the two fastest lanes would take " +
      `${runs ?? "too many runs"}, above the limit of ${most}.`
    );
  return `If the two fastest lanes really differ as much as so far, ${runs} should separate them.`;
}

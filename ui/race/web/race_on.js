/* "Make more runs": makes further runs of a finished race, with other prompts or seeds. The verdict
   is then about the race and its further runs together. */
import { button, el, show, text } from "../../shared/web/dom.js";
import { count, duration } from "../../shared/web/format.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {(name: string, data: object) => void} Trigger */
/** @typedef {import("../../shared/web/schema.js").PoolShown} Pool */
/** @typedef {import("../../run/web/run_store.js").RunStore} RunStore */
/** @typedef {import("../../run/web/arrived.js").Verdict} Verdict */
/** @typedef {import("../../shared/web/form_buttons.js").FormBeside} FormBeside */

/** The button, and a text: what further runs would show, or the progress of these runs. */
export class RaceOn {
  /** @type {Pool | null} the store's pool when the button was last pressed; null after an error.
   *   The button is disabled until the store gets another pool or an error */
  pressed = null;

  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {Trigger | null} trigger null in a saved page: no further runs can be made
   * @param {FormBeside} page
   */
  constructor(store, host, trigger, page) {
    this.store = store;
    this.trigger = trigger;
    this.page = page;
    this.root = el("div", { class: "race-on", "data-part": "race-on" }, host);
    const look = {
      text: "Make more runs",
      cls: "race-on-button",
      hint: TOOLTIPS["button race on"],
    };
    this.button = button(this.root, { ...look, part: "race-on-button", act: () => this.press() });
    this.words = el("p", { class: "race-on-words", "data-part": "race-on-words" }, this.root);
    const label = "Runs completed";
    this.bar = el("progress", { class: "race-counting", "aria-label": label }, this.root);
  }

  press() {
    const { name, pool } = this.store;
    if (pool?.planned) {
      this.page.stop?.();
      return;
    }
    this.pressed = pool;
    this.store.set({ error: null });
    this.trigger?.("more", { race: name });
  }

  paint() {
    const { pool, verdict, error } = this.store;
    const mayGoOn = this.trigger !== null && !this.store.following.isFollowed;
    const going = Boolean(pool?.planned) && mayGoOn;
    const more = mayGoOn ? (pool?.more ?? 0) : 0;
    if (error) this.pressed = null;
    const waits = this.pressed === pool;
    show(this.root, Boolean(pool) && (going || more > 0 || pool.runs.length > 1));
    if (!pool) return;
    show(this.button, going || more > 0);
    this.button.disabled = waits && !going;
    const make = `Make ${count(pool.more, "more run")} (${duration(pool.more_seconds)})`;
    text(this.button.lastElementChild, going ? "Stop" : make);
    this.button.title = TOOLTIPS[going ? "button stop racing on" : "button race on"];
    text(this.words, going ? progress(pool) : offer({ ...pool, more }, verdict));
    show(this.bar, going);
    if (!going) return;
    this.bar.max = pool.planned;
    this.bar.value = pool.runs.length;
  }
}

/**
 * The prompts and seeds of further runs, in words.
 * @param {Pool} pool
 * @returns {string}
 */
const onPrompts = ({ kind, seeds }) =>
  kind
    ? `on other ${kind} prompts${seeds ? ", each with its own seed" : ""}`
    : "on the same two prompts, each run with its own seed";

/**
 * @param {Pool} pool
 * @returns {string}
 */
function progress(pool) {
  const number = Math.min(pool.runs.length + 1, pool.planned);
  return `Run ${number} of ${pool.planned}, ${onPrompts(pool)}. p-values follow after the last run.`;
}

/**
 * What further runs would show, in words. If none are possible, the text is empty, or says that the
 * limit of runs is reached.
 * @param {Pool} pool
 * @param {Verdict} verdict
 * @returns {string}
 */
function offer(pool, { more_races: more }) {
  const { runs, most } = pool;
  if (!pool.more)
    return runs.length >= most ? `This race has reached its limit of ${most} runs.` : "";
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

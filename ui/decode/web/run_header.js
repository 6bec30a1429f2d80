/* The facts of a run, the label that says where its numbers come from, its totals up to the end
   of the text shown, and the banners of the view. */
import { attr, el, show, text } from "../../shared/web/dom.js";
import { Banners } from "../../shared/web/banners.js";
import { count, known, ms, rate, grouped } from "../../shared/web/format.js";
import { runFacts } from "../../run/web/lane_facts.js";
import { FactStrip } from "../../shared/web/run_facts.js";
import * as runWords from "../../shared/web/run_words.js";
import { summary } from "../../shared/web/step_words.js";
import { fillTile, makeTiles } from "../../shared/web/panel.js";
import { speedupWords } from "../../shared/web/verdict_words.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { RunStore } from "../../run/web/run_store.js"
 * @import { Totals } from "../../run/web/lane_run.js"
 */

/** @type {[string, string, string][]} name of the total, label, key of tooltips.json */
const TILES = [
  ["tokensPerStep", "tokens per step", "tokens per step"],
  ["tokensPerSecond", "tokens per second", "tokens per second"],
  ["speedup", "speed-up over plain", "speed-up"],
  ["draftShare", "share from the draft", "from the draft"],
  ["acceptedPerStep", "accepted per step", "accepted per step"],
  ["tokens", "tokens emitted", "tokens emitted"],
];
/** @type {Record<string, string>} code of the verdict -> label of the speed-up */
const SPEED = {
  win: "faster than plain",
  slower: "slower than plain",
  no_clear_difference: "no clear difference",
};
const INTERVAL =
  " The 95% confidence interval (approx.) is estimated from how much the speed varies within each " +
  "run and, if there are several, between runs.";

/** The strip with the facts and totals, and the banners. */
export class RunHeader {
  version = 0;
  /** @type {Meta | null} */
  meta = null;
  spokenFor = ""; // key of the ended run whose summary was last given to screen readers

  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {() => void} [follow] asks the server for another visitor's run
   */
  constructor(store, host, follow) {
    this.store = store;
    const root = el("header", { class: "sq-head", "data-part": "head" }, host);
    const about = el("div", { class: "sq-about" }, root);
    this.badge = el("span", { class: "sq-badge", "data-part": "badge" }, about);
    this.about = new FactStrip(about);
    this.scope = el("p", { class: "sq-totals-scope", "data-part": "totals-scope" }, root);
    this.tiles = el("div", { class: "sq-tiles", "data-part": "totals" }, root);
    this.readouts = makeTiles(this.tiles, TILES, (key) => ({ "data-total": key }));
    this.banners = new Banners(store, root, "run", follow);
    this.spoken = el("p", { class: "sq-spoken", "aria-live": "polite" }, root);
  }

  put(key, value, unit, note) {
    fillTile(this.readouts[key], value, unit, note);
  }

  paint() {
    const { store } = this;
    if (this.version !== store.version || this.meta !== store.meta) this.paintMeta();
    runWords.paintBadge(this.badge, store.name ? store.meta : null, store.done, "run");
    this.paintTotals(store.totals(store.written));
    this.banners.paint();
    const end = store.version + ":" + store.last + store.ending;
    if (!store.done || this.spokenFor === end || store.last < 0) return;
    this.spokenFor = end;
    text(this.spoken, summary(store.totals(store.last), store.ending, store.word));
  }

  paintMeta() {
    const { meta, version } = this.store;
    this.version = version;
    this.meta = meta;
    this.about.paint(meta, runFacts(meta));
  }

  /** @param {Totals} totals */
  paintTotals(totals) {
    const { tokens, steps, draftShare: share, most } = totals;
    const note = (words) => (steps ? words() : " ");
    const perToken = () => ms(totals.seconds / tokens) + " per token";
    const drafted = () => "of " + Number(totals.proposedPerStep.toFixed(1)) + " drafted";
    this.put(
      "tokensPerStep",
      rate(totals.tokensPerStep),
      "",
      note(() => "best step: " + count(most, "token")),
    );
    this.put("tokensPerSecond", rate(totals.tokensPerSecond), "", note(perToken));
    const percent = known(share) ? (share * 100).toFixed(0) : "–";
    this.put("draftShare", percent, known(share) ? "%" : "", "of the tokens emitted");
    this.put("acceptedPerStep", rate(totals.acceptedPerStep), "", note(drafted));
    this.put(
      "tokens",
      grouped(tokens),
      "",
      note(() => "in " + count(steps, "step")),
    );
    text(this.scope, this.scopeOf(totals));
    this.paintSpeed(totals.whole);
  }

  /** @type {(totals: Totals) => string} which part of the run the tiles are about */
  scopeOf({ steps, whole }) {
    const { store } = this;
    if (store.last < 0) return "";
    if (whole) return store.done ? "The whole run:" : "All steps so far:";
    return `Up to step ${steps} of ${store.steps.length}:`;
  }

  // The verdict is on the whole run, whatever step is shown. If the other tiles are about the
  // `isWhole` run, this one need not say so.
  paintSpeed(isWhole) {
    const { tile, name } = this.readouts.speedup;
    const { meta } = this.store;
    const { speedup } = meta;
    show(tile, Boolean(speedup));
    if (!speedup) return;
    const { times, interval } = speedupWords(speedup);
    const source = speedup.label === meta.label ? "" : speedup.label; // the badge shows the label
    const unit = [times.slice(-1), source].filter(Boolean).join(" ");
    const runs = speedup.runs > 1 ? `${count(speedup.runs, "run")}, ` : "";
    this.put("speedup", times.slice(0, -1), unit, runs + interval);
    attr(tile, "title", comparedWith(meta));
    attr(tile, "data-verdict", runWords.verdictColour(meta, speedup.code));
    const which = speedup.runs > 1 ? ", whole runs" : ", whole run";
    text(name, SPEED[speedup.code] + (isWhole ? "" : which));
  }
}

/** @type {(meta: Meta) => string} */
function comparedWith(meta) {
  const { speedup } = meta;
  const timed = runWords.isSimulated(meta) ? "also with simulated times" : "timed after the run";
  const baseline = "a short plain run of the same prompt, " + timed;
  const runs = speedup.runs > 1 ? ` Over ${speedup.runs} runs.` : "";
  return `Compared with ${baseline}: ${ms(speedup.seconds[1])} per token.${runs}${INTERVAL}`;
}

/* The header: what ran, where the numbers come from, and the running totals as read-outs. */
import { attr, el, show, text } from "../../shared/web/dom.js";
import { count, known, ms, rate, readable } from "../../shared/web/format.js";
import { FactStrip, sharedFacts } from "../../shared/web/run_facts.js";
import * as stepWords from "../../shared/web/step_words.js";
import { addTerm } from "../../shared/web/tooltips.js";

export class RunHeader {
  constructor(store, host) {
    this.store = store;
    const root = (this.root = el("header", { class: "sq-head", "data-part": "head" }, host));
    const about = el("div", { class: "sq-about" }, root);
    this.badge = el("span", { class: "sq-badge", "data-part": "badge" }, about);
    this.about = new FactStrip(about);
    this.tiles = el("div", { class: "sq-tiles", "data-part": "totals" }, root);
    this.readouts = {};
    for (const [key, label, term] of TILES) this.readouts[key] = this.tile(key, label, term);
    this.banners = el("div", { class: "sq-banners" }, root);
    this.error = el(
      "p",
      { class: "sq-banner sq-banner-error", role: "alert", hidden: "", "data-part": "error" },
      this.banners,
    );
    this.notice = el(
      "p",
      { class: "sq-banner", role: "status", hidden: "", "data-part": "notice" },
      this.banners,
    );
    this.gap = el(
      "p",
      { class: "sq-banner", role: "status", hidden: "", "data-part": "gap" },
      this.banners,
    );
    this.spoken = el("p", { class: "sq-spoken", "aria-live": "polite" }, root);
  }

  tile(key, label, term) {
    const tile = el("div", { class: "sq-tile", "data-total": key }, this.tiles);
    const name = addTerm(el("div", { class: "sq-tile-label" }, tile), label, term);
    const line = el("div", { class: "sq-tile-line" }, tile);
    const value = el("span", { class: "sq-tile-value" }, line);
    const unit = el("span", { class: "sq-tile-unit" }, line);
    return { tile, name, value, unit, note: el("div", { class: "sq-tile-note" }, tile) };
  }

  paint() {
    const { store } = this;
    if (this.version !== store.version || this.meta !== store.meta) this.paintMeta();
    stepWords.paintBadge(this.badge, store.run ? store.meta : null, store.done, "run");
    this.paintTotals(store.totals());
    for (const [name, value] of [
      ["error", store.error],
      ["notice", store.notice],
    ]) {
      text(this[name], value ? readable(value) : "");
      show(this[name], Boolean(value));
    }
    const gap = store.gap;
    text(
      this.gap,
      gap
        ? "Steps " +
            (gap.a + 1) +
            " to " +
            gap.b +
            " did not arrive; the rest of the run is complete."
        : "",
    );
    show(this.gap, Boolean(gap));
    const told = store.version + ":" + store.last + store.ending;
    if (store.done && this.told !== told && store.last >= 0) {
      this.told = told;
      text(this.spoken, stepWords.summary(store.totals(store.last), store.ending, store.word));
    }
  }

  paintMeta() {
    const { store } = this;
    const { meta } = store;
    this.version = store.version;
    this.meta = meta;
    this.about.paint(meta, runFacts(meta));
  }

  paintTotals(totals) {
    const {
      readouts,
      store: { word },
    } = this;
    const put = (key, value, unit, note) => {
      text(readouts[key].value, value);
      text(readouts[key].unit, unit);
      text(readouts[key].note, note);
    };
    const some = totals.steps > 0;
    put(
      "tokensPerStep",
      rate(totals.tokensPerStep),
      word,
      some ? "at most " + totals.most + " in one step" : " ",
    );
    put(
      "tokensPerSecond",
      rate(totals.tokensPerSecond),
      word,
      some ? ms(totals.seconds / totals.tokens) + " a token" : " ",
    );
    put(
      "draftShare",
      known(totals.draftShare) ? (totals.draftShare * 100).toFixed(0) : "–",
      known(totals.draftShare) ? "% " + word : "",
      "of the tokens emitted",
    );
    put(
      "acceptedPerStep",
      rate(totals.acceptedPerStep),
      word,
      some ? "of " + Number(totals.proposedPerStep.toFixed(1)) + " drafted" : " ",
    );
    this.paintSpeed(totals, put);
    put(
      "tokens",
      totals.tokens.toLocaleString("en-US"),
      word,
      some ? "in " + count(totals.steps, "step") : " ",
    );
  }

  /** Shown when it is below 1 as well: then the tile says slower. */
  paintSpeed(totals, put) {
    const { tile } = this.readouts.speedup;
    const { meta } = this.store;
    const plain = meta.plain_seconds;
    show(tile, Boolean(plain));
    if (!plain) return;
    const word = meta.plain_label || meta.label || "";
    const range = totals.speedups.length
      ? "(" + totals.speedups.map((one) => one.toFixed(2)).join("–") + ") "
      : "";
    put(
      "speedup",
      known(totals.speedup) ? totals.speedup.toFixed(2) : "–",
      known(totals.speedup) ? "× " + range + word : "",
      "plain: " + ms(plain) + " a token",
    );
    attr(tile, "title", meta.plain_spread ? beside(meta) : null);
    const verdict =
      !known(totals.speedup) || !totals.whole
        ? ""
        : even(totals)
          ? "even"
          : totals.speedup > 1
            ? "faster"
            : "slower";
    if (tile.dataset.verdict !== verdict) tile.dataset.verdict = verdict;
    text(this.readouts.speedup.name, SPEED[verdict] || "speed-up over plain");
  }
}

const beside = ({ plain_seconds: plain, plain_lane: lane }) =>
  "Held against " +
  (lane
    ? "the plain lane of the same race"
    : "a short plain run of the same prompt, timed after the run") +
  ": " +
  ms(plain) +
  " a token. The range is about 95 % sure, from how much the pace of both changes along them.";
/** Whether the range of the speed-up includes 1. */
const even = ({ speedup, speedups }) =>
  Math.abs(speedup - 1) < 0.005 ||
  (speedups.length > 0 && Math.min(...speedups) <= 1 && Math.max(...speedups) >= 1);
const SPEED = { slower: "slower than plain", even: "no clear difference" };
const TILES = [
  ["tokensPerStep", "tokens per step", "tokens per step"],
  ["tokensPerSecond", "tokens per second", "tokens per second"],
  ["speedup", "speed-up over plain", "speed-up"],
  ["draftShare", "share from the draft", "from the draft"],
  ["acceptedPerStep", "accepted per step", "accepted per step"],
  ["tokens", "tokens emitted", "tokens emitted"],
];

/** The settings of a run as short facts: [name, value]. */
export function runFacts(meta) {
  const { nodes, levels, how } = meta.tree || {};
  const tree = [nodes ? count(nodes, "node") : "", levels ? count(levels, "level") : "", how || ""]
    .filter(Boolean)
    .join(", ");
  return sharedFacts(meta, [
    ["tree", nodes || how ? tree : ""],
    ["verifier", meta.verifier === "sequoia" ? "" : stepWords.verifier(meta.verifier)],
  ]);
}

/* One lane: name, progress to the finish line, text, and its figures at the present race time. */
import { LaneText } from "./lane_text.js";
import { intervalInWords, placeInWords, speedInterval, speedRatio } from "./lane_totals.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { count, known, ms, percent, rate, readable } from "../../shared/web/format.js";
import { repeatsInWords } from "../../shared/web/repeats.js";
import * as stepWords from "../../shared/web/run_words.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const FIGURES = [
  ["tokensPerStep", "tokens a step"],
  ["perToken", "per token"],
  ["nodes", "mean nodes"],
  ["clock", "clock"],
  ["drafted", "from the draft"],
  ["repeats", "repeats"],
];
const PHASES = ["draft", "verify", "overhead"];
const BADGES = {
  exact: ["exact", "The text is plain decoding's, token for token."],
  tie: ["tie", "The text differs from plain decoding's only where rounding decides."],
  bug: ["bug", "The text differs from plain decoding's where it must not."],
  law: [
    "no difference",
    "First tokens were drawn again and again: no difference from the target’s law was found.",
  ],
  undecided: [
    "undecided",
    "The text differs from plain decoding's, and whether by rounding or by a bug could not be told.",
  ],
  poor: [
    "poor fit",
    "First tokens were drawn again and again: they fit the target’s law poorly, but chance does that once in a while. Draw again with another seed.",
  ],
  blind: ["says nothing", "A comparison would carry no information."],
  none: ["not checked", "Nothing to compare this text with."],
  plain: ["reference", "Plain decoding, which the others are compared with."],
};

export class LaneView {
  constructor(store, host, index, ask) {
    const lane = store.lanes[index];
    const name = laneName(lane, index);
    Object.assign(this, { store, index, lane });
    this.root = el(
      "article",
      {
        class: "sq-panel race-lane",
        "data-lane": index,
        "data-plain": lane.plain ? "yes" : null,
        "aria-label": name,
      },
      host,
    );
    this.head(name);
    this.progress();
    this.text = new LaneText(this.root, name);
    this.speed();
    this.figures();
    const foot = el("div", { class: "race-foot" }, this.root);
    button(foot, {
      text: "Open in Decode",
      hint: TOOLTIPS["button open in decode"],
    }).addEventListener("click", () => ask("open", { race: store.race, lane: index }));
    this.check(foot);
  }

  head(name) {
    const { root, lane } = this;
    const line = el("div", { class: "race-name" }, root);
    el("i", { class: "race-mark", "aria-hidden": "true" }, line);
    el("h3", { text: name, title: name }, line);
    this.place = addTerm(line, "", "place", "race-place");
    this.place.dataset.part = "place";
    const how = [
      lane.how,
      lane.verifier && !lane.plain ? stepWords.verifier(lane.verifier) + " verifier" : "",
      lane.most > 1 ? "at most " + count(lane.most, "node") : "",
      lane.changes ? "changes by step" : "",
    ]
      .filter(Boolean)
      .map(readable)
      .join(" · ");
    el("p", { class: "race-how", text: how || " ", title: how }, root);
  }

  progress() {
    const line = el("div", { class: "race-progress" }, this.root);
    this.bar = el(
      "div",
      {
        class: "race-bar",
        role: "progressbar",
        "aria-label": "Tokens to the finish line",
        "aria-valuemin": "0",
      },
      line,
    );
    this.fill = el("i", {}, this.bar);
    this.tokens = el("span", { class: "race-tokens", "data-part": "tokens" }, line);
  }

  speed() {
    const line = el("div", { class: "race-speed", "data-part": "speed" }, this.root);
    this.ratio = el("b", { class: "sq-tile-value", "data-part": "ratio" }, line);
    this.unit = el("span", { class: "sq-tile-unit" }, line);
    const range = el("p", { class: "race-range" }, this.root);
    this.ranged = addTerm(range, "range");
    this.range = el("span", { "data-part": "spread" }, range);
  }

  figures() {
    const list = el("dl", { class: "race-figures" }, this.root);
    this.values = {};
    for (const [key, label] of FIGURES) {
      const box = el("div", {}, list);
      addTerm(el("dt", {}, box), label);
      this.values[key] = el("dd", { "data-figure": key }, box);
    }
    this.split = el("div", { class: "race-split", "aria-hidden": "true" }, this.root);
    const key = el("div", { class: "race-phases", "data-part": "split" }, this.root);
    this.phases = Object.fromEntries(
      PHASES.map((phase) => {
        const entry = el("span", { class: "race-phase" }, key);
        el("i", { class: "sq-swatch", "data-phase": phase }, entry);
        addTerm(entry, phase);
        return [
          phase,
          {
            part: el("i", { class: "sq-swatch", "data-phase": phase }, this.split),
            value: el("b", { "data-phase": phase }, entry),
          },
        ];
      }),
    );
  }

  /** Whether the text is the target's own: a word, how far the check is, and its sentence. */
  check(foot) {
    this.lossless = el("span", { class: "race-badge", "data-part": "lossless" }, foot);
    this.counting = el(
      "progress",
      { class: "race-counting", "aria-label": "First tokens drawn", hidden: "" },
      this.root,
    );
    this.words = el("p", { class: "race-words", "data-part": "check", hidden: "" }, this.root);
  }

  /** Paints only where something this lane shows has changed. */
  paint(places, reference) {
    const { store, index } = this;
    const fold = store.folds[index];
    const { t } = store;
    const done = fold.count(t);
    const other = store.folds[reference];
    const key = [
      done,
      other?.count(t),
      reference,
      JSON.stringify(places[index]),
      store.line,
      store.state,
    ].join();
    const result = store.results?.[index] ?? null;
    if (this.result !== result) this.paintLossless((this.result = result));
    if (this.key === key) return;
    this.key = key;
    const sum = fold.at(t);
    const over = done === fold.moves.length && (fold.finish || (store.done ? "stopped" : null));
    this.text.paint(fold, done, over ? readable(stepWords.finish(over)) : "", repeatsInWords(sum));
    this.paintProgress(sum, places[index]);
    this.paintFigures(sum);
    this.paintSpeed(fold, other, reference);
    Object.assign(this.root.dataset, { tokens: sum.tokens, moves: sum.moves });
  }

  paintProgress(sum, place) {
    const { line } = this.store;
    const share = Math.min(sum.tokens / line, 1);
    text(this.place, place ? placeInWords(place) : "");
    attr(this.place, "data-place", place && !place.tied ? place.place : null);
    this.fill.style.transform = `scaleX(${share})`;
    attr(this.bar, "aria-valuemax", line);
    attr(this.bar, "aria-valuenow", Math.min(sum.tokens, line));
    text(
      this.tokens,
      sum.tokens.toLocaleString("en-US") + " / " + line.toLocaleString("en-US") + " tokens",
    );
  }

  paintFigures(sum) {
    const { values } = this;
    const some = sum.moves > 0;
    text(values.tokensPerStep, rate(sum.tokens / sum.moves));
    text(values.perToken, ms(sum.seconds / sum.tokens));
    text(values.nodes, rate(sum.nodes / sum.moves));
    text(values.clock, some ? format.seconds(sum.seconds) : "–");
    text(values.drafted, percent(sum.drafted / sum.tokens));
    text(values.repeats, percent(sum.repeats / sum.grams));
    for (const phase of PHASES) {
      const { part, value } = this.phases[phase];
      const share = sum[phase] / sum.seconds;
      part.style.flexGrow = known(share) ? share : 0;
      text(value, some ? percent(share) + " · " + ms(sum[phase] / sum.tokens) : "–");
    }
  }

  paintSpeed(fold, other, reference) {
    const { store, index, lane } = this;
    const { t, meta } = store;
    const word = meta.label || "";
    const self = reference === index;
    const ratio = other ? speedRatio(fold, other, t) : NaN;
    const spread = other && !self ? speedInterval(fold, other, t) : null;
    text(this.ratio, known(ratio) ? ratio.toFixed(2) : "–");
    text(
      this.unit,
      known(ratio)
        ? "× " +
            (self
              ? lane.plain
                ? "plain decoding"
                : "the slowest lane"
              : store.lanes[reference].plain
                ? "plain"
                : "the slowest")
        : "",
    );
    text(
      this.range,
      self || !known(ratio)
        ? " "
        : spread
          ? intervalInWords(spread, word)
          : word + ", too short for a range",
    );
    show(this.ranged, Boolean(spread));
    attr(this.root, "data-verdict", spread && spread.verdict !== "even" ? spread.verdict : null);
  }

  paintLossless(result) {
    const lossless = result?.lossless;
    const kind = Object.hasOwn(BADGES, lossless?.kind ?? "") ? lossless.kind : "none";
    const [word, plain] = BADGES[kind === "none" && this.lane.plain ? "plain" : kind];
    const count = lossless?.count;
    for (const node of [this.lossless, this.words]) show(node, Boolean(lossless));
    this.lossless.dataset.kind = kind;
    text(
      this.lossless,
      count?.going
        ? "counting, " + count.draws + " / " + count.wanted
        : kind === "none" && count
          ? "too few draws"
          : word,
    );
    this.paintCounting(count);
    const at = known(lossless?.at) ? ` First difference: token ${lossless.at + 1}.` : "";
    text(this.words, readable(lossless?.words || plain) + at);
  }

  paintCounting(count) {
    show(this.counting, Boolean(count?.going));
    if (!count?.going) return;
    attr(this.counting, "max", count.wanted);
    attr(this.counting, "value", count.draws);
  }
}

export const laneName = (lane, index) => readable(lane.name || "Lane " + (index + 1));

/* After the finish: why a lane is as fast as it is. Its waterfall, and what the doctor says and offers. */
import { makePanel } from "../../shared/web/panel.js";
import { laneName } from "./lane.js";
import { intervalInWords, referenceLane, speedInterval } from "./lane_totals.js";
import { button, el, show } from "../../shared/web/dom.js";
import { known, readable } from "../../shared/web/format.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const NAMES = {
  tokens: "tokens a step",
  verify: "after verifying",
  draft: "after drafting",
  overhead: "after overhead",
};
const figure = (value) => (known(value) ? value.toFixed(2) : "–");

export class WhereTimeWent {
  constructor(store, host, ask) {
    Object.assign(this, { store, ask });
    this.root = el("div", { class: "race-whys", "data-part": "whys" }, host);
  }

  paint() {
    const { store } = this;
    const results = store.results || [];
    if (this.results === results && this.lanes === store.lanes) return;
    const reasons = JSON.stringify(results.map((result) => [result?.waterfall, result?.doctor])); // a check that goes on changes neither
    const same = this.reasons === reasons && this.lanes === store.lanes;
    Object.assign(this, { results, reasons, lanes: store.lanes });
    if (same) return;
    this.root.replaceChildren();
    results.forEach(
      (result, i) =>
        (result?.waterfall || result?.doctor) && store.lanes[i] && this.panel(result, i),
    );
    show(this.root, this.root.childElementCount > 0);
    this.root.dataset.panels = this.root.childElementCount;
  }

  panel({ waterfall, doctor }, i) {
    const panel = makePanel(this.root, {
      part: "why",
      title: "Why: " + laneName(this.lanes[i], i),
      cls: "race-why",
    });
    panel.root.dataset.lane = i;
    el("span", { class: "sq-word", text: this.store.meta.label || "" }, panel.titleBox);
    panel.titleBox.prepend(el("i", { class: "race-mark", "aria-hidden": "true" }));
    addTerm(panel.titleBox, "how to read this", "waterfall", "sq-word");
    if (waterfall?.bars?.length) this.bars(panel.body, waterfall.bars, this.spread(i));
    if (doctor) this.doctor(panel.body, doctor, i);
  }

  /** The range of the lane's speed-up over the whole race; null without a plain lane. */
  spread(i) {
    const { folds, lanes, end } = this.store;
    const reference = referenceLane(lanes, folds, end);
    return lanes[reference]?.plain ? speedInterval(folds[i], folds[reference], end) : null;
  }

  /** Each bar with what it lost to the bar before, on one scale from 0 to the longest. */
  bars(host, bars, spread) {
    const list = el("ol", { class: "race-fall" }, host);
    const most = Math.max(
      ...bars.flatMap(({ value, loss }) => [value, value + Math.max(loss, 0)]).filter(known),
      1e-9,
    );
    bars.forEach(({ name, value, loss, words }, k) => {
      const row = el("li", { "data-bar": name }, list);
      const last = k === bars.length - 1;
      el(
        "span",
        { class: "race-fall-name", text: last ? "speed-up" : NAMES[name] || readable(name) },
        row,
      );
      const track = el("span", { class: "race-fall-track", "aria-hidden": "true" }, row);
      el("i", { class: last ? "race-fall-value is-last" : "race-fall-value" }, track).style.width =
        share(value, most);
      el("i", { class: "race-fall-loss" }, track).style.width = share(Math.max(loss, 0), most);
      el("b", { text: figure(value) + (k ? "×" : "") }, row);
      el(
        "span",
        {
          class: "race-fall-less",
          text: k && known(loss) ? (loss >= 0 ? "−" : "+") + Math.abs(loss).toFixed(2) : "",
        },
        row,
      );
      el(
        "p",
        {
          text:
            readable(words) +
            (last && spread
              ? " Range " + intervalInWords(spread, this.store.meta.label || "") + "."
              : ""),
        },
        row,
      );
      if (last && spread && spread.verdict !== "even") row.dataset.verdict = spread.verdict;
    });
  }

  doctor(host, { speedup, words, remedies }, i) {
    const box = el("div", { class: "race-doctor", "data-part": "doctor" }, host);
    el("p", { class: "race-says", text: readable(words) }, box);
    if (!remedies?.length) return;
    const list = el("ul", { class: "race-remedies" }, box);
    for (const { words: remedy, predicted, label, parents } of remedies) {
      const item = el("li", {}, list);
      el("span", { text: readable(remedy) }, item);
      if (known(predicted)) el("b", { text: predicted.toFixed(2) + "×" }, item);
      const said = el("span", { class: "race-remedy-label" }, item);
      if (label) addTerm(said, readable(label), /what if/.test(label) ? "what if" : label);
      const more = gain(predicted - speedup);
      said.append(more && label ? ", " + more : more);
      if (parents)
        button(item, {
          text: "Put into lane " + (i + 1),
          hint: TOOLTIPS["button put into lane"],
        }).addEventListener("click", () => this.ask("apply", { lane: i, parents }));
    }
  }
}

const gain = (points) =>
  known(points) ? (points < 0 ? "−" : "+") + Math.abs(points).toFixed(2) : "";
const share = (value, most) =>
  (known(value) ? Math.max(0, Math.min(value / most, 1)) * 100 : 0) + "%";

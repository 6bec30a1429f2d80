/* An acceptance vector (the acceptance rate of each child rank) as bars. The visitor changes a rate
   by dragging its bar or with keys. */
import * as vectors from "./acceptance_vectors.js";
import { attr, el, pool, show, text } from "../../shared/web/dom.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm } from "../../shared/web/tooltips.js";

const MOST_BARS = 32;
const FEW_BARS = 6; // unless all are wanted
const POWER = 0.45; // height = rate ** POWER, so that small rates can be seen and dragged
const MOST_NUMBERS = 12; // with more bars, only the ranks in NUMBERED have a number
const NUMBERED = [1, 4, 8, 16, 32];
const TICKS = [0.01, 0.1, 0.3, 0.6, 1];
const KEY = [
  ["even", "smoothed, used for planning", "smoothed"],
  ["range", "95% interval of the counts", "interval"],
];
const NAME = "Acceptance rates by rank. Left and right select a rank, up and down change its rate";

const heightOf = (rate) => rate ** POWER;
const percentHeight = (rate) => (heightOf(rate) * 100).toFixed(2) + "%";
const rateAt = (height) => Number((height ** (1 / POWER)).toPrecision(3));

/** The bars, their axis and their key. */
export class AcceptanceBars {
  isWhole = false; // whether more than FEW_BARS are drawn

  /**
   * @param {HTMLElement} host
   * @param {import("./lab_state.js").LabState} state
   * @param {{pick: (k: number) => void, move: (k: number, rate: number) => void}} on `pick`:
   *   a bar was selected; `move`: a bar was moved to `rate`, by dragging or with a key
   */
  constructor(host, state, on) {
    this.state = state;
    this.on = on;
    el(
      "p",
      { class: "sq-lab-axis sq-dim", "data-part": "rate-axis", text: "↑ acceptance rate, a[k]" },
      host,
    );
    const box = el("div", { class: "sq-lab-bars", role: "group", "aria-label": NAME }, host);
    for (const tick of TICKS) {
      const place = { style: `bottom:${percentHeight(tick)}` };
      el("span", { class: "sq-lab-tick sq-dim", text: String(tick), ...place }, box);
    }
    this.row = el("div", { class: "sq-lab-bar-row" }, box);
    this.pool = pool((k) => this.makeBar(k));
    const across = { class: "sq-lab-axis sq-lab-axis-across sq-dim", "data-part": "child-axis" };
    el("p", { ...across, text: "child k →" }, host);
    this.more = el("div", { class: "sq-dim" }, host);
  }

  /**
   * Explain the marks of the bars.
   * @param {HTMLElement} host
   */
  makeKey(host) {
    this.key = el("div", { class: "sq-lab-key sq-dim" }, host);
    for (const [cls, words, term] of KEY) {
      const entry = el("span", { class: "sq-lab-key-entry", "data-key": cls }, this.key);
      el("i", { class: "sq-lab-key-" + cls }, entry);
      addTerm(entry, words, term);
    }
    rove(this.key);
  }

  makeBar(k) {
    const bounds = { "aria-valuemin": "0", "aria-valuemax": "1" };
    const look = { class: "sq-lab-bar", role: "slider", "data-rank": k, ...bounds };
    const node = el("div", { ...look, "aria-label": "rate of child " + (k + 1) }, this.row);
    const [fill, even, range] = ["fill", "even", "range"].map((name) =>
      el("i", { class: "sq-lab-" + name }, node),
    );
    node.addEventListener("focus", () => this.on.pick(k));
    node.addEventListener("keydown", (event) => this.press(event, k));
    node.addEventListener("pointerdown", (event) => this.grab(event, k));
    const number = el("span", { class: "sq-lab-k sq-dim", text: String(k + 1) }, node);
    return { node, fill, even, range, number };
  }

  press(event, k) {
    // from the state, because the bar still shows the old rate if two keys come within one frame
    const rate = this.state.rates[k];
    const step = event.shiftKey ? 0.1 : event.altKey ? 0.001 : 0.01;
    const moves = {
      ArrowUp: rate + step,
      ArrowDown: rate - step,
      PageUp: rate + 0.1,
      PageDown: rate - 0.1,
      Home: 0,
      End: 1,
    };
    const beside = { ArrowRight: k + 1, ArrowLeft: k - 1 };
    if (event.key in moves) this.on.move(k, Math.round(moves[event.key] * 1e4) / 1e4);
    else if (event.key in beside) this.pool.items[beside[event.key]]?.node.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Drag a bar until the pointer is released.
  grab(event, k) {
    if (event.button) return;
    event.preventDefault();
    const { node } = this.pool.items[k];
    node.focus();
    node.setPointerCapture(event.pointerId);
    const drag = ({ clientY }) => {
      const { bottom, height } = this.row.getBoundingClientRect();
      this.on.move(k, rateAt(Math.max(0, Math.min(1, (bottom - clientY) / height))));
    };
    const end = new AbortController();
    const { signal } = end;
    drag(event);
    node.addEventListener("pointermove", drag, { signal });
    for (const name of ["pointerup", "pointercancel"])
      node.addEventListener(name, () => end.abort(), { signal });
  }

  paint() {
    const { rates, even, origin, pick } = this.state;
    const shown = Math.min(rates.length, this.isWhole ? MOST_BARS : FEW_BARS);
    const smoothed = even === rates ? null : even;
    const counts = origin.visited > 0 && origin.accepted ? origin : null;
    const bars = this.pool.take(shown).slice(0, shown);
    bars.forEach(({ number }, k) =>
      show(number, shown <= MOST_NUMBERS || NUMBERED.includes(k + 1)),
    );
    const home = Math.min(pick, shown - 1);
    bars.forEach((bar, k) =>
      this.paintBar(bar, k, { rate: rates[k], smoothed, counts, pick, home }),
    );
    text(this.more, note(rates.length, shown, smoothed));
    this.paintKey({ even: smoothed, range: counts });
  }

  paintKey(has) {
    for (const entry of this.key.children)
      show(/** @type {HTMLElement} */ (entry), Boolean(has[entry.getAttribute("data-key")]));
  }

  paintBar(bar, k, { rate, smoothed, counts, pick, home }) {
    const { node, fill, even, range } = bar;
    const interval = counts && vectors.wilson(counts.accepted[k] ?? 0, counts.visited);
    fill.style.height = percentHeight(rate);
    attr(node, "aria-valuenow", rate.toFixed(4));
    attr(node, "tabindex", k === home ? "0" : "-1");
    attr(node, "title", title(k, rate, smoothed, counts, interval));
    node.classList.toggle("is-picked", k === pick);
    show(even, Boolean(smoothed));
    if (smoothed) even.style.bottom = percentHeight(smoothed[k]);
    show(range, Boolean(interval));
    if (interval) paintRange(range.style, interval);
  }
}

function paintRange(style, [low, high]) {
  style.bottom = percentHeight(low);
  style.height = ((heightOf(high) - heightOf(low)) * 100).toFixed(2) + "%";
}

function note(length, shown, smoothed) {
  const part = length > shown ? `${shown} of ${length} ranks. ` : "";
  return part + (smoothed ? "Rates may not rise with k: trees use the ticks." : "");
}

function title(k, rate, smoothed, counts, interval) {
  const parts = [`child ${k + 1}: ${rate.toPrecision(4)}`];
  if (interval) {
    const [low, high] = interval.map((value) => value.toFixed(4));
    // teacher-forced counts are sums of probabilities, so they may have fractions
    const accepted = Number((counts.accepted[k] ?? 0).toFixed(1));
    const hits = `accepted ${accepted} of ${counts.visited} times`;
    parts.push(`${hits}, 95% interval ${low} to ${high}`);
  }
  if (smoothed) parts.push(`smoothed ${smoothed[k].toPrecision(4)}`);
  return parts.join(", ");
}

/* A table of acceptance counted by rank and depth: one row per rank of a child, one column per
   depth of its parent. */
import { el, scrollBox, show } from "./dom.js";
import { addTerm, headed } from "./tooltips.js";

/**
 * How often the children of one rank were accepted: visits of their parents, times accepted, and
 * the lower and upper end of the 95% confidence interval of the rate. The times accepted may be an
 * expected value and thus a fraction.
 * @typedef {[number, number, number, number]} Counts
 *
 * Counts by rank and depth, made by `by_level_table` in ui/shared/acceptance_rates.py.
 * @typedef {object} AcceptanceByLevel
 * @property {string} name what was counted, such as "latest run"
 * @property {string} label "measured" or "recorded"
 * @property {number} temperature
 * @property {number} runs number of runs that were counted
 * @property {number} depths number of depths in the table
 * @property {number} ranks number of ranks in the table
 * @property {[number, number]} of number of depths and of ranks that were counted
 * @property {[number, number, number, number, number, number][]} cells each as
 *   depth, rank and Counts
 * @property {Counts[]} all the counts of each rank, summed over all depths
 * @property {boolean | null} holds whether acceptance depends on the rank alone; null if unknown
 * @property {[number, number] | null} doubtful depth and rank of the cell that differs most clearly
 *   from the same rank at the other depths; null if `holds` is null
 * @property {string} sentence what `holds` means, in words
 */

const MANY_RANKS = 4; // a table with more ranks takes the height of two others
const MANY_DEPTHS = 7; // a table with more depths takes the whole width

const ABOUT =
  "share of the visits to a node in which its child k was accepted, by the node’s depth";

const percent = (rate) => (rate * 100).toFixed(rate > 0 && rate < 0.095 ? 1 : 0);

/** A panel with one table for each set of counts. */
export class AcceptancePanel {
  /** @param {{root: HTMLElement, titleBox: HTMLElement, body: HTMLElement}} panel */
  constructor({ root, titleBox, body }) {
    this.root = root;
    el("span", { class: "sq-word sq-dim", text: ABOUT }, titleBox);
    addTerm(el("span", { class: "sq-word sq-dim" }, titleBox), "positional assumption");
    this.list = el("div", { class: "hw-by-levels" }, body);
  }

  /** @param {AcceptanceByLevel[]} tables */
  show(tables) {
    show(this.root, tables.length > 0);
    const card = (one) => acceptanceCard(one, { label: one.label, words: source(one) }).root;
    this.list.replaceChildren(...tables.map(card));
  }
}

/**
 * A table with its source above it and, if it has several depths, a sentence below it.
 * @param {AcceptanceByLevel} byLevel
 * @param {{label: string, words: string, place?: string}} about the source: its badge and words;
 *   `place`: name of the first depth
 * @returns {{root: HTMLElement, head: HTMLElement}} `head`: the line with the source
 */
export function acceptanceCard(byLevel, { label, words, place }) {
  const { depths, ranks, holds, sentence } = byLevel;
  const size = {
    "data-tall": String(ranks > MANY_RANKS),
    "data-wide": String(depths > MANY_DEPTHS),
  };
  const root = el("section", { class: "hw-one sq-stack", "data-label": label, ...size });
  const head = el("p", { class: "hw-one-head sq-line sq-dim" }, root);
  el("span", { class: "sq-badge", "data-label": label, text: label }, head);
  el("span", { text: words }, head);
  const look = { class: "hw-by-level-box sq-wide sq-more-right" };
  const box = scrollBox(root, `${label}, ${words}: acceptance by rank and depth`, look);
  box.append(acceptanceTable(byLevel, place));
  const part = { "data-part": "positional", "data-holds": String(holds) };
  if (depths > 1) el("p", { class: "hw-say", ...part, text: sentence }, root);
  return { root, head };
}

function source({ name, runs, temperature, depths, ranks, of }) {
  const whole = `${runs > 1 ? `${runs} ${name}` : name} at temperature ${temperature}`;
  const cut = [];
  if (of[0] > depths) cut.push(`the first ${depths} of ${of[0]} depths`);
  if (of[1] > ranks) cut.push(`the first ${ranks} of ${of[1]} children`);
  return cut.length ? `${whole} · shown: ${cut.join(", ")}` : whole;
}

/**
 * The table of one set of counts. The column for all depths is left out if there is only one depth.
 * @param {AcceptanceByLevel} byLevel
 * @param {string} [place] the heading of the column of depth 0
 * @returns {HTMLTableElement}
 */
function acceptanceTable(byLevel, place = "root") {
  const table = el("table", { class: "hw-by-level sq-full" });
  const isMany = byLevel.depths > 1;
  const depths = Array.from({ length: byLevel.depths }, (_, depth) => (depth ? `${depth}` : place));
  const names = [isMany ? "depth →" : "child", ...(isMany ? ["all"] : []), ...depths];
  const body = headed(table, names);
  const cells = new Map(byLevel.cells.map(([d, r, ...counts]) => [d + "," + r, counts]));
  for (let rank = 0; rank < byLevel.ranks; rank++) {
    const row = el("tr", {}, body);
    const child = "child " + (rank + 1);
    el("th", { text: child, scope: "row" }, row);
    if (isMany) cell(row, byLevel.all[rank], `${child}, all depths`).classList.add("hw-all");
    for (let depth = 0; depth < byLevel.depths; depth++) {
      const column = isMany ? `depth ${depth}` : place;
      const box = cell(row, cells.get(depth + "," + rank), `${child}, ${column}`);
      box.classList.toggle("hw-doubt", isDoubtful(byLevel, depth, rank));
    }
  }
  return table;
}

const isDoubtful = ({ holds, doubtful }, depth, rank) =>
  holds === false && doubtful[0] === depth && doubtful[1] === rank;

function cell(row, counts, what) {
  const box = el("td", {}, row);
  if (!counts?.[0]) return box;
  const [visits, accepted, low, high] = counts;
  const share = percent(accepted / visits) + "%";
  const of = `${Number.isInteger(accepted) ? accepted : accepted.toFixed(1)}/${visits}`;
  box.style.setProperty("--h", String(accepted / visits));
  el("b", { text: share }, box);
  el("small", { text: of }, box);
  box.title = `${what}: ${of}, ${share} (95% confidence interval ${percent(low)} to ${percent(high)}%)`;
  return box;
}

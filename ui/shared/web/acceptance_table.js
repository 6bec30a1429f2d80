/* The acceptance atlas as a table: ranks down, depths across, every cell with its counts. */
import { el, show } from "./dom.js";
import { addTerm } from "./tooltips.js";

const percent = (rate) => (rate * 100).toFixed(rate > 0 && rate < 0.095 ? 1 : 0);

export class AcceptancePanel {
  constructor(panel) {
    this.panel = panel;
    el(
      "span",
      {
        class: "sq-word",
        text: "how often the walk, standing at a node of a depth, went on to child k",
      },
      panel.titleBox,
    );
    addTerm(el("span", { class: "sq-word" }, panel.titleBox), "positional assumption");
    this.list = el("div", { class: "hw-atlases" }, panel.body);
  }

  show(atlases) {
    show(this.panel.root, atlases.length > 0);
    this.list.replaceChildren(...atlases.map((atlas) => this.one(atlas)));
  }

  one(atlas) {
    const root = el("section", {
      class: "hw-one",
      "data-label": atlas.label,
      style: `--columns: ${atlas.depths + 1}`,
    });
    const head = el("p", { class: "hw-one-head" }, root);
    el("span", { class: "sq-badge", "data-label": atlas.label, text: atlas.label }, head);
    const runs = atlas.runs > 1 ? `${atlas.runs} ${atlas.name}` : atlas.name;
    const cut =
      atlas.of[0] > atlas.depths || atlas.of[1] > atlas.ranks
        ? ` · ${atlas.depths} of ${atlas.of[0]} depths, ${atlas.ranks} of ${atlas.of[1]} ranks`
        : "";
    el("span", { text: `${runs} at temperature ${atlas.temperature}${cut}` }, head);
    el("div", { class: "hw-atlas-box", tabindex: "0" }, root).append(acceptanceTable(atlas));
    el(
      "p",
      {
        class: "hw-say",
        "data-part": "positional",
        "data-holds": String(atlas.holds),
        text: atlas.sentence,
      },
      root,
    );
    return root;
  }
}

/** The table of one atlas. With one depth only, its column is headed `place` and no other is needed for all depths. */
export function acceptanceTable(atlas, place = "root") {
  const table = el("table", { class: "hw-atlas" });
  const head = el("tr", {}, el("thead", {}, table));
  const many = atlas.depths > 1;
  el("th", { text: many ? "depth" : "rank", scope: "col" }, head);
  for (let depth = 0; depth < atlas.depths; depth++)
    el("th", { text: depth ? String(depth) : place, scope: "col" }, head);
  if (many) el("th", { text: "all", scope: "col" }, head);
  const body = el("tbody", {}, table);
  const cells = new Map(atlas.cells.map((cell) => [cell[0] + "," + cell[1], cell.slice(2)]));
  for (let rank = 0; rank < atlas.ranks; rank++) row(body, atlas, cells, rank, many);
  return table;
}

function row(body, atlas, cells, rank, many) {
  const row = el("tr", {}, body);
  el("th", { text: "child " + (rank + 1), scope: "row" }, row);
  for (let depth = 0; depth < atlas.depths; depth++) {
    const box = cell(row, cells.get(depth + "," + rank), `child ${rank + 1} at depth ${depth}`);
    if (atlas.holds === false && atlas.doubtful[0] === depth && atlas.doubtful[1] === rank)
      box.classList.add("hw-doubt");
  }
  if (many) cell(row, atlas.all[rank], `child ${rank + 1} at all depths`).classList.add("hw-all");
}

function cell(row, counts, what) {
  const box = el("td", {}, row);
  if (!counts || !counts[0]) return box;
  const [visits, accepted, low, high] = counts;
  const hits = Number.isInteger(accepted) ? String(accepted) : accepted.toFixed(1);
  box.style.setProperty("--h", accepted / visits);
  el("b", { text: percent(accepted / visits) + " %" }, box);
  el("small", { text: hits + "/" + visits }, box);
  box.title = `${what}: ${hits} of ${visits}, ${percent(accepted / visits)} % (95 % interval ${percent(low)} to ${percent(high)} %)`;
  return box;
}

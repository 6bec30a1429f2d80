/* The verdict of a losslessness test in one or two sentences, and the figures behind it. */
import { el, show, text } from "../../shared/web/dom.js";
import { count, percent, short } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { fillTile, makeTile } from "../../shared/web/tile.js";

/** @typedef {import("./lossless_view.js").Test} Test */

const TILES = [
  ["draws", "Samples", "lossless samples"],
  ["square", "Chi-square", "chi-square"],
  ["p", "p-value", "lossless p-value"],
  ["distance", "Total variation", "total variation"],
];

/** The panel above the table of outcomes (cell_table.js). */
export class VerdictPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "verdict", title: "Is the output lossless?", cls: "ls-verdict" };
    this.panel = makePanel(host, about);
    const badge = { class: "sq-badge", "data-label": "measured", text: "measured" };
    el("span", badge, this.panel.tools);
    this.decoder = el("span", { class: "ls-decoder", "data-part": "decoder" }, this.panel.titleBox);
    this.words = el("p", { class: "ls-words", role: "status" }, this.panel.body);
    const tiles = el("div", { class: "ls-tiles" }, this.panel.body);
    const made = TILES.map(([key, label, term]) => {
      return [key, makeTile(tiles, { class: "ls-tile" }, label, term)];
    });
    this.tiles = Object.fromEntries(made);
    rove(tiles);
    show(this.panel.root, false);
  }

  /** @param {Test} test */
  show(test) {
    show(this.panel.root, true);
    this.panel.root.dataset.kind = test.kind;
    text(this.decoder, test.broken ? test.decoder : "");
    text(this.words, test.verdict);
    const { draws, square, p, distance } = this.tiles;
    put(draws, test.draws.toLocaleString("en-US"), `of ${test.wanted.toLocaleString("en-US")}`);
    put(square, squareText(test.statistic), `${count(test.freedom, "degree")} of freedom`);
    put(p, short(test.p_value), test.going ? "so far" : "not lossless if below 0.000001");
    put(distance, percent(test.distance, 1), `${percent(test.floor, 1)} on average by chance`);
  }
}

const put = (tile, value, note) => fillTile(tile, value, "", note);

const squareText = (statistic) =>
  typeof statistic === "number" && statistic > 1e9 ? "∞" : short(statistic);

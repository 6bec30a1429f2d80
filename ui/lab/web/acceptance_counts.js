/* Counts side by side: what was measured since the page was opened, each with its intervals and, where levels were counted, its atlas. */
import { makePanel } from "../../shared/web/panel.js";
import { acceptanceTable } from "../../shared/web/acceptance_table.js";
import { button, el, show } from "../../shared/web/dom.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const MOST = 8; // counts held; the oldest goes

/** Where a vector comes from that was measured just now. */
const origin = ({ words, accepted, visited }) => ({
  label: "measured",
  words,
  accepted,
  visited,
});

export class AcceptanceCounts {
  /** onUse(rates, origin): somebody wants a count's vector back. */
  constructor(host, onUse) {
    this.onUse = onUse;
    this.held = [];
    const panel = (this.panel = makePanel(host, {
      part: "counts",
      title: "Acceptance, measured",
      cls: "sq-lab-counts",
    }));
    el(
      "span",
      {
        class: "sq-word",
        text: `side by side, the last ${MOST}; a cell: share, and accepted of visited`,
      },
      panel.titleBox,
    );
    this.list = el("div", { class: "sq-lab-count-list" }, panel.body);
    this.paint();
  }

  add(count) {
    this.held = [...this.held, count].slice(-MOST);
    this.paint();
  }

  drop(count) {
    this.held = this.held.filter((one) => one !== count);
    this.paint();
  }

  paint() {
    show(this.panel.root, this.held.length > 0);
    this.list.replaceChildren(...this.held.map((count) => this.card(count)));
  }

  card(count) {
    const { atlas } = count;
    const card = el("section", {
      class: "sq-lab-counted",
      "data-part": "counted",
      "data-depths": atlas.depths > 1 ? "many" : "one",
    });
    const head = el("p", { class: "sq-lab-counted-head" }, card);
    el("span", { class: "sq-badge", "data-label": "measured", text: "measured" }, head);
    el(
      "span",
      {
        class: "sq-lab-counted-words",
        text: `${atlas.name} · T = ${count.temperature}, top-p ${count.top_p} · ${count.visited} ${count.unit}`,
      },
      head,
    );
    const tools = el("span", { class: "sq-segments" }, head);
    button(tools, { text: "Use", hint: TOOLTIPS["button use a count"] }).addEventListener(
      "click",
      () => this.onUse(count.rates, origin(count)),
    );
    button(tools, { icon: "close", label: "Remove this count" }).addEventListener("click", () =>
      this.drop(count),
    );
    el("div", { class: "hw-atlas-box", tabindex: "0" }, card).append(
      acceptanceTable(atlas, count.unit === "roots" ? "root" : "position"),
    );
    if (atlas.depths > 1)
      el(
        "p",
        { class: "sq-lab-note", "data-holds": String(atlas.holds), text: atlas.sentence },
        card,
      );
    return card;
  }
}

export const counts = { origin };

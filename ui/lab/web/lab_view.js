/* The tree lab: builds its panels around one state, and is all that the page outside has to know. */
import { AcceptanceCounts } from "./acceptance_counts.js";
import { AcceptanceEditor } from "./acceptance_editor.js";
import * as vectors from "./acceptance_vectors.js";
import { Curves, Margins } from "./curves.js";
import { DpInLab } from "./dp/dp_in_lab.js";
import { LabState } from "./lab_state.js";
import { LabTree } from "./lab_tree.js";
import { PaperCheck } from "./paper_check.js";
import { ReadOuts } from "./read_outs.js";
import { ShapesTable } from "./shapes_table.js";
import * as dom from "../../shared/web/dom.js";
import { el } from "../../shared/web/dom.js";
import { loadPlotly } from "../../shared/web/plotly.js";

const STILL = 140; // ms without a change before figures are drawn anew

class Lab {
  constructor(element, { trigger, plotly } = {}) {
    this.root = element;
    this.root.replaceChildren();
    this.address = plotly || "";
    const link = {
      trigger: trigger || (() => {}),
      run: (parents) => this.send(parents),
      count: (count) => this.counts.add(count),
    };
    this.trigger = link.trigger;
    const state = (this.state = new LabState());
    const grid = el("div", { class: "sq-lab-grid" }, element);
    const [left, middle, right] = ["left", "middle", "right"].map((name) =>
      el("div", { class: "sq-lab-" + name }, grid),
    );
    this.editor = new AcceptanceEditor(left, state, link);
    this.tree = new LabTree(middle, state);
    this.numbers = new ReadOuts(right, state, link);
    this.margins = new Margins(right, state);
    const below = el("div", { class: "sq-lab-below" }, element);
    this.table = new ShapesTable(below, state);
    this.curves = new Curves(below, state);
    new PaperCheck(left);
    this.counts = new AcceptanceCounts(element, (rates, origin) => this.editor.take(rates, origin));
    this.dp = new DpInLab(element, state);
    state.watch(() => this.paint());
    this.size = dom.sized(element, () => this.seen());
    new MutationObserver(() => this.later()).observe(document.body, {
      attributes: true,
      attributeFilter: ["class"],
    });
    this.editor.choose("paper");
  }

  seen() {
    const comes = this.size.w > 0 && !this.open;
    this.open = this.size.w > 0;
    if (!this.open) return;
    if (comes) this.trigger("select", {}); // what other tabs have changed meanwhile is asked for each time
    this.state.changed();
  }

  paint() {
    if (!this.size.w) return; // in a tab that is not open
    for (const part of [this.editor, this.tree, this.numbers, this.table, this.dp]) part.paint();
    this.later();
  }

  /** Figures and the machine's best tree wait until the hand is still. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), STILL);
  }

  async settle() {
    if (!this.size.w) return;
    this.numbers.settle();
    if (!this.address) return; // a page without the figures' library
    try {
      const Plotly = await loadPlotly(this.address);
      await Promise.all([this.curves.paint(Plotly), this.margins.paint(Plotly)]);
    } catch (problem) {
      for (const figure of [this.curves, this.margins]) figure.failed(problem);
    }
  }

  send(parents) {
    this.numbers.say("");
    this.trigger("decode", { parents });
  }

  /** Whether the vector on screen is one of other models than are in use now. */
  others({ measurable, pair }, mine) {
    if (!measurable || pair === this.pair) return false;
    const first = this.pair === undefined;
    this.pair = pair;
    return !first || mine.length > 0;
  }

  /** From the server: {survey?, own?, pair?, profile?, profiles?, ways?, prompts?, most?, temperature?, count?, refused?}; what is missing stays as it is. */
  ingest(message) {
    const data = typeof message === "string" ? JSON.parse(message) : message;
    if (data.survey) {
      const mine = vectors.own(data.own);
      const known = vectors.recorded(data.survey);
      const usual = mine[0] || known.find((one) => one.temperature === (data.temperature ?? 0.6));
      this.editor.add([...mine, ...known]);
      const others = this.others(data, mine);
      if ((!this.touched || others) && usual) this.editor.choose(usual.key);
      this.touched = true;
    }
    this.editor.counting.offer(data.ways, data.prompts);
    if (data.measurable) dom.show(this.editor.counting.root, true);
    if (data.profile !== undefined || data.profiles)
      this.numbers.whatif.take(data.profile, data.profiles);
    if (data.most) this.state.set({ most: data.most });
    if (data.count) this.editor.counting.take(data.count);
    if (data.refused) this.numbers.say(data.refused);
  }
}

/** Build the lab inside `element`; answers {ingest, state, lab}. */
export function mountLab(element, options) {
  const made = new Lab(element, options);
  return { ingest: (message) => made.ingest(message), state: made.state, lab: made };
}

/* The figures of the tree on show: what is expected of it, what is predicted on this machine, and what one node more is worth. */
import { makePanel } from "../../shared/web/panel.js";
import { saveText } from "../../shared/web/save_file.js";
import * as exportTree from "./export_tree.js";
import { formatShare } from "./export_tree.js";
import * as planner from "./planner.js";
import * as shapes from "./tree_shapes.js";
import { WhatIf } from "./what_if_profile.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import * as pictures from "../../shared/web/save_picture.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const FORMS = [
  ["json", "Tree, project JSON"],
  ["nodelink", "networkx node-link JSON"],
  ["paths", "Medusa path list"],
  ["branching", "SpecInfer branching list"],
  ["csv", "Nodes as CSV"],
  ["svg", "Picture, SVG"],
  ["png", "Picture, PNG"],
];

export class ReadOuts {
  constructor(host, state, link) {
    this.state = state;
    this.link = link;
    const panel = (this.panel = makePanel(host, {
      part: "numbers",
      title: "This tree",
      cls: "sq-lab-numbers",
    }));
    this.word = el("span", { class: "sq-word" }, panel.titleBox);
    this.whatif = new WhatIf(panel.body, state, () => {
      this.settle();
      if (state.shown === "best") this.useBest(); // another tree is what the other machine is asked about
    });
    const tiles = el("div", { class: "sq-lab-tiles" }, panel.body);
    this.tiles = Object.fromEntries(
      [
        ["tokens", "Tokens a step", "expected", "expected"],
        ["speedup", "Speed-up", "predicted", "predicted here"],
        ["seconds", "Time of a step", "predicted", "predicted here"],
        ["levels", "", "Levels", "levels"],
      ].map(([name, label, word, term]) => [name, this.tile(tiles, name, label, word, term)]),
    );
    this.passes = el("p", { class: "sq-lab-says", hidden: "" }, panel.body);
    addTerm(this.passes, "Rows in each draft pass", "draft pass");
    this.rows = el("span", {}, this.passes);
    this.margin = el("p", { class: "sq-lab-says", "data-part": "margin" }, panel.body);
    this.buttons(panel.body);
    this.plan = el("p", { class: "sq-lab-says sq-lab-plan", "data-part": "plan" }, panel.body);
    this.planText = el("span", {}, this.plan);
    this.use = button(this.plan, {
      text: "Use it",
      hint: TOOLTIPS["button use the fastest tree"],
    });
    this.use.addEventListener("click", () => this.useBest());
  }

  /** Put the fastest tree on show: its budget and its level cap. */
  useBest() {
    if (this.planned)
      this.state.set({
        n: this.planned.parents.length,
        levels: Math.max(2, this.planned.levels),
        shown: "best",
      });
  }

  tile(host, name, label, word, term) {
    const tile = el("div", { class: "sq-lab-tile", "data-part": "tile-" + name }, host);
    const head = el("div", { class: "sq-tile-label", text: label && label + " " }, tile);
    addTerm(label ? el("span", { class: "sq-word" }, head) : head, word, term);
    const line = el("div", { class: "sq-tile-line" }, tile);
    return {
      tile,
      value: el("span", { class: "sq-tile-value" }, line),
      unit: el("span", { class: "sq-tile-unit" }, line),
      note: el("div", { class: "sq-tile-note" }, tile),
    };
  }

  buttons(host) {
    const line = el("div", { class: "sq-lab-line sq-lab-actions" }, host);
    this.run = button(line, {
      text: "Run this tree",
      cls: "sq-lab-run",
      hint: TOOLTIPS["button run this tree"],
    });
    attr(this.run, "data-part", "run");
    this.run.addEventListener("click", () => this.link.run(planner.canonical(this.state.parents)));
    this.forms = el(
      "select",
      { class: "sq-input", "aria-label": "Save the tree as", "data-part": "export" },
      line,
    );
    el("option", { value: "", text: "Save as…" }, this.forms);
    for (const [value, label] of FORMS)
      this["form_" + value] = el("option", { value, text: label }, this.forms);
    this.forms.addEventListener("change", () => {
      this.save(this.forms.value);
      this.forms.value = "";
    });
    this.refused = el("p", { class: "sq-lab-problem", role: "alert", hidden: "" }, host);
  }

  save(form) {
    const { state } = this;
    const { parents } = state;
    const name = `tree-${parents.length}`;
    const made = {
      json: () => saveText(name + ".json", exportTree.treeJson(parents)),
      nodelink: () => saveText(name + "-networkx.json", exportTree.nodeLink(parents)),
      paths: () => saveText(name + "-paths.json", exportTree.paths(parents)),
      branching: () =>
        saveText(name + "-branching.json", JSON.stringify(exportTree.branchingOf(parents))),
      csv: () => saveText(name + ".csv", exportTree.nodesCsv(parents, state.even), "text/csv"),
      svg: () => saveText(name + ".svg", this.picture(), "image/svg+xml"),
      png: () => {
        const source = this.picture();
        const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(source);
        pictures.raster(source, Number(width), Number(height), name);
      },
    };
    made[form]?.();
  }

  /** The tree on show as SVG, in colours that print. */
  picture() {
    const { state } = this;
    const { parents } = state;
    const tokens = planner.expectedTokens(parents, state.even).toFixed(3);
    return exportTree.treeSvg(
      parents,
      state.even,
      `${shapes.label(state.shown, state.n, state)}, ${parents.length} nodes, ${tokens} tokens a step expected`,
    );
  }

  say(words) {
    text(this.refused, words);
    show(this.refused, Boolean(words));
  }

  paint() {
    const { state } = this;
    const key = String(state.version);
    if (this.known === key) return;
    this.known = key;
    this.whatif.paint();
    const { parents, profile } = state;
    const tokens = planner.expectedTokens(parents, state.even);
    const told = profile ? planner.predict(parents, state.even, profile) : null;
    const depths = planner.depthsOf(parents);
    const levels = depths.reduce((most, depth) => Math.max(most, depth), 0) + 1;
    const widths = planner.widths(parents);
    text(
      this.word,
      shapes.label(state.shown, state.n, state) + ", " + format.count(parents.length, "node"),
    );
    this.put("tokens", tokens.toFixed(3), "", `of ${levels} at most`);
    this.put(
      "speedup",
      told ? told.speedup.toFixed(2) : "–",
      told ? "×" : "",
      told ? "against plain decoding" : "this machine is not timed yet",
    );
    this.put(
      "seconds",
      told ? format.ms(told.seconds).split(" ")[0] : "–",
      told ? format.ms(told.seconds).split(" ")[1] : "",
      told ? `plain ${format.ms(planner.plainSeconds(profile))} a token` : "",
    );
    this.put(
      "levels",
      String(levels),
      "",
      format.count(widths.length, "draft pass", "draft passes"),
    );
    attr(
      this.tiles.speedup.tile,
      "data-verdict",
      told ? (told.speedup > 1 ? "faster" : told.speedup < 1 ? "slower" : "") : "",
    );
    const list = widths.length > 14 ? [...widths.slice(0, 11), "…", ...widths.slice(-2)] : widths;
    show(this.passes, widths.length > 0);
    text(this.rows, ": " + list.join(", ") + ".");
    this.marginal();
    this.runnable(parents);
    this.branch(parents);
  }

  put(name, value, unit, note) {
    const tile = this.tiles[name];
    text(tile.value, value);
    text(tile.unit, unit);
    text(tile.note, note);
  }

  /** The last node's gain against its cost, both as shares, which is what decides whether it pays. */
  marginal() {
    const { state } = this;
    const n = state.n;
    const growth = state.growth;
    show(this.margin, state.shown === "best" && n > 1);
    if (state.shown !== "best" || n < 2) return;
    const gain = growth.gains[n - 1];
    const share = gain / growth.totals[n - 2];
    if (!state.profile)
      return text(
        this.margin,
        `Node ${n} adds ${formatShare(gain)} tokens a step (${percent(share)}).`,
      );
    const times = state.times;
    const cost = times[n - 1] - times[n - 2];
    const price = cost / times[n - 2];
    text(
      this.margin,
      `Node ${n} adds ${formatShare(gain)} tokens a step (+${percent(share)}) and costs ${format.ms(cost)} (+${percent(price)}): ` +
        (share > price ? "it pays for itself." : "by itself it does not pay."),
    );
  }

  runnable(parents) {
    const fits = parents.length <= this.state.most;
    this.run.disabled = !fits;
    attr(
      this.run,
      "title",
      fits
        ? TOOLTIPS["button run this tree"]
        : `A tree of ${parents.length} nodes; here at most ${this.state.most} may run`,
    );
  }

  branch(parents) {
    const list = exportTree.branchingOf(parents);
    this.form_branching.disabled = list === null;
    text(
      this.form_branching,
      list === null ? "SpecInfer branching list (not of that form)" : "SpecInfer branching list",
    );
  }

  /** The best for this machine; worked out when the hand is still, as it looks at every size and cap. */
  settle() {
    const { state } = this;
    show(this.use, Boolean(state.profile));
    if (!state.profile)
      return text(
        this.planText,
        "The best tree for this machine is known once the models are loaded and timed.",
      );
    const key = state.even.join() + state.most;
    if (this.settled !== key || this.timed !== state.profile) {
      this.settled = key;
      this.timed = state.profile;
      const most = Math.min(planner.nodesFor(state.profile), state.most);
      const plan = planner.bestPlan(state.even, state.profile, most);
      this.planned = { ...plan, most, levels: planner.widths(plan.parents).length + 1 };
    }
    const { parents, levels, speedup, most } = this.planned;
    const full = most > 1 && parents.length === most ? `, the most nodes looked at` : "";
    const where = `Fastest ${state.elsewhere ? "there" : "here"} with these rates`;
    const times = state.elsewhere
      ? `${state.profile.source}: ${state.elsewhere}`
      : `${state.profile.source} on ${state.profile.device}`;
    text(
      this.planText,
      `${where}: ${format.count(parents.length, "node")} in ${format.count(levels, "level")}${full}, ${speedup.toFixed(2)}× predicted (times ${times}). `,
    );
  }
}

const percent = (share) =>
  (share >= 0.0995 ? (share * 100).toFixed(0) : Number((share * 100).toPrecision(2))) + " %";

/* The numbers of the tree shown: its expected tokens, and its step time and speed-up as predicted
   from the chosen hardware profile. For the best tree, also whether its last node is worth its
   cost. */
import { fillTile, makePanel, makeTile } from "../../shared/web/panel.js";
import { ClockMenu } from "./clock_menu.js";
import * as exportTree from "./export_tree.js";
import { formatShare } from "./export_tree.js";
import * as planner from "../../shared/web/planner.js";
import * as shapes from "./tree_shapes.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { saveText } from "../../shared/web/save_file.js";
import * as pictures from "../../shared/web/save_picture.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const FORMS = [
  ["json", "Tree, JSON of this program"],
  ["nodelink", "networkx node-link JSON"],
  ["paths", "Medusa path list"],
  ["branching", "SpecInfer branching list"],
  ["csv", "Nodes as CSV"],
  ["svg", "Picture, SVG"],
  ["png", "Picture, PNG"],
  ["page", "This view as a web page"],
];
const TILES = [
  ["tokens", "Tokens per step", "expected", "expected"],
  ["speedup", "Speed-up", "predicted", "predicted here"],
  ["seconds", "Step time", "predicted", "predicted here"],
  ["levels", "", "Levels", "levels"],
];

/** @typedef {import("./lab_state.js").LabState} LabState */
/**
 * What the page around the Lab can do. `run`: null if the page cannot run trees.
 * @typedef {{run: ((parents: number[], clock: string) => void) | null, savePage?: () => void,
 *   copyLink?: () => void}} Link
 */

/** The panel with the numbers, and the buttons that run and save the tree. */
export class ReadOuts {
  #known = ""; // version and `most` of the state that was painted last

  /**
   * @param {HTMLElement} host
   * @param {LabState} state
   * @param {Link} link
   */
  constructor(host, state, link) {
    this.state = state;
    this.link = link;
    const panel = makePanel(host, { part: "numbers", title: "This tree", cls: "sq-lab-numbers" });
    this.word = el("span", { class: "sq-word" }, panel.titleBox);
    this.clock = new ClockMenu(panel.body, state, () => this.chosen());
    this.clock.canRun = Boolean(link.run);
    this.flag = el("p", { class: "sq-flag sq-lab-flag", text: "hypothetical" }, panel.body);
    const tiles = el("div", { class: "sq-lab-tiles" }, panel.body);
    this.tiles = Object.fromEntries(TILES.map((about) => [about[0], this.tile(tiles, about)]));
    this.passes = el("p", { class: "sq-lab-says", hidden: "" }, panel.body);
    addTerm(this.passes, "Nodes read in each draft pass", "draft pass");
    this.rows = el("span", {}, this.passes);
    this.margin = el("p", { class: "sq-lab-says", "data-part": "margin" }, panel.body);
    this.makeButtons(panel.body);
    this.makePlan(panel.body);
    rove(panel.body, ".sq-term");
  }

  makePlan(host) {
    this.plan = el("p", { class: "sq-lab-says sq-lab-plan", "data-part": "plan" }, host);
    this.planText = el("span", {}, this.plan);
    const hint = TOOLTIPS["button use the planned tree"];
    this.use = button(this.plan, { text: "Use this tree", hint, act: () => this.useBest() });
  }

  /** Called when another profile was chosen. If Sequoia's tree is shown, it gets the size
   * and the level cap that are planned for the new profile. */
  chosen() {
    if (this.state.shown === "best") this.useBest();
    this.settle();
  }

  /** Show the planned tree: set the node budget to its size. The level cap is removed if the
   * planned tree is the best of its size without a cap; otherwise, the cap is the tree's levels. */
  useBest() {
    const { state } = this;
    if (!state.profile) return;
    const { parents, levels } = this.planned();
    const n = parents.length;
    const free = planner.canonical(state.freeGrowth.parents.slice(0, n));
    const isCapped = parents.some((parent, node) => parent !== free[node]);
    state.set({ n, levels: isCapped ? Math.max(2, levels) : null, shown: "best" });
  }

  tile(host, about) {
    const [name, label, word, term] = about;
    const made = makeTile(host, { "data-part": "tile-" + name }, word, term);
    if (label) made.name.before(label + " ");
    return made;
  }

  makeButtons(host) {
    const { state, link } = this;
    const line = el("div", { class: "sq-lab-line sq-lab-actions" }, host);
    const hint = TOOLTIPS["button run this tree"];
    this.run = button(line, {
      text: "Run this tree",
      cls: "sq-lab-run",
      hint,
      part: "run",
      act: () => link.run(planner.canonical(state.parents), this.clock.keyInDecode),
    });
    const name = { "aria-label": "Save the tree as", "data-part": "export" };
    this.forms = el("select", { class: "sq-input", ...name }, line);
    el("option", { value: "", text: "Save as…" }, this.forms);
    show(this.run, Boolean(link.run));
    const forms = FORMS.filter(([value]) => value !== "page" || link.savePage);
    const options = forms.map(([value, label]) => el("option", { value, text: label }, this.forms));
    this.branching = options.find(({ value }) => value === "branching");
    this.forms.addEventListener("change", () => {
      this.save(this.forms.value);
      this.forms.value = "";
    });
    if (link.copyLink)
      button(line, { text: "Copy link", hint: TOOLTIPS["button copy link"], act: link.copyLink });
    this.refused = el("p", { class: "sq-problem", role: "alert", hidden: "" }, host);
  }

  save(form) {
    const { even, parents } = this.state;
    const name = `tree-${parents.length}`;
    const json = (suffix, words) => saveText(`${name}${suffix}.json`, words);
    const picture = () => pictures.drawing(this.picture(), form, name);
    const made = {
      json: () => json("", exportTree.treeJson(parents)),
      nodelink: () => json("-networkx", exportTree.nodeLink(parents)),
      paths: () => json("-paths", exportTree.paths(parents)),
      branching: () => json("-branching", JSON.stringify(exportTree.branchingOf(parents))),
      csv: () => saveText(name + ".csv", exportTree.nodesCsv(parents, even), "text/csv"),
      svg: picture,
      png: picture,
      page: () => this.link.savePage(),
    };
    made[form]?.();
  }

  picture() {
    const { state } = this;
    const { even, parents } = state;
    const tokens = planner.expectedTokens(parents, even).toFixed(3);
    const label = shapes.label(state.shown, state.n, state);
    const title = `${label}, ${format.count(parents.length, "node")}, ${tokens} expected tokens per step`;
    return exportTree.treeSvg(parents, even, title);
  }

  say(words) {
    text(this.refused, words);
    show(this.refused, Boolean(words));
  }

  paint() {
    const { state } = this;
    const key = state.version + "|" + state.most;
    if (this.#known === key) return;
    this.#known = key;
    const { parents } = state;
    this.clock.paint();
    const name = shapes.label(state.shown, state.n, state);
    text(this.word, `${name}, ${format.count(parents.length, "node")}`);
    this.paintTiles(parents);
    this.paintMargin();
    this.paintRun(parents);
    this.paintBranching(parents);
  }

  paintTiles(parents) {
    const { even, profile, isHypothetical } = this.state;
    const widths = planner.widths(parents);
    show(this.flag, isHypothetical);
    const levels = widths.length + 1;
    const tokens = planner.expectedTokens(parents, even);
    this.put("tokens", tokens.toFixed(3), "", `at most ${levels}, one per level`);
    const passes = format.count(widths.length, "draft pass", "draft passes");
    this.put("levels", String(levels), "", passes);
    if (profile) this.paintTimes(planner.predict(parents, even, profile), profile);
    else this.paintNoTimes();
    const list = widths.length > 14 ? [...widths.slice(0, 11), "…", ...widths.slice(-2)] : widths;
    show(this.passes, widths.length > 0);
    text(this.rows, ": " + list.join(", ") + ".");
  }

  paintTimes({ speedup, seconds }, profile) {
    const [value, unit] = format.ms(seconds).split(" ");
    const faster = speedup > 1 ? "faster" : "slower";
    this.put("speedup", speedup.toFixed(2), "×", "vs. plain decoding");
    this.put(
      "seconds",
      value,
      unit,
      `plain: ${format.ms(planner.plainSeconds(profile))} per token`,
    );
    attr(this.tiles.speedup.tile, "data-verdict", speedup === 1 ? "" : faster);
  }

  paintNoTimes() {
    const isSaved = !this.clock.canRun;
    this.put("speedup", "–", "", isSaved ? "saved without times" : NOT_TIMED);
    this.put("seconds", "–", "", "");
    attr(this.tiles.speedup.tile, "data-verdict", "");
  }

  put(name, value, unit, note) {
    fillTile(this.tiles[name], value, unit, note);
  }

  // Says by what percentage the last node of the best tree raises the expected tokens, and by what
  // percentage it raises the step time.
  paintMargin() {
    const { n, growth, shown, profile } = this.state;
    const grows = shown === "best" && n > 1;
    show(this.margin, grows);
    if (!grows) return;
    const gain = growth.gains[n - 1];
    const share = gain / growth.totals[n - 2];
    const words = `The last node adds ${formatShare(gain)} tokens per step (+${percent(share)})`;
    if (!profile) return text(this.margin, words + ".");
    const { times } = this.state;
    const cost = times[n - 1] - times[n - 2];
    const price = cost / times[n - 2];
    const verdict = share > price ? "worth it" : "not worth it on its own";
    text(this.margin, `${words} and costs ${format.ms(cost)} (+${percent(price)}): ${verdict}.`);
  }

  paintRun(parents) {
    const { most } = this.state;
    const fits = parents.length <= most;
    this.run.disabled = !fits;
    const refused = `This tree has ${parents.length} nodes; at most ${most} can run here`;
    attr(this.run, "title", fits ? TOOLTIPS["button run this tree"] : refused);
  }

  paintBranching(parents) {
    const fits = exportTree.branchingOf(parents) !== null;
    this.branching.disabled = !fits;
    text(this.branching, "SpecInfer branching list" + (fits ? "" : " (this tree has none)"));
  }

  // The tree that Decode and Race plan. Slow, because many sizes and level caps are tried.
  planned() {
    const { state } = this;
    const { even, profile, most } = state;
    return state.once("plan", [even, profile, most], () => {
      const nodes = Math.min(planner.nodesFor(profile), most);
      const plan = planner.bestPlan(even, profile, nodes);
      return { ...plan, nodes, levels: planner.widths(plan.parents).length + 1 };
    });
  }

  /** Update the line about the planned tree. Slow. */
  settle() {
    const { profile, elsewhere, parents } = this.state;
    const plan = profile && this.planned();
    const isShown = plan && planner.isSameTree(plan.parents, parents);
    show(this.use, Boolean(plan) && !isShown);
    const source = elsewhere ?? profile?.device;
    const at = { where: this.clock.where, source, isShown };
    const noPlan = this.clock.canRun ? NO_PLAN : NO_PLAN_SAVED;
    text(this.planText, plan ? planWords(plan, profile, at) : noPlan);
  }
}

const TIMES = {
  measured: "measured",
  recorded: "recorded",
  paper: "the paper’s",
  simulated: "simulated",
};
const NOT_TIMED = "this machine has not been timed yet";
const NO_PLAN =
  "The tree planned for this machine is named here once the models are loaded and timed.";
const NO_PLAN_SAVED =
  "This page was saved before the machine was timed, so it cannot name the tree planned for that machine.";

function planWords({ parents, levels, speedup, nodes }, profile, { where, source, isShown }) {
  const size = `${format.count(parents.length, "node")} on ${format.count(levels, "level")}`;
  const limit = nodes > 1 && parents.length === nodes ? " (the largest size tried)" : "";
  const which = isShown ? `The tree shown is planned for ${where}` : `Planned for ${where}`;
  const rule = `the most tokens per step of all trees at most ${planner.SLACK * 100}% slower than the fastest`;
  const times = `Computed from ${TIMES[profile.source]} pass times: ${source}.`;
  return `${which} (${rule}): ${size}${limit}, predicted ${speedup.toFixed(2)}×. ${times}`;
}

const percent = (share) =>
  (share >= 0.0995 ? (share * 100).toFixed(0) : Number((share * 100).toPrecision(2))) + "%";

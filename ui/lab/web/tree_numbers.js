/* The numbers of the tree shown: its expected tokens, and its step time and speed-up as predicted
   from the chosen hardware profile. For the best tree, also whether its last node is worth its
   cost. And the files that the tree is saved as. */
import { makeTiles } from "../../shared/web/panel.js";
import * as exportTree from "./export_tree.js";
import * as planner from "../../shared/web/planner.js";
import * as shapes from "./tree_shapes.js";
import { button, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { saveText } from "../../shared/web/save_file.js";
import * as pictures from "../../shared/web/save_picture.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const FORMS = [
  ["json", "Tree, JSON of this program"],
  ["nodelink", "networkx node-link JSON"],
  ["paths", "Medusa path list"],
  ["branching", "SpecInfer branching list"],
  ["svg", "Picture, SVG"],
  ["png", "Picture, PNG"],
  ["page", "This view as a web page"],
];
const TILES = [
  ["tokens", "Tokens per step, expected", "expected"],
  ["seconds", "Step, predicted", "predicted here"],
  ["speedup", "Speed-up, predicted", "predicted here"],
];

/** @typedef {import("./lab_state.js").LabState} LabState */
/** @typedef {{savePage?: () => void, copyLink?: () => void}} Keeps what else the page can save */

/** The tiles, and what stands folded below them. */
export class TreeNumbers {
  #known = -1; // version of the state that was painted last

  /**
   * @param {HTMLElement} host of the tiles
   * @param {HTMLElement} more the fold below them
   * @param {LabState} state
   * @param {Keeps} keeps
   */
  constructor(host, more, state, keeps) {
    this.state = state;
    this.keeps = keeps;
    this.put = makeTiles(host, TILES);
    this.makeButtons(more);
    this.passes = el("p", { class: "sq-dim", hidden: "" }, more);
    addTerm(this.passes, "Nodes read in each pass of the small model", "draft pass");
    this.rows = el("span", {}, this.passes);
    this.margin = el("p", { class: "sq-dim", "data-part": "margin" }, more);
    this.plan = el("p", { class: "sq-dim", "data-part": "plan" }, more);
  }

  makeButtons(host) {
    const { copyLink, savePage } = this.keeps;
    const line = el("div", { class: "sq-lab-line" }, host);
    const name = { "aria-label": "Save the tree as", "data-part": "export" };
    this.forms = el("select", { class: "sq-input", ...name }, line);
    el("option", { value: "", text: "Save as…" }, this.forms);
    const forms = FORMS.filter(([value]) => value !== "page" || savePage);
    const options = forms.map(([value, label]) => el("option", { value, text: label }, this.forms));
    this.branching = options.find(({ value }) => value === "branching");
    this.forms.addEventListener("change", () => {
      this.save(this.forms.value);
      this.forms.value = "";
    });
    const copy = { text: "Copy link", hint: TOOLTIPS["button copy link"], act: copyLink };
    if (copyLink) button(line, copy);
  }

  save(form) {
    const { parents } = this.state;
    const name = `tree-${parents.length}`;
    const json = (suffix, words) => saveText(`${name}${suffix}.json`, words);
    const picture = () => pictures.drawing(this.picture(), form, name);
    const made = {
      json: () => json("", exportTree.treeJson(parents)),
      nodelink: () => json("-networkx", exportTree.nodeLink(parents)),
      paths: () => json("-paths", exportTree.paths(parents)),
      branching: () => json("-branching", JSON.stringify(exportTree.branchingOf(parents))),
      svg: picture,
      png: picture,
      page: () => this.keeps.savePage(),
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

  paint() {
    const { state } = this;
    if (this.#known === state.version) return;
    this.#known = state.version;
    const { parents } = state;
    this.paintTiles(parents);
    this.paintMargin();
    this.paintBranching(parents);
    text(this.plan, planWords(state));
  }

  paintTiles(parents) {
    const { even, profile } = this.state;
    const widths = planner.widths(parents);
    this.put("tokens", planner.expectedTokens(parents, even).toFixed(3), "");
    if (profile) this.paintTimes(planner.predict(parents, even, profile));
    else for (const name of ["speedup", "seconds"]) this.put(name, "–", "");
    const list = widths.length > 14 ? [...widths.slice(0, 11), "…", ...widths.slice(-2)] : widths;
    show(this.passes, widths.length > 0);
    text(this.rows, ": " + list.join(", ") + ".");
  }

  paintTimes({ speedup, seconds }) {
    const [value, unit] = format.ms(seconds).split(" ");
    this.put("speedup", speedup.toFixed(2), "×");
    this.put("seconds", value, unit);
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
    const words =
      `The last node adds ${exportTree.formatShare(gain)} tokens per step ` +
      `(+${format.percent(share)})`;
    if (!profile) return text(this.margin, words + ".");
    const { times } = this.state;
    const cost = times[n - 1] - times[n - 2];
    const price = cost / times[n - 2];
    const verdict = share > price ? "worth it" : "not worth it on its own";
    text(
      this.margin,
      `${words} and costs ${format.ms(cost)} (+${format.percent(price)}): ${verdict}.`,
    );
  }

  paintBranching(parents) {
    const fits = exportTree.branchingOf(parents) !== null;
    this.branching.disabled = !fits;
    text(this.branching, "SpecInfer branching list" + (fits ? "" : " (this tree has none)"));
  }
}

// Which tree the best one is, and whose times it was computed from.
function planWords({ plan, profile, elsewhere }) {
  if (!plan) return "";
  const rule =
    `the most tokens per step of all trees at most ${planner.SLACK * 100}% slower than the ` +
    "fastest";
  const size = `up to ${format.count(plan.largest, "node")}`;
  return (
    `The best tree has ${rule}, ${size}. Pass times: ${profile.source}, ` +
    `${elsewhere ?? profile.device}.`
  );
}

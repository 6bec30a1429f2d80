/* The Walk tab. On the left the visitor chooses a toy (a small example, see toy.js) or a step of a
   real run. On the right are panels for the verification of this step, for many runs of the toy,
   and for the attention mask. */
import { attr, button, el, show, tell, text } from "../../shared/web/dom.js";
import { makeChoices, makeFold, makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { StepStage } from "../../shared/web/step_stage.js";
import { KEY } from "../../shared/web/step_tree.js";
import { seenBy } from "../../shared/web/tree_layout.js";
import { MaskPanel } from "./mask_panel.js";
import { MomentPanel } from "./moment_panel.js";
import { RealStep } from "./real_step.js";
import { RunsPanel } from "./runs_panel.js";
import { ToyForm } from "./toy_form.js";
import { toyView } from "./toy.js";

/**
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 * @import { Listed } from "./real_step.js"
 * @import { Toy } from "./toy.js"
 */

/**
 * What the page around the view can do.
 * @typedef {object} WalkLink
 * @property {(name: string) => Promise<string>} ask requests a recorded run by name
 * @property {() => void} [changed] called when another step is shown
 * @property {() => void} [copy] copies a link to the step
 */

const KEYS = [
  "Keys: “.” next frame, “,” previous frame, Space play or pause.",
  "With a toy, N makes new random draws; with a real step, ← and → show another one.",
];
const MEANINGS = KEY.map(([, name, meaning]) => `${name}: ${meaning}`);
const NEW_DRAWS = "Run the step again with new random numbers (N)";
const NO_LINK = "Walk cannot link to a step on screen elsewhere. Use “Copy link” there.";

/** The view of the tab. */
export class WalkView {
  isReal = false;
  seed = 0;
  /** @type {Toy | null} */
  toy = null;
  /** @type {StepView | null} */
  step = null;
  hasShown = false; // whether a step was shown; the first one does not change the address
  /** @type {NodeId | null} the node pointed at (in tree or mask) or focused (in the tree) */
  node = null;

  /**
   * @param {HTMLElement} root
   * @param {WalkLink} link
   */
  constructor(root, link) {
    this.root = root;
    this.link = link;
    const grid = el("div", { class: "wk-grid sq-cells" }, root);
    const side = el("div", { class: "wk-side" }, grid);
    const main = el("div", { class: "wk-main sq-stack" }, grid);
    this.makeWalk(main);
    const below = el("div", { class: "wk-below sq-cells" }, main);
    this.runs = new RunsPanel(below);
    this.mask = new MaskPanel(below, (node) => this.light(node));
    this.makeSide(side);
    document.addEventListener("keydown", (event) => this.key(event));
  }

  makeSide(host) {
    const panel = makePanel(host, { part: "source", title: "Example", cls: "wk-source" });
    this.source = makeChoices(panel.tools, "Toy or real step", [
      { text: "A toy", part: "toy", act: () => this.choose(false) },
      { text: "A real step", part: "real", act: () => this.choose(true) },
    ]);
    rove(panel.tools);
    this.form = new ToyForm(panel.body, (toy, seed) => this.takeToy(toy, seed));
    this.real = new RealStep(panel.body, {
      ask: this.link.ask,
      // a recorded run may arrive after the visitor has gone back to the toy
      take: (step, label) => this.isReal && this.takeStep(step, label),
    });
    this.paintSource();
  }

  makeWalk(host) {
    const title = "One step of verification";
    const panel = makePanel(host, { part: "walk", title, cls: "wk-walk" });
    this.badge = el("span", { class: "sq-badge" }, panel.tools);
    const again = { text: "New random draws", hint: NEW_DRAWS, part: "draw-again" };
    this.again = button(panel.tools, { ...again, act: () => this.drawAgain() });
    if (this.link.copy) button(panel.tools, { text: "Copy link", act: () => this.copyLink() });
    rove(panel.tools);
    this.notice = el("p", { class: "sq-dim", role: "status" }, panel.body);
    this.stage = new StepStage(panel.body, { hasCard: false });
    this.moment = new MomentPanel(panel.body);
    const fold = makeFold(panel.foot, "Colours and keys", "keys");
    el("p", { class: "sq-dim", text: `In the tree: ${MEANINGS.join("; ")}.` }, fold);
    el("p", { class: "sq-dim", text: KEYS.join(" ") }, fold);
    this.stage.addEventListener("frame", () => this.paintMoment());
    this.stage.addEventListener("hover", (event) =>
      this.light(/** @type {CustomEvent} */ (event).detail.node),
    );
  }

  // -- what is shown -----------------------------------------------------------------------------

  /**
   * @param {boolean} isReal whether a step of a run is shown instead of a toy
   * @param {{name: string, step?: number}} [wanted] a recorded run and its step
   */
  choose(isReal, wanted) {
    this.isReal = isReal;
    this.paintSource();
    if (!isReal) {
      this.real.wanted = null;
      this.showToy();
    } else this.real.open(wanted);
  }

  /** Show the toy that the tab opens with. The address of the page does not change. */
  restart() {
    this.hasShown = false;
    this.isReal = false;
    this.real.wanted = null;
    this.paintSource();
    this.form.startFirst();
  }

  /** @returns {boolean} whether the step is the one on screen in Run or Film */
  get isOfView() {
    return this.isReal && !this.real.isRecorded;
  }

  /** Called when the tab is shown. That step may have changed while the tab was hidden. */
  shown() {
    if (this.isOfView && !this.real.wanted) this.real.open();
  }

  /** @param {{runs?: Listed[], error?: string}} message */
  take({ runs, error }) {
    if (runs) this.real.offer(runs);
    if (error) this.say(error);
  }

  /**
   * @param {Toy} toy
   * @param {number} [seed] of the random draws
   */
  takeToy(toy, seed = this.seed) {
    this.toy = toy;
    this.seed = seed;
    this.runs.take(toy);
    if (!this.isReal) this.showToy();
  }

  drawAgain() {
    if (this.isReal) return;
    this.seed += 1;
    this.showToy();
  }

  copyLink() {
    if (this.isOfView) this.say(NO_LINK);
    else this.link.copy();
  }

  showToy() {
    this.takeStep(toyView(this.toy, this.seed), "");
  }

  /** @type {(step: StepView | null, label: string) => void} */
  takeStep(step, label) {
    this.step = step;
    this.node = null;
    this.stage.source = label;
    text(this.badge, label); // an empty badge is not shown
    attr(this.badge, "data-label", label);
    this.say("");
    this.stage.show(step, { reveal: { node: 0, key: "start" } });
    this.stage.player.turnTo(this.hasShown ? "walk" : "guess");
    this.paintMoment();
    this.mask.paint(step, null);
    if (this.hasShown) this.link.changed?.();
    this.hasShown = true;
  }

  paintSource() {
    this.source.press(Number(this.isReal));
    show(this.form.root, !this.isReal);
    show(this.real.root, this.isReal);
    this.again.disabled = this.isReal;
    this.runs.show(!this.isReal);
  }

  /** @param {string} words a message to show; empty: remove it */
  say(words) {
    tell(this.notice, words);
  }

  // -- the node pointed at or focused -------------------------------------------------------------

  /** @param {NodeId | null} node */
  light(node) {
    if (node === this.node || !this.step) return;
    this.node = node;
    const isNode = typeof node === "number";
    const hits = isNode ? seenBy(this.step.topo, node) : [];
    this.stage.show(this.step, { reveal: { node: 0, key: "start" }, hits });
    this.mask.paint(this.step, isNode ? node : null);
    this.paintMoment();
  }

  // Show the trial (the test for acceptance) of `node`. If `node` is null, show the trial of the
  // node that the animation explains. Before the walk begins, show no trial.
  paintMoment() {
    const { step, stage } = this;
    const { player } = stage;
    const phase = player.shown?.phase ?? "result";
    const isBefore = phase === "guess" || phase === "check";
    const { explained } = player;
    const node = this.node ?? explained;
    this.moment.paint(step, node, { isBefore, isTold: node === explained });
  }

  // -- keys --------------------------------------------------------------------------------------

  key(event) {
    const { target, key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    if (ctrlKey || metaKey || altKey || defaultPrevented || !this.root.offsetParent) return;
    if (target !== document.body && !this.root.contains(target)) return;
    if (target.closest("input, select, textarea") || (key === " " && target.closest("button")))
      return;
    if (this.act(key)) event.preventDefault();
  }

  act(key) {
    const { real } = this;
    const hasSteps = this.isReal && real.isRecorded;
    if (key.toLowerCase() === "n") this.drawAgain();
    else if (key === "ArrowRight" && hasSteps) real.goTo(real.at + 1);
    else if (key === "ArrowLeft" && hasSteps) real.goTo(real.at - 1);
    else return this.stage.key(key);
    return true;
  }
}

/* The panel "Token tree": the step on screen with its search, legend and notes. */
import { TreePointer } from "./tree_pointer.js";
import { TreeNote, TreeTools } from "./tree_tools.js";
import { makePanel } from "../../shared/web/panel.js";
import { StepStage } from "../../shared/web/step_stage.js";
import { LEAST_PITCH } from "../../shared/web/tree_frame.js";
import { Legend } from "../../shared/web/tree_legend.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { StepLook } from "../../shared/web/step_tree.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_scene.js"
 */

const ABOVE = 480; // px of the page above the tree and below it
const LEAST_ROOF = 300; // px
const FLAT = 5; // rows; so flat a tree leaves room for the text below it
const EASED = 0.4; // seconds from which on a step's colours change gradually

/** The panel. */
export class TreePanel {
  /** @type {{version: number, i: number} | null} the run, and its step that was drawn first */
  opened = null;

  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {Element} controls where the buttons of the phases stand
   */
  constructor(store, host, controls) {
    this.store = store;
    const panel = makePanel(host, { part: "tree", title: "Token tree", cls: "sq-tree" });
    this.panel = panel;
    this.tools = new TreeTools(store, panel.tools, this);
    this.legend = new Legend(panel.body);
    this.treeNote = new TreeNote(store, panel.body);
    this.pointer = new TreePointer(this);
    this.stage = new StepStage(panel.body, {
      controls,
      motion: store.slow,
      actions: this.pointer,
      hasCard: false,
    });
  }

  /** The tree in its box. */
  get drawing() {
    return this.stage.tree;
  }

  get view() {
    return this.drawing.view;
  }

  /** The step that is drawn, which in a live run may not be the newest any more. */
  get drawn() {
    return this.drawing.drawn;
  }

  paint() {
    const { store, stage } = this;
    const step = store.view();
    this.tools.paint(step);
    this.legend.paint(step, store.heat);
    this.treeNote.paint();
    stage.source = store.word;
    stage.show(step, step ? this.look(step) : {});
  }

  /** @type {(step: StepView) => StepLook} */
  look(step) {
    const { store } = this;
    const { selected, pin, focused, opened } = store;
    const isMoving = store.playing || (store.follow && !store.done);
    const isEased = !isMoving || store.slow.picture !== null || store.duration(step.i) > EASED;
    return {
      isFocused: focused,
      opened,
      room: store.largest,
      height: this.height(store.largest.rows, focused),
      selected,
      pin,
      hits: store.query ? this.found(step) : [],
      share: store.heat ? (node) => store.share(step.step.tree, node) : null,
      isMoving: !isEased,
      reveal: this.reveal(step),
    };
  }

  // How tall the tree would like to be: by rows for a small tree, by the window for a large one.
  height(rows, focused) {
    const isFlat = rows <= FLAT && !focused;
    const least = Math.min(rows * LEAST_PITCH + 14, 690);
    const roof = Math.max(LEAST_ROOF, Math.min(window.innerHeight - ABOVE, 780));
    const wish = focused ? roof : Math.max(Math.min(rows * 42 + 14, roof), least, 230);
    return Math.round(isFlat ? Math.max(rows * 46 + 30, 104) : wish + 22);
  }

  // The end of the path; in the step that a run opens with, the root.
  reveal({ i, path }) {
    const { version } = this.store;
    if (this.opened?.version !== version && this.view.size.w) this.opened = { version, i };
    const isFirst = this.opened?.version === version && this.opened.i === i;
    return { node: isFirst ? 0 : path.at(-1), key: version + ":" + i };
  }

  /**
   * Nodes whose text holds the query, and the token from the target.
   * @param {StepView} step
   * @returns {NodeId[]}
   */
  found(step) {
    const query = this.store.query.toLowerCase();
    const holds = (node) =>
      [step.piece(node), step.label(node)].some((word) => word.toLowerCase().includes(query));
    /** @type {NodeId[]} */
    const nodes = [...step.topo.parents.keys()];
    if (step.kind !== "none") nodes.push("bonus");
    return nodes.filter(holds);
  }

  /** Bring the node that is to be seen into view; after painting, because it asks for a layout. */
  settle() {
    this.drawing.settle();
  }
}

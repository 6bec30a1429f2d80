/* The panel "Token tree": the tree of the step on screen, with its controls, legend and note. */
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

const ABOVE = 480; // px that the page needs above and below the tree
const LEAST_ROOF = 300; // px; a large tree gets at least this height, however low the window is
const FLAT = 5; // rows; if all nodes are shown and no tree of the run has more, the box is low
const EASED = 0.4; // seconds per step; at this pace or faster, colours change without a transition

/** The panel "Token tree". */
export class TreePanel {
  // The step that was drawn first in the run on screen: its index, and the version of the run.
  /** @type {{version: number, index: number} | null} */
  opened = null;
  /** @type {unknown[]} the key of the last drawing */
  painted = [];

  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {Element} controls the element for the buttons of a step's four phases
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

  /** The step that is drawn. In a run in progress, newer steps may have arrived meanwhile. */
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
    const look = step ? this.look(step) : {};
    const key = step ? this.keyOf(step, look) : [];
    const isSame = step && key.every((part, i) => part === this.painted[i]);
    this.painted = key;
    if (!isSame) stage.show(step, look);
  }

  // Everything that the drawing depends on. During a playback it changes about once a second, while
  // the panel is painted in every frame.
  /** @type {(step: StepView, look: StepLook) => unknown[]} */
  keyOf(step, { isFocused, opened, room, height, selected, pin, isMoving, reveal }) {
    const { store, view, drawing } = this;
    const { version, rate, word, query, heat, steps, slow } = store;
    return [
      ...[step, version, rate, word, query, heat && steps.length, slow.picture, slow.pace],
      ...[isFocused, [...opened].join(), room.rows, room.levels, height],
      ...[selected, pin, isMoving, reveal.node, reveal.key, drawing.next],
      ...[view.size.w, view.size.h, view.zoom, view.left, view.top, view.fonts],
    ];
  }

  /** @type {(step: StepView) => StepLook} */
  look(step) {
    const { store } = this;
    const { selected, pin, focused, opened } = store;
    const isAdvancing = store.playing || (store.follow && !store.done);
    const isEased =
      !isAdvancing || store.slow.picture !== null || store.duration(step.index) > EASED;
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

  // Preferred height of the tree in px. In the focus layout it depends on the window only. If all
  // nodes are shown, it depends on the rows, and for more than FLAT rows also on the window. rows:
  // the most rows of any tree of the run.
  height(rows, focused) {
    const isFlat = rows <= FLAT && !focused;
    const least = Math.min(rows * LEAST_PITCH + 14, 690);
    const roof = Math.max(LEAST_ROOF, Math.min(window.innerHeight - ABOVE, 780));
    const wish = focused ? roof : Math.max(Math.min(rows * 42 + 14, roof), least, 230);
    return Math.round(isFlat ? Math.max(rows * 46 + 30, 104) : wish + 22);
  }

  // The node to scroll into view: the root in the step that was drawn first (see `opened`), and the
  // end of the accepted path in all others.
  reveal({ index, path }) {
    const { version } = this.store;
    if (this.opened?.version !== version && this.view.size.w) this.opened = { version, index };
    const isFirst = this.opened?.version === version && this.opened.index === index;
    return { node: isFirst ? 0 : path.at(-1), key: version + ":" + index };
  }

  /**
   * Nodes whose text contains the query. The token from the target, if there is one, is searched
   * too; its id is "bonus".
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

  /** Scroll the node of `reveal` into view. This forces a layout, so call it after painting. */
  settle() {
    this.drawing.settle();
  }
}

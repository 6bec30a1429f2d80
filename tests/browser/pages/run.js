/* The Run view on a page of its own, served by tests/browser/view_pages.py, at first without a
   run. */
import * as treeLayout from "../../../ui/shared/web/tree_layout.js";
import { mountRun } from "../../../ui/run/web/run_view.js";
import { bestStep } from "../../../ui/run/web/steps_to_show.js";
import { TreeView } from "../../../ui/shared/web/tree_view.js";

const { allCells } = treeLayout;
const said = [];
let count = 0;
const stage = mount(document.querySelector(".sq-stage"));
Object.assign(window, { said, stage, modules: { treeLayout, allCells, bestStep, TreeView } });

/** A view that also takes the content of a run file, as a run with one lane. */
function mount(host) {
  const view = mountRun(host, { trigger: (name, data) => said.push([name, data]) });
  return { ...view, ingest: (message) => view.ingest(message.format ? whole(message) : message) };
}

function whole({ meta, trees, pieces, steps }) {
  const { verifier, tree } = meta;
  const { nodes, levels } = tree;
  const lane = { name: "Sequoia", kind: "best", plain: nodes === 1, changes: false, most: nodes };
  return {
    run: "file-" + ++count,
    from: 0,
    ...{ meta, trees, pieces, steps },
    lanes: [{ ...lane, ...tree, nodes, levels, verifier }],
    step_lanes: steps.map(() => 0),
    done: true,
  };
}

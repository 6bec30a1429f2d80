/* The Run view on a page of its own, served by tests/browser/view_pages.py. The address can end
   with ? and these options, separated by &:
   run=NAME   the run to show, from canned.json; the default is 128
   lanes=3    instead an invented run of 1 to 4 lanes, with &noplain, &tokens=512, &live (steps
              arrive bit by bit, as from a running engine)
   rate=s2    the playback rate, a key of RATES in ui/run/web/playback_bar.js
   dark       the dark theme
   bare       no run */
import * as treeLayout from "../../../ui/shared/web/tree_layout.js";
import * as stepWords from "../../../ui/shared/web/step_words.js";
import { mountRun } from "../../../ui/run/web/run_view.js";
import { bestStep, lastFullStep } from "../../../ui/run/web/steps_to_show.js";
import { viewStep } from "../../../ui/shared/web/step_view.js";
import { allCells } from "../../../ui/shared/web/tree_layout.js";
import { TreeView } from "../../../ui/shared/web/tree_view.js";
import { cannedRun, deliver } from "./canned_run.js";

const query = new URLSearchParams(location.search);
const said = [];
let count = 0;
document.body.classList.toggle("dark", query.has("dark"));
const stage = mount(document.querySelector(".sq-stage"));
window.modules = {
  ...{ treeLayout, stepWords, viewStep, mountRun: mount, allCells, TreeView },
  ...{ bestStep, lastFullStep, cannedRun, deliver },
};
Object.assign(window, { said, stage });
if (query.get("rate")) stage.store.chooseRate(query.get("rate"));
const run = await asked();
if (run && query.has("live")) deliver(stage, run, 3, 30);
else if (run) stage.ingest(run);

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

async function asked() {
  if (query.has("bare") || query.get("run") === "none") return null;
  if (query.has("lanes"))
    return cannedRun({
      lanes: Number(query.get("lanes")),
      tokens: Number(query.get("tokens")) || 128,
      plain: !query.has("noplain"),
    });
  const runs = await (await fetch("../canned.json")).json();
  return runs[query.get("run") ?? "128"];
}

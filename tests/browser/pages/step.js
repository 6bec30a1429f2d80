/* Shows one step of a run in canned.json, without the Decode view and the app. Also an example of
   how to use step_stage.js. To open the page, serve the repository's root. Parameters in the
   address: run (a name in canned.json), step (an index), plain (no card beside the tree), dark. */
import { StepStage } from "../../../ui/shared/web/step_stage.js";
import { viewStep } from "../../../ui/shared/web/step_view.js";
import { topology } from "../../../ui/shared/web/tree_layout.js";

const query = new URLSearchParams(location.search);
const options = { source: "recorded", hasCard: !query.has("plain") };
const stage = new StepStage(document.getElementById("host"), options);
const runs = await (await fetch("../canned.json")).json();
const events = [];

/** Show step `i` of `run`, which has the form of the runs in canned.json. */
function showStep(run, i) {
  const { steps, trees, pieces, meta } = run;
  const texts = new Map(Object.entries(pieces));
  const view = viewStep(steps[i], topology(trees[steps[i].tree]), texts, meta);
  stage.show(view);
  return view;
}

for (const name of ["frame", "hover", "press"])
  stage.addEventListener(name, ({ detail }) => events.push({ name, ...detail }));
document.body.classList.toggle("dark", query.has("dark"));
showStep(runs[query.get("run") ?? "128"], Number(query.get("step") ?? 0));
Object.assign(window, { stage, runs, events, showStep });

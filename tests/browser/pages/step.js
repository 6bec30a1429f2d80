/* Shows one step of a run in canned.json, without the Run view and the app: a step at temperature 1
   whose walk goes down five levels. */
import { StepStage } from "../../../ui/shared/web/step_stage.js";
import { recordedStep } from "../../../ui/shared/web/step_view.js";

const options = { source: "recorded", hasCard: true };
const stage = new StepStage(document.getElementById("host"), options);
const runs = await (await fetch("../canned.json")).json();
const events = [];

/** Show step `i` of `run`, which has the form of the runs in canned.json. */
function showStep(run, i) {
  const view = recordedStep(run, i);
  stage.show(view);
  return view;
}

for (const name of ["frame", "hover", "press"])
  stage.addEventListener(name, ({ detail }) => events.push({ name, ...detail }));
showStep(runs["16"], 1);
Object.assign(window, { stage, runs, events, showStep });

/* The Decode view on a page of its own, served by tests/browser/view_pages.py. The address can end
   with ? and these options, separated by &:
   run=NAME   the run to show, from canned.json; "none" for no run; the default is 128
   rate=s2    the playback rate, a key of RATES in ui/run/web/playback_bar.js
   dark       the dark theme
   live       steps arrive one by one, as from a running engine
   bare       no menu above the view, and no run */
import * as treeLayout from "../../../ui/shared/web/tree_layout.js";
import * as stepWords from "../../../ui/shared/web/step_words.js";
import { mountDecode } from "../../../ui/decode/web/decode_view.js";
import { bestStep, lastFullStep } from "../../../ui/run/web/steps_to_show.js";
import { viewStep } from "../../../ui/shared/web/step_view.js";
import { allCells } from "../../../ui/shared/web/tree_layout.js";
import { TreeView } from "../../../ui/shared/web/tree_view.js";

window.modules = {
  treeLayout,
  stepWords,
  viewStep,
  mountDecode: mount,
  allCells,
  TreeView,
  bestStep,
  lastFullStep,
};
const STEP_MS = 100; // between steps that arrive live
const query = new URLSearchParams(location.search);
const menu = document.getElementById("page-run");
const dark = document.getElementById("page-dark");
const live = document.getElementById("page-live");
let runs = {};
let count = 0;
let timer = 0;
const stage = mount(document.querySelector(".sq-stage"));

/** A view that also takes the content of a run file, in the form in which the server sends it. */
function mount(host) {
  const view = mountDecode(host, {});
  const whole = (file) => ({ ...file, run: "file-" + ++count, from: 0, done: true });
  return {
    ...view,
    ingest: (message) => view.ingest(message.format ? whole(message) : message),
  };
}

function start(run) {
  clearInterval(timer);
  if (!run) return;
  if (live.checked) arrive(run);
  else stage.ingest(run);
}

/** Give the view the run as a running engine would: its settings, then one step at a time. */
function arrive({ meta, trees, pieces, steps }) {
  const id = "page-" + ++count;
  const quiet = { v: 1, run: id, error: null, notice: null };
  const settings = { ...meta, label: "measured" };
  stage.ingest({ ...quiet, from: 0, meta: settings, trees, pieces, steps: [], done: false });
  let from = 0;
  timer = setInterval(() => {
    const part = steps.slice(from, from + 1);
    const done = from + part.length >= steps.length;
    stage.ingest({ ...quiet, from, steps: part, done });
    from += part.length;
    if (done) clearInterval(timer);
  }, STEP_MS);
}

function setTheme() {
  document.body.classList.toggle("dark", dark.checked);
}

window.stage = stage;
document.body.classList.toggle("bare", query.has("bare"));
dark.checked = query.has("dark");
live.checked = query.has("live");
setTheme();
menu.addEventListener("change", () => start(runs[menu.value]));
live.addEventListener("change", () => start(runs[menu.value]));
dark.addEventListener("change", setTheme);
document.getElementById("page-file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (file) stage.ingest(JSON.parse(await file.text()));
});
if (!query.has("bare")) {
  runs = await (await fetch("../canned.json")).json();
  for (const name of Object.keys(runs)) menu.append(new Option(name, name));
  menu.value = query.get("run") in runs ? query.get("run") : "128";
  if (query.get("rate")) stage.store.chooseRate(query.get("rate"));
  if (query.get("run") !== "none") start(runs[menu.value]);
}

/* The Lab on a page of its own, with an invented hardware profile. */
import { publishRun } from "../../../ui/shared/web/between_tabs.js";
import * as planner from "../../../ui/shared/web/planner.js";
import * as vectors from "../../../ui/lab/web/acceptance_vectors.js";
import { Lab } from "../../../ui/lab/web/lab_view.js";

window.modules = { planner, vectors, publishRun };
const sent = [];
window.readings = {}; // by text, what the server answers
const made = new Lab(document.querySelector(".sq-lab"), {
  trigger: (name, data) => sent.push([name, data]),
  readTree: async (text) => window.readings[text],
});
const line = (first, each) => [1, 2, 4, 8, 16, 32, 64, 128].map((n) => [n, first + each * n, 0]);
const profile = {
  device: "a simulated machine",
  dtype: "float32",
  target: "large",
  draft: "small",
  prefix_length: 256,
  source: "simulated",
  date: "2026-01-01",
  target_seconds: line(0.02, 0.00012),
  draft_seconds: line(0.0011, 0.00001),
  overhead_seconds: line(0.0005, 0.000004),
  level_overhead: 0.0001,
  versions: [],
};
made.take({ profile, most: 1024 });
made.state.set({ n: 64, levels: null }); // the tests start from a tree of this size
Object.assign(window, { sent, made });

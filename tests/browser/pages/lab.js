/* The Lab on a page of its own, with an invented hardware profile. ?dark: the dark theme. */
import { publishRun } from "../../../ui/shared/web/between_tabs.js";
import * as planner from "../../../ui/shared/web/planner.js";
import * as shapes from "../../../ui/lab/web/tree_shapes.js";
import * as vectors from "../../../ui/lab/web/acceptance_vectors.js";
import { DpTable } from "../../../ui/lab/web/dp/dp_table.js";
import { formatShare } from "../../../ui/lab/web/export_tree.js";
import { PUBLISHED_TREES } from "../../../ui/lab/web/published_trees.js";
import { mountLab } from "../../../ui/lab/web/lab_view.js";

window.modules = {
  planner,
  shapes,
  vectors,
  DpTable,
  formatShare,
  PUBLISHED_TREES,
  mountLab,
  publishRun,
};
const query = new URLSearchParams(location.search);
const sent = [];
document.body.classList.toggle("dark", query.has("dark"));
const made = mountLab(document.querySelector(".sq-lab"), {
  trigger: (name, data) => sent.push([name, data]),
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
made.ingest({ profile, most: 1024 });
made.state.set({ n: 64, levels: null }); // the tests start from a tree of this size
Object.assign(window, { sent, made });

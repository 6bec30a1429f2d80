// The state of the Lab, without its panels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LabState } from "../../ui/lab/web/lab_state.js";
import { widths } from "../../ui/shared/web/planner.js";

globalThis.requestAnimationFrame = () => 0;

test("the bar being edited stays within a shorter vector", () => {
  const state = new LabState();
  const origin = { label: "imported", words: "" };
  state.take([0.4, 0.2, 0.1, 0.05], origin);
  state.set({ pick: 3 });
  state.take([0.6, 0.2], origin);
  assert.equal(state.pick, 1);
});

test("the level cap limits only the shape named best", () => {
  const state = new LabState();
  const levels = (name) => widths(state.parentsOf(name)).length + 1;
  const flat = (seconds) => [[1, seconds, 0]];
  const profile = {
    target_seconds: flat(0.1),
    draft_seconds: flat(0.001),
    overhead_seconds: flat(0),
    level_overhead: 0,
  };
  state.set({ n: 40, levels: 3, profile: /** @type {any} */ (profile) });
  assert.equal(levels("best"), 3);
  for (const name of ["fitted", "sequences", "kary", "medusa", "eagle", "branching", "chain"])
    assert.ok(levels(name) > 3, name);
});

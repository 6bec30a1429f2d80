// The state of the Lab, without its panels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { made } from "./fake_page.js";
import { LabState } from "../../ui/lab/web/lab_state.js";
import { ShapesTable } from "../../ui/lab/web/shapes_table.js";
import { widths } from "../../ui/shared/web/planner.js";

globalThis.requestAnimationFrame = () => 0;

test("a prediction is hypothetical unless times and acceptance are of the loaded pair", () => {
  const state = new LabState();
  const labelWith = (origin, profile, elsewhere) => {
    state.set({ origin, profile, elsewhere });
    const [[, , , , , , label]] = made(ShapesTable, { state, figures: () => [{}] }).csvRows();
    assert.equal(label === "hypothetical", state.isHypothetical);
    return label;
  };
  const times = /** @type {any} */ ({});
  const own = { label: "measured", words: "", own: true };
  assert.equal(labelWith(own, times, null), "predicted");
  assert.equal(labelWith(own, times, "an A100"), "hypothetical");
  for (const label of ["paper", "synthetic", "imported", "edited by hand", "recorded"])
    assert.equal(labelWith({ label, words: "" }, times, null), "hypothetical");
  assert.equal(labelWith({ label: "paper", words: "" }, null, null), "predicted");
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

test("no shape has more than 100% of the tokens of the best tree with as many levels", () => {
  const state = new LabState();
  for (const rates of [
    [0.9, 0.02],
    [0.5, 0.3, 0.1],
    [0.2, 0.2, 0.2],
  ])
    for (const levels of [null, 2, 3, 5])
      for (const n of [2, 6, 40]) {
        state.set({ rates, levels, n });
        const figures = made(ShapesTable, { state }).figures();
        const shares = figures.map(({ share }) => share).filter((share) => share !== undefined);
        assert.ok(shares.length > 3);
        assert.ok(shares.every((share) => share > 0 && share < 1 + 1e-9));
        assert.ok(Math.abs(shares[0] - 1) < 1e-9);
      }
});

// The state of the Lab, without its panels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LabState } from "../../ui/lab/web/lab_state.js";

globalThis.requestAnimationFrame = () => 0;

test("the bar being edited is one of the vector's", () => {
  const state = new LabState();
  const origin = { label: "imported", words: "" };
  state.take([0.4, 0.2, 0.1, 0.05], origin);
  state.set({ pick: 3 });
  state.take([0.6, 0.2], origin);
  assert.equal(state.pick, 1);
});

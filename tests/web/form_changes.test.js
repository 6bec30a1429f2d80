// When the form counts as changed since it began.
import assert from "node:assert/strict";
import { test } from "node:test";
import "./fake_page.js";
import * as changes from "../../ui/run/web/form_changes.js";
import { note } from "../../ui/shared/web/form_values.js";

Object.assign(globalThis.document, { querySelector: () => null, querySelectorAll: () => [] });

const saved = (name, times) => JSON.stringify({ name, times });

test("a change of the saved profiles counts only if it affects the chosen clock", () => {
  const mine = saved("mine", 1);
  for (const [clock, profiles, isChanged] of [
    ["", [saved("mine", 2)], false],
    ["kept:mine", [mine, saved("other", 1)], false],
    ["kept:mine", [saved("other", 1), saved("mine", 2)], true],
    ["kept:mine", [], true],
  ]) {
    note("run", ["clock", "profiles"], [clock, [mine]]);
    changes.began([]);
    assert.equal(changes.profilesChanged(clock, profiles), isChanged);
    assert.equal(changes.isChanged(), isChanged);
  }
});

test("the values of a run are those of its beginning, whatever is typed while it waits", () => {
  note("run", ["prompt"], ["what runs"]);
  changes.began([]);
  note("run", ["prompt"], ["what is typed meanwhile"]);
  changes.changed();
  assert.equal(changes.valuesOfRun(), JSON.stringify({ prompt: "what runs" }));
});

/* What a view gets from the value of its component. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { connectComponent } from "../../ui/shared/web/connect_component.js";

test("a view gets each new value once; a value that is not JSON arrives as an error", () => {
  const props = { value: "" };
  const [taken, changes] = [[], []];
  const watch = (_name, changed) => changes.push(changed);
  connectComponent(/** @type {any} */ ({}), props, watch, { take: (one) => taken.push(one) });
  for (const value of ['{"run":"a"}', '{"run":"a"}', "{", ""]) {
    props.value = value;
    changes[0]();
  }
  assert.deepEqual(taken[0], { run: "a" });
  assert.match(taken[1].error, /could not be read/);
  assert.equal(taken.length, 2);
});

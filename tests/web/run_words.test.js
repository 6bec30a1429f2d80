// Words about a run or race.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode } from "./fake_page.js";
import { lostWords, paintSimulated } from "../../ui/shared/web/run_words.js";

test("the steps that did not arrive are named, gap by gap", () => {
  const words = (pattern) => lostWords([...pattern].map((one) => (one === "x" ? {} : null)));
  assert.equal(words("xxx"), "");
  assert.equal(words("x.x"), "Step 2 did not arrive; the figures omit it.");
  assert.equal(words("x..x"), "Steps 2 to 3 did not arrive; the figures omit them.");
  assert.match(words(".xx..x."), /^Steps 1, 4 to 5 and 7 did not arrive/);
});

test("a simulated machine gets the right article", () => {
  const words = (clock) => {
    const badge = new FakeNode();
    paintSimulated(badge, { clock });
    return badge.textContent;
  };
  for (const machine of ["an A100", "a laptop", "an i7 laptop", "an 8-core laptop", "a 180-core"])
    assert.equal(words(machine.replace(/^an? /, "")), `simulated: as on ${machine}`);
});

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

test("a simulated machine is named as in the message, or else by its profile, in quotes", () => {
  const words = (meta) => {
    const badge = new FakeNode();
    paintSimulated(badge, meta);
    return badge.textContent;
  };
  const known = { clock: "A100, 7B with 68M", clock_machine: "an A100" };
  assert.equal(words(known), "simulated for an A100");
  assert.equal(words({ clock: "my card" }), "simulated for “my card”");
});

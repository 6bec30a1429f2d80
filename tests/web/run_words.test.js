// Words about a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode } from "./fake_page.js";
import { paintSimulated } from "../../ui/shared/web/run_words.js";

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

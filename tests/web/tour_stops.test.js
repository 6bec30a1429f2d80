// Two stops of the tour: which run the last stop uses, and the table of draws at “The draw”.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { publishRun } from "../../ui/shared/web/between_tabs.js";
import { DrawCard } from "../../ui/tour/web/draw_card.js";
import { YoursStop } from "../../ui/tour/web/stop_yours.js";

document.dispatchEvent = () => true;

const SECONDS = { draft: 0.01, verify: 0.02, overhead: 0.01 };
const RECORDED = {
  meta: { label: "recorded", device: "a card", plain_seconds: 0.03 },
  steps: [{ emitted: [2, 3], seconds: SECONDS }],
};
const OWN = { device: "this machine", tokensPerStep: 2, speedup: { ratio: 1.5 } };

test("a visitor can replace their own run with the recorded one, until their next run", () => {
  const tour = { runs: { opening: RECORDED }, paint() {} };
  const stop = made(YoursStop, { tour, words: { recording: "opening" }, usesRecording: false });
  publishRun({ ...OWN, label: "measured" });
  assert.equal(stop.run.label, "measured");
  stop.useRecording();
  assert.equal(stop.run.label, "recorded");
  publishRun({ ...OWN, label: "simulated" });
  assert.equal(stop.run.label, "simulated");
});

test("the largest error of the drawn shares is rounded up", () => {
  const words = { p: [50, 50], table: "", worst: "{worst}" };
  const boundOf = (...found) => {
    const nodes = { title: new FakeNode(), cells: [new FakeNode(), new FakeNode()] };
    const card = made(DrawCard, { words, found, ...nodes, worst: new FakeNode() });
    card.paint();
    return card.worst.textContent;
  };
  assert.equal(boundOf(5034, 4966), "0.4");
  assert.equal(boundOf(5001, 4999), "0.1");
  assert.equal(boundOf(5110, 4890), "1.1");
  assert.equal(boundOf(5, 5), "0");
});

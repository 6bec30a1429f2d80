// The blocks of the playback track: every step that took time is visible, however short.
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnBlocks } from "../../ui/run/web/track_blocks.js";

/** Steps of the given [drafting, rest] seconds, one after the other; one token each. */
function stepsOf(...times) {
  let now = 0;
  return times.map(([drafting, rest]) => {
    const from = now;
    now += drafting + rest;
    return { from, pass: from + drafting, to: now, tokens: 1 };
  });
}

const widths = (drawn) => drawn.map(({ start, end }) => end - start);
const total = (of) => (drawn) => drawn.reduce((sum, one) => sum + of(one), 0);
const drafting = total(({ start, middle }) => middle - start);
const rest = total(({ middle, end }) => end - middle);

test("a wide step is a block of its own, followed by a gap", () => {
  const drawn = drawnBlocks(stepsOf([1, 3], [2, 2]), 10);
  assert.deepEqual(widths(drawn), [39, 39]);
  assert.deepEqual(
    drawn.map(({ start, middle }) => middle - start),
    [39 / 4, 39 / 2],
  );
  assert.deepEqual(
    drawn.map(({ tokens }) => tokens),
    [1, 1],
  );
});

for (const px of [0.01, 0.4, 0.9, 1.5, 2.2, 3.9])
  test(`for steps of ${px} px, the blocks cover over 70% of the row, and a quarter of their width is drafting`, () => {
    const count = Math.round(600 / px);
    const drawn = drawnBlocks(stepsOf(...new Array(count).fill([0.25, 0.75])), px);
    const inked = drafting(drawn) + rest(drawn);
    assert.ok(inked > 0.7 * 600 && inked < 600, `${inked} px`);
    assert.ok(Math.abs(drafting(drawn) / inked - 0.25) < 0.01);
    assert.ok(drawn.length <= 600 / 4 + 1);
    assert.equal(total(({ tokens }) => tokens)(drawn), count);
    assert.ok(drawn.every(({ start }, i) => i === 0 || start >= drawn[i - 1].end));
  });

test("a narrow step between wide ones does not change their blocks", () => {
  const drawn = drawnBlocks(stepsOf([1, 1], [0.05, 0.05], [1, 1]), 10);
  assert.equal(drawn.length, 3);
  assert.ok(widths(drawn)[1] > 0.5);
  assert.deepEqual([drawn[0].start, drawn[2].start], [0, 21]);
});

test("a step that took no time has an empty block, and no steps give no blocks", () => {
  assert.deepEqual(drawnBlocks([], 10), []);
  const [one] = drawnBlocks(stepsOf([0, 0]), 10);
  assert.deepEqual([one.start, one.middle, one.end], [0, 0, 0]);
});

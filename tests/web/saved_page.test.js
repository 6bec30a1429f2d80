/* Saved pages: no title or data breaks their HTML. Also their labels and file names. */
import assert from "node:assert/strict";
import test from "node:test";
import { pack, unpack } from "../../ui/shared/web/packed_data.js";
import { pageName, runData, saveShown, titleOf } from "../../ui/run/web/save_run.js";
import { recordedMeta } from "../../ui/shared/web/recorded.js";
import { filled } from "../../ui/shared/web/save_page.js";

const HOSTILE = [
  "</script><script>window.pwned=1</script>",
  "<!--<script>",
  '"><img src=x onerror=window.pwned=1>',
  "</title></style></textarea>",
  "\u2028\u2029\u202e\u0000\ud800",
  "${window.pwned=1} {{7*7}} `",
];

const TEMPLATE = '<title>@@title@@</title><h1>@@title@@</h1><script nonce="@@nonce@@">@@data@@';

test("a title is escaped, and fills no gap of the template", () => {
  for (const text of [...HOSTILE, "@@data@@ @@nonce@@ $& $1"]) {
    const source = filled(TEMPLATE, text, "H4sI");
    const [, title, heading, nonce] =
      /^<title>([^<>"]*)<\/title><h1>([^<>"]*)<\/h1><script nonce="(\w{32})">H4sI$/.exec(source);
    assert.equal(title, heading);
    assert.ok(!title.includes(nonce));
  }
  assert.match(filled(TEMPLATE, "@@data@@ $&", "H4sI"), /<h1>@@data@@ \$&amp;</);
});

test("packed data is unpacked unchanged", async () => {
  const data = { texts: HOSTILE.map((text) => text.toWellFormed()), numbers: [0, -1.5, 1e-9] };
  const packed = await pack(data);
  assert.match(packed, /^[A-Za-z0-9+/]+=*$/);
  assert.deepEqual(await unpack(packed), data);
  const large = { steps: Array.from({ length: 50_000 }, (_, i) => ({ i, x: Math.sin(i) })) };
  assert.deepEqual(await unpack(await pack(large)), large);
});

test("damaged data is refused", async () => {
  const packed = await pack({ some: "data" });
  for (const wrong of ["", "!", packed.slice(4), packed.slice(0, -8), "AAAA" + packed])
    await assert.rejects(unpack(wrong));
});

test("a saved file calls its numbers recorded or simulated, never measured", () => {
  const meta = {
    label: "measured",
    prompt: "measured twice",
    notes: ["measured as it was"],
  };
  assert.deepEqual(recordedMeta(meta), {
    label: "recorded",
    prompt: "measured twice",
    notes: ["measured as it was"],
  });
  assert.equal(recordedMeta({ label: "simulated" }).label, "simulated");
});

test("the name of a saved file contains the date of its run, if that is valid", () => {
  assert.equal(pageName("2026-11-22 12:50"), "sequoia-run-2026-11-22-1250.html");
  for (const wrong of [undefined, null, 5, "../../x", "2026-11-22 12:50/.."])
    assert.equal(pageName(wrong), "sequoia-run.html");
});

test("if a run cannot be saved, a message says why and what to do", async () => {
  const said = async (store) => {
    const found = [];
    const view = { store: { ...store, set: ({ error }) => found.push(error) } };
    Object.assign(globalThis, { document: { querySelector: () => ({ view }) } });
    await saveShown();
    return found.join();
  };
  const none = await said({ arrived: [] });
  assert.equal(none, "Not saved: there is no run on screen; start one or open a file first");
  assert.match(await said({ arrived: [{}], done: false }), /the run is not over yet/);
});

test("the title of a saved page says what it shows, and names the models", () => {
  const meta = { label: "recorded", target: "large", draft: "small" };
  assert.equal(titleOf(meta), "Sequoia: a recorded run, large + small");
  assert.equal(titleOf({ label: "simulated" }), "Sequoia: a simulated run");
  const mixed = { label: "simulated", clock: "a card", hypothetical: true };
  assert.equal(titleOf(mixed), "Sequoia: a hypothetical run");
});

const RUN = {
  meta: { label: "measured" },
  lanes: [{ about: { name: "Plain", rates: "measured" } }],
  trees: [{ parents: [-1] }],
  pieces: new Map([["7", " a"]]),
  arrived: [{ tree: 0 }],
  stepLanes: [0],
  results: [],
  verdict: null,
  pool: null,
};
const saved = (changes) => runData(/** @type {any} */ ({ ...RUN, ...changes }));

test("a saved run keeps its further runs but cannot make more", () => {
  const pool = { runs: [{ seed: 1 }], more: 4, most: 20, kind: "code", planned: 7 };
  const found = saved({ pool, verdict: { races: 2 } });
  assert.deepEqual(found.pool, { ...pool, more: 0, planned: null });
  assert.deepEqual(found.verdict, { races: 2 });
  assert.ok(!("pool" in saved({})) && !("verdict" in saved({})));
});

test("a saved run has its lanes and steps as a message has them", () => {
  const { trees, pieces, steps, step_lanes: stepLanes, lanes } = saved({});
  assert.deepEqual([trees, pieces, steps, stepLanes], [[[-1]], { 7: " a" }, [{ tree: 0 }], [0]]);
  assert.deepEqual(lanes, [{ name: "Plain", rates: "recorded" }]);
});

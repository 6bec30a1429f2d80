// How runs are played, what is shown of each lane at a moment, and what is said of the last tree.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { RunStore } from "../../ui/run/web/run_store.js";
import { aStep } from "./a_step.js";

globalThis.matchMedia = /** @type {any} */ (() => ({ matches: false }));
globalThis.requestAnimationFrame = () => 0;

const STEP = {
  i: 0,
  tree: 0,
  tokens: [0, 1],
  trials: [],
  path: [0],
  bonus: 2,
  emitted: [2],
  seconds: { draft: 0.01, verify: 0.02, overhead: 0.01 },
};

/** The fields of a message with `count` steps of the only lane. */
const oneLane = (count, about = {}) => ({
  lanes: [/** @type {any} */ ({ name: "Sequoia", ...about })],
  step_lanes: new Array(count).fill(0),
});

/** A store with a recorded run of three steps, which plays automatically. If `meta` has `opening`,
    this is the run that the app opens with. */
function playing(store = new RunStore(), meta = {}) {
  const steps = [[2], [2, 3], [2]].map((emitted, i) => aStep({ ...STEP, i, emitted }));
  const about = { label: "recorded", ...meta };
  const message = { run: "r", from: 0, meta: about, trees: [[-1, 0]], steps, done: true };
  Object.assign(message, oneLane(3));
  store.take(/** @type {any} */ (message));
  return store;
}

/** Play automatically until the step on screen changes. Returns the rate after that. */
function rateAfterOneStep(store) {
  const { at } = store;
  for (let now = 1; store.at === at && store.playing && now < 60_000; now += 100)
    store.advance(now);
  return store.rate;
}

test("the opening run is in slow motion for one step only", () => {
  const store = playing(new RunStore(), { opening: {} });
  assert.equal(store.rate, "slow");
  assert.equal(rateAfterOneStep(store), store.easyRate);
});

test("slow motion that the visitor chose stays while a run plays automatically", () => {
  const store = playing();
  store.chooseRate("slow");
  assert.ok(store.opening);
  assert.equal(rateAfterOneStep(store), "slow");
});

test("slow motion that was chosen before a run stays on while the run plays", () => {
  const store = new RunStore();
  store.chooseRate("slow");
  assert.equal(rateAfterOneStep(playing(store)), "slow");
});

test("a small last tree is explained only if a run was given one tree for all steps", async () => {
  const canvas = { setAttribute() {}, getContext() {} };
  Object.assign(document, { createElement: () => canvas }); // needed when the module is imported
  const { TreeNote } = await import("../../ui/run/web/tree_panel.js");
  const noteOf = (about) => {
    const store = new RunStore();
    const steps = [0, 0, 1].map((number, i) => aStep({ ...STEP, i, tree: number }));
    const trees = [
      [-1, 0, 1],
      [-1, 0],
    ];
    const message = { run: "r", from: 0, meta: {}, trees, steps, done: true, end: "length" };
    Object.assign(message, oneLane(3, about));
    store.take(/** @type {any} */ (message));
    store.seek(store.last);
    const [root, words, back] = [new FakeNode(), new FakeNode(), new FakeNode()];
    made(TreeNote, { store, root, words, back }).paint();
    return [root.hidden, back.hidden, words.textContent];
  };
  const cut = "The last tree is smaller because of the token limit.";
  assert.deepEqual(noteOf({ changes: false }), [false, false, cut]);
  assert.deepEqual(noteOf({ changes: true }), [true, true, ""]);
});

test("a message whose predecessors did not arrive is not shown, and the visitor is told", () => {
  const store = new RunStore();
  const first = { run: "r", from: 0, meta: {}, trees: [[-1]], steps: [aStep(STEP)], ...oneLane(3) };
  store.ingest(first);
  store.ingest({ run: "r", from: 2, steps: [aStep(STEP)] });
  assert.match(store.error, /did not arrive/);
  assert.equal(store.steps.length, 1);
  store.ingest({ ...first, steps: [STEP, STEP, STEP].map(aStep), error: null });
  assert.equal(store.error, null);
  assert.equal(store.steps.length, 3);
});

/** Play for `seconds`, frame by frame. Returns what `look` finds in each frame. */
function played(store, seconds, look) {
  return Array.from({ length: seconds * 20 }, () => {
    store.advance(store.before + 50);
    return look(store);
  });
}

/** A store with a live run, not a recorded one, that plays in slow motion. So far, `count` steps
    have arrived. */
function paced(count) {
  const store = new RunStore();
  Object.assign(store, { isPaced: true, rate: "slow", isRateChosen: true });
  arrives(store, 0, count);
  store.advance(1000);
  return store;
}

function arrives(store, from, count) {
  const steps = Array.from({ length: count }, (_, i) => aStep({ ...STEP, i: from + i }));
  const meta = { label: "measured" };
  const head = from
    ? { step_lanes: new Array(count).fill(0) }
    : { trees: [[-1, 0]], ...oneLane(count) };
  store.take({ run: "r", from, meta, steps, done: false, ...head });
}

test("in slow motion the newest step stands at its result until the next one arrives", () => {
  const store = paced(1);
  const pictures = played(store, 60, () => store.slow.picture);
  assert.deepEqual(
    pictures,
    pictures.toSorted((a, b) => a - b),
  );
  assert.equal(pictures.at(-1), store.slow.most);
  assert.equal(store.written, 0);
  arrives(store, 1, 1);
  store.advance(store.before + 50);
  assert.deepEqual([store.at, store.slow.picture], [1, 0]);
});

for (const rate of ["easy", "x1", "slow"])
  test(`each press of Step shows the step it made, at rate ${rate}`, () => {
    const store = new RunStore();
    Object.assign(store, { isPaced: true, rate, isRateChosen: true });
    for (let i = 0; i < 4; i++) {
      if (i === 3) store.seek(0); // the visitor looks at an earlier step
      if (i) store.take(/** @type {any} */ ({ run: "r", done: false }));
      arrives(store, i, 1);
      store.take(/** @type {any} */ ({ run: "r", done: true, end: "paused" }));
      for (let now = 1000; store.playing && now < 60_000; now += 50) store.advance(now);
      assert.equal(store.at, i);
    }
  });

test("Step goes on from the end of a run that was played to its end, not from its start", () => {
  const store = new RunStore();
  Object.assign(store, { isPaced: true });
  arrives(store, 0, 6);
  const paused = { run: "r", done: true, end: "paused" };
  store.take(/** @type {any} */ (paused));
  for (let now = 1000; store.playing; now += 50) store.advance(now);
  assert.ok(store.isWhole);
  store.take(
    /** @type {any} */ ({ ...paused, from: 6, steps: [aStep({ ...STEP, i: 6 })], step_lanes: [0] }),
  );
  assert.deepEqual([store.at, store.playing], [5, true]);
  for (let now = 1000; store.playing; now += 50) store.advance(now);
  assert.equal(store.at, 6);
});

test("a resumed run is shown from its first new step, one that is replayed is not disturbed", () => {
  const store = paced(2);
  store.take(/** @type {any} */ ({ run: "r", done: true, end: "paused" }));
  store.seek(0);
  arrives(store, 2, 1);
  assert.ok(store.playing);
  assert.equal(store.at, 2);
  store.take(/** @type {any} */ ({ run: "r", done: true, end: "paused" }));
  store.seek(0);
  store.play();
  arrives(store, 3, 1);
  assert.ok(store.at < 2);
});

test("if a rate is chosen within a step in slow motion, play() starts with the next step", () => {
  const store = playing();
  store.seek(0);
  store.slow.turn(-1);
  assert.ok(store.slow.isInStep && store.clock > 0.2);
  store.chooseRate("x1");
  store.play();
  assert.deepEqual([store.at, store.clock], [0, 0]);
  store.advance(1000);
  assert.equal(store.at, 0);
});

test("a run paused within a step stays at that moment when another rate is chosen", () => {
  const store = playing();
  store.seek(1);
  store.slow.turn(-1);
  const { picture } = store.slow;
  const { time } = store;
  store.chooseRate("x1");
  assert.deepEqual([store.slow.picture, store.time], [picture, time]);
});

test("if slow motion was chosen before a run, the run begins with its very first picture", () => {
  const opened = new RunStore();
  opened.chooseRate("slow");
  for (const store of [paced(2), playing(opened)])
    assert.deepEqual([store.at, store.slow.picture, store.playing], [0, 0, true]);
});

// -- several lanes --------------------------------------------------------------------------------

/** A recorded run of lanes whose steps take `each` seconds; lane 0 is plain. */
function several(each = [0.3, 0.2, 0.4], counts = [6, 3, 2], meta = { label: "recorded" }) {
  const store = new RunStore();
  const lanes = /** @type {any} */ (each.map((_, i) => ({ name: `L${i}`, plain: i === 0 })));
  const steps = [];
  const stepLanes = [];
  each.forEach((verify, lane) => {
    for (let i = 0; i < counts[lane]; i++) {
      const seconds = { draft: 0, verify, overhead: 0 };
      steps.push(aStep({ ...STEP, i, tree: lane && 1, tokens: [0, lane], seconds }));
      stepLanes.push(lane);
    }
  });
  const trees = [[-1], [-1, 0]];
  store.take({ run: "r", from: 0, meta, lanes, trees, steps, step_lanes: stepLanes, done: true });
  return store;
}

const shownOf = (store) => store.lanes.map((lane) => store.shown(lane));

test("at first, the chosen lane is the first that is not plain, and each has its own steps", () => {
  const store = several();
  assert.deepEqual([store.chosen, store.last, store.end.toFixed(3)], [1, 2, "1.800"]);
  assert.deepEqual(
    store.lanes.map(({ steps, largest }) => [steps.length, largest.n]),
    [
      [6, 1],
      [3, 2],
      [2, 2],
    ],
  );
  assert.equal(store.view(1).topo.n, 2);
  assert.equal(store.view(9), null);
  assert.equal(store.plain, store.lanes[0]);
  store.choose(0);
  assert.equal(store.plain, null);
});

test("a run is played at the speed at which it takes at least five seconds", () => {
  assert.equal(several().rate, "x0.25");
  assert.equal(several([2, 1, 3]).rate, "x1");
});

test("the other lanes are shown at the time of the chosen lane's step", () => {
  const store = several();
  store.seek(1); // after 0.4 s
  assert.deepEqual(shownOf(store), [1, 2, 1]);
  store.seekTime(0.5);
  assert.deepEqual(shownOf(store), [1, 2, 1]);
  assert.ok(store.slow.isInStep);
  assert.equal(store.time.toFixed(6), "0.500000");
});

test("choosing another lane keeps the moment", () => {
  const store = several();
  for (const time of [0, 0.1, 0.3, 0.5, 0.75, 1.7, 1.8]) {
    store.seekTime(time);
    const before = shownOf(store);
    for (const lane of [0, 2, 1]) {
      store.choose(lane);
      assert.ok(Math.abs(store.time - time) < 1e-9, `${time}: ${store.time} in lane ${lane}`);
      assert.deepEqual(shownOf(store), before);
    }
  }
  store.choose(3); // there is no such lane
  assert.equal(store.chosen, 1);
});

for (const rate of ["x0.25", "easy", "s5", "slow"])
  test(`the playback goes on to the end of the slowest lane, at rate ${rate}`, () => {
    const store = several();
    store.chooseRate(rate);
    store.seek(2);
    assert.ok(!store.isOver);
    store.play();
    let now = 0;
    for (; store.playing && now < 60_000; now += 50) store.advance(1000 + now);
    assert.ok(now > 1000);
    assert.ok(store.isOver);
    assert.deepEqual(shownOf(store), [6, 3, 2]);
    store.play();
    assert.equal(store.at, 0);
  });

test("a run that plays by itself ends with all texts beside a step of the chosen lane", () => {
  const store = several();
  for (let now = 1000; store.playing && now < 60_000; now += 50) store.advance(now);
  assert.ok(store.isWhole && store.isOver);
  store.choose(0);
  assert.ok(store.isWhole && store.isOver);
});

test("one step forward from the chosen lane's end is the end of the run, and one step back", () => {
  const store = several();
  store.seek(2);
  store.step(1);
  assert.ok(store.isOver);
  store.step(-1);
  assert.deepEqual([store.at, store.time.toFixed(6)], [2, "0.600000"]);
  store.step(-1);
  assert.equal(store.at, 1);
});

test("a run in progress is followed in all lanes, until the visitor looks back", () => {
  const store = several([0.3, 0.2], [2, 2], { label: "measured" });
  const { arrived, stepLanes } = store;
  const live = new RunStore();
  const lanes = store.lanes.map(({ about }) => about);
  const head = { run: "l", meta: { label: "measured" }, lanes: /** @type {any} */ (lanes) };
  live.take({ ...head, from: 0, trees: [[-1], [-1, 0]], steps: [], done: false });
  assert.equal(live.state, "running");
  live.take({ run: "l", from: 0, steps: arrived.slice(0, 3), step_lanes: stepLanes.slice(0, 3) });
  assert.deepEqual(shownOf(live), [2, 1]);
  live.seek(0);
  live.take({ run: "l", from: 3, steps: arrived.slice(3), step_lanes: [1] });
  assert.deepEqual(shownOf(live), [0, 1]);
  live.goLive();
  assert.deepEqual(shownOf(live), [2, 2]);
});

test("played again from the end that was followed, a run begins at its start", () => {
  const store = several([0.3, 0.2], [2, 2], { label: "measured" });
  assert.ok(store.follow && store.isOver);
  store.play();
  assert.deepEqual([store.at, store.playing], [0, true]);
  store.goLive();
  store.step(-1);
  assert.deepEqual([store.at, store.time.toFixed(6)], [1, "0.400000"]);
});

test("a message about further runs of another run changes nothing", () => {
  const store = several();
  store.take(/** @type {any} */ ({ run: "other", pool: { runs: [] } }));
  assert.deepEqual([store.name, store.pool], ["r", null]);
});

test("many messages within one frame cause one paint", () => {
  let frames = 0;
  globalThis.requestAnimationFrame = () => ++frames;
  const store = playing();
  store.changed();
  assert.equal(frames, 1);
  globalThis.requestAnimationFrame = () => 0;
});

test("a lane with branches is chosen before a chain", () => {
  const store = several();
  const kinds = ["plain", "tuned_chain", "planned"];
  store.lanes.forEach(({ about }, lane) => (about.kind = kinds[lane]));
  assert.equal(store.first, 2);
});

// The answers of the tour, computed from its settings and recordings.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { keptChances, meanKept, ofHundred, recordedChain } from "../../ui/tour/web/chain_steps.js";
import { division, divisionOf, finishedAs, missed, printed } from "../../ui/tour/web/division.js";
import * as draws from "../../ui/tour/web/draws.js";
import { seeded } from "../../ui/shared/web/random.js";
import { guessingCost, timesOne } from "../../ui/tour/web/pass_cost.js";
import * as placing from "../../ui/tour/web/placing.js";
import { rescueOf } from "../../ui/tour/web/tree_step.js";
import { recordedStep } from "../../ui/shared/web/step_view.js";

const json = (name) => JSON.parse(readFileSync(new URL(`../../assets/${name}`, import.meta.url)));
const TOUR = json("lessons/tour.json");
const CPU = { level_overhead: 0, ...json("hardware_profiles/epyc-2-cores-bundled.json") };
const FLAT = {
  ...CPU,
  target_seconds: [[1, 0.02, 0]],
  draft_seconds: [[1, 0.001, 0]],
  overhead_seconds: [[1, 0, 0]],
  level_overhead: 0,
};
const near = (value, expected, by = 0.005) =>
  assert.ok(Math.abs(value - expected) <= by, `${value} is not ${expected}`);

test("a pass over n tokens costs more than over one, but less than n passes over one", () => {
  const { tokens } = TOUR.cost;
  const times = timesOne(CPU, tokens);
  assert.ok(times > 1.5 && times < tokens / 4);
  assert.equal(timesOne(CPU, 1), 1);
  assert.equal(timesOne(FLAT, tokens), 1);
});

test("five guesses cost five draft passes", () => {
  near(guessingCost(FLAT, 5), 0.25, 1e-12);
  near(guessingCost(CPU, 5), (5 * CPU.draft_seconds[0][1]) / CPU.target_seconds[0][1], 1e-12);
});

test("of 64 guesses of token 0, 49 are kept; tokens with p above q replace the other 15", () => {
  const { p, q } = TOUR.dice;
  assert.equal(draws.kept(p, q)[0], 49);
  near(draws.keepChance(p[0], q[0]), 49 / 64, 1e-12);
  assert.deepEqual(draws.left(p, q), [0, 9, 4, 2]);
  assert.equal(
    p.reduce((a, b) => a + b),
    100,
  );
  assert.equal(
    q.reduce((a, b) => a + b),
    100,
  );
  assert.equal(draws.misplaced([5, 4, 4, 2], draws.left(p, q)), 5);
  assert.equal(draws.misplaced([0, 9, 4, 2], draws.left(p, q)), 0);
});

test("the shares of 10,000 draws are within two percentage points of p, for many seeds", () => {
  const { p, q, throws, seed } = TOUR.dice;
  const found = draws.counts(p, q, throws, seeded(seed));
  assert.equal(
    found.reduce((a, b) => a + b),
    throws,
  );
  assert.ok(draws.worstOff(found, p) < 1);
  for (let one = 0; one < 50; one++)
    assert.ok(draws.worstOff(draws.counts(p, q, throws, seeded(one)), p) < 2);
  assert.deepEqual(found, draws.counts(p, q, throws, seeded(seed)));
});

test("all five guesses are kept in 33 of 100 steps, and a step gives 3.7 tokens on average", () => {
  const { acceptance, guesses } = TOUR.chain;
  const chances = keptChances(acceptance, guesses);
  assert.deepEqual(ofHundred(chances), [20, 16, 13, 10, 8, 33]);
  near(
    chances.reduce((a, b) => a + b),
    1,
    1e-12,
  );
  const mean = meanKept(acceptance, guesses);
  near(
    mean,
    chances.reduce((total, chance, kept) => total + kept * chance, 0),
    1e-12,
  );
  near(mean, 2.689);
  assert.equal(meanKept(1, guesses), 5);
  assert.equal(meanKept(0, guesses), 0);
});

test("the recorded chain's tokens per step are 1 plus its mean number of kept guesses", () => {
  const { steps } = json(`lessons/${TOUR.chain.recording}.json`);
  const chain = recordedChain(steps, TOUR.chain.guesses);
  assert.ok(chain.steps >= 40);
  near(
    chain.shares.reduce((a, b) => a + b),
    1,
    1e-12,
  );
  near(
    chain.tokens,
    1 + chain.shares.reduce((total, share, kept) => total + kept * share, 0),
    1e-9,
  );
  assert.ok(chain.keptShare > 0.5 && chain.keptShare < 1);
});

test("in the recorded step, a second guess is accepted where a chain would have ended", () => {
  const step = recordedStep(json(`lessons/${TOUR.tree.recording}.json`), TOUR.tree.step);
  const { chain, end, chainTokens, tokens, second, ratio, trial } = rescueOf(step);
  assert.equal(chainTokens, 2);
  assert.ok(tokens >= 4);
  assert.ok(chain.includes(end) && !chain.includes(second));
  assert.equal(step.topo.parents[end], step.topo.parents[second]);
  assert.equal(step.state[second], "accepted");
  assert.ok(ratio < 1);
  const keep = trial.p / trial.q;
  assert.ok(keep > 0.2 && keep < 0.95 && trial.u < keep);
});

test("the best four guesses are a chain of three and a second guess for the first token", () => {
  const { rates, nodes } = TOUR.which.place;
  const best = placing.bestPlaces(rates, nodes);
  assert.deepEqual([...best].sort(), ["0", "00", "000", "1"]);
  near(placing.keeps(best, rates), 1.075, 1e-12);
  near(placing.keeps(placing.chainPlaces(nodes), rates), 0.9375, 1e-12);
  near(
    placing.keeps(best, rates),
    best.reduce((total, place) => total + placing.chanceAt(place, rates), 0),
    1e-12,
  );
});

test("where guesses can be added, and which guesses stay when one is removed", () => {
  assert.deepEqual(placing.freePlaces([], 2), ["0"]);
  assert.deepEqual(placing.freePlaces(["0"], 2).sort(), ["00", "1"]);
  assert.deepEqual(placing.freePlaces(["0", "1"], 2).sort(), ["00", "10"]);
  assert.deepEqual(placing.without(["0", "00", "1", "10"], "1"), ["0", "00"]);
  assert.deepEqual(placing.without(["0", "00", "1", "10"], "0"), []);
  assert.deepEqual(placing.without(["0", "00", "01", "1"], "00"), ["0", "1"]);
});

test("a tree's 4.6 tokens per step beat a chain's 3.7 at up to 1.24 times the step time", () => {
  const compared = placing.compared(TOUR.which.compare);
  near(compared.treeTokens, 4.59, 0.05);
  near(compared.chainTokens, 3.69);
  near(compared.ratio, 1.24);
  assert.equal(compared.chain.length, TOUR.which.compare.guesses + 1);
  near(placing.timesLonger(compared, FLAT), 1, 1e-9);
  assert.ok(placing.timesLonger(compared, CPU) > compared.ratio);
});

test("the quotient of a run is the speed-up of its verdict", () => {
  const verdict = { code: "no_clear_difference", ratio: 1.5, low: 0.9, high: 2.1 };
  const run = { label: "measured", device: "cpu", tokensPerStep: 3, speedup: verdict };
  assert.deepEqual(divisionOf(run), { tokens: 3, length: 2, speedup: 1.5 });
  assert.equal(missed(division(3, 4), divisionOf(run)), "length");
  assert.equal(missed(division(6, 2), divisionOf(run)), "tokens");
  assert.equal(missed(division(3, 2.1), divisionOf(run)), "none");
});

test("a visitor who divides the printed numbers of a run gets its printed speed-up", () => {
  for (let tokens = 1; tokens < 9; tokens += 0.0637)
    for (let ratio = 0.4; ratio < tokens; ratio += 0.0713) {
      const [made, length, speedup] = printed(division(tokens, tokens / ratio)).map(Number);
      near(made / length, speedup, 0.01);
    }
});

test("for a recorded run, the tokens per step are the mean of what its steps emitted", () => {
  const { run } = json("runs/welcome.json").lanes[0];
  const { tokens, speedup } = divisionOf(finishedAs({ ...run, speedup: { ratio: 1.25 } }));
  const emitted = run.steps.reduce((total, step) => total + step.emitted.length, 0);
  near(tokens, emitted / run.steps.length, 1e-12);
  near(speedup, 1.25, 1e-12);
});

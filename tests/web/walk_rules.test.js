// The JavaScript verifiers of the Walk tab agree with the Python ones. The same draws give the same
// step, and enumerating all outcomes gives the same results. tests/walk_cases.py writes the cases.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { exactly } from "../../ui/walk/web/exact.js";
import { limitsOf } from "../../ui/walk/web/rules/limit.js";
import { Dice } from "../../ui/walk/web/rules/chance.js";
import { Drafted } from "../../ui/walk/web/rules/drafted.js";
import { scaled } from "../../ui/walk/web/rules/residuals.js";
import { VERIFIERS, verifierNamed } from "../../ui/walk/web/rules/verifiers.js";
import { noiseFloor, squared, Tally, totalVariation } from "../../ui/walk/web/tally.js";
import { seeded } from "../../ui/shared/web/random.js";
import { toyTree } from "../../ui/walk/web/toy.js";

const CASES = JSON.parse(readFileSync(new URL("walk_cases.json", import.meta.url)));
const KEYS = VERIFIERS.map(({ key }) => key);
const NEAR = 1e-8;

function exactStep(toy) {
  const parts = exactly(toy);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

const isNear = (one, other) =>
  one === other || (one !== null && other !== null && Math.abs(one - other) < NEAR);

// A step with the tokens and draws of a case.
function stepOf({ verifier, p, q, children, tokens, draws }) {
  const left = [...draws];
  const drafted = new Drafted(toyTree(children), () => [], p.length);
  drafted.tokens.push(...tokens);
  const models = { p: scaled(p), q: scaled(q) };
  return verifierNamed(verifier).verify(drafted, models, new Dice(() => left.shift()));
}

for (const key of ["sequoia", "specinfer", "topk", "traversal"])
  test(`${key}: the same draws give the same step`, () => {
    const cases = CASES.steps.filter(({ verifier }) => verifier === key);
    assert.ok(cases.length >= 50);
    for (const one of cases) {
      const { path, bonus, trials } = stepOf(one);
      assert.deepEqual([path, bonus], [one.path, one.bonus], JSON.stringify(one));
      assert.equal(trials.length, one.trials.length);
      trials.forEach(({ node, p, q, accepted, mass }, i) => {
        const [itsNode, itsP, itsQ, itsAccepted, itsMass] = one.trials[i];
        assert.deepEqual([node, accepted], [itsNode, itsAccepted]);
        assert.ok(isNear(p, itsP) && isNear(q, itsQ), JSON.stringify([p, q, one]));
        assert.ok(isNear(accepted ? null : mass, itsMass));
      });
    }
  });

// A case with an empty `children` is about the uneven tree, one of the SHAPES in toy.js.
const toyOf = ({ verifier, p, q, children }) => ({
  verifier,
  p: scaled(p),
  q: scaled(q),
  children: children.length ? children : [1, 0],
  shape: children.length ? "levels" : "uneven",
});

test("enumeration gives the same results on the page and in Python", () => {
  assert.ok(CASES.exact.length >= 30);
  for (const one of CASES.exact) {
    const { verifier, p, q, tokens, first } = one;
    const found = exactStep(toyOf(one));
    assert.ok(isNear(found.tokens, tokens), `${verifier} ${p} ${q}: ${found.tokens} ${tokens}`);
    found.first.forEach((share, i) => assert.ok(isNear(share, first[i])));
  }
});

test("the limits agree with a linear program that was solved exactly, in fractions", () => {
  for (const one of CASES.exact) {
    const { none, tokens } = limitsOf(toyOf(one));
    const [accepted, most] = one.limits;
    assert.ok(isNear(1 - none, accepted), JSON.stringify([1 - none, one]));
    assert.ok(isNear(tokens, most), JSON.stringify([tokens, one]));
  }
});

test("by enumeration, the emitted tokens follow p for every verifier", () => {
  const p = [0.5, 0.3, 0.2];
  const q = [0.1, 0.2, 0.7];
  for (const verifier of KEYS)
    for (const children of [
      [1, 0],
      [2, 0],
      [2, 1],
      [1, 2],
      [3, 1],
    ]) {
      const { first, pairs } = exactStep({ verifier, p, q, children });
      assert.ok(totalVariation(first, p) < 1e-12, `${verifier} ${children}`);
      assert.ok(totalVariation(pairs, squared(p)) < 1e-12, `${verifier} ${children}`);
    }
});

test("many runs agree with p and with the exact mean number of tokens", () => {
  const p = [0.5, 0.3, 0.2];
  const q = [0.1, 0.2, 0.7];
  for (const verifier of KEYS) {
    const toy = { verifier, p, q, children: [2, 1] };
    const tally = new Tally(toy, seeded(7));
    tally.run(5000);
    assert.ok(totalVariation(tally.first, p) < 3 * noiseFloor(p, 5000), verifier);
    assert.ok(totalVariation(tally.pairs, squared(p)) < 3 * noiseFloor(squared(p), 5000));
    assert.ok(Math.abs(tally.tokens / 5000 - exactStep(toy).tokens) < 0.1, verifier);
  }
});

test("if a step has too many outcomes, the enumeration gives null", () => {
  const even = new Array(8).fill(1 / 8);
  assert.equal(exactStep({ verifier: "specinfer", p: even, q: even, children: [5, 0] }), null);
});

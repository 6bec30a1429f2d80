// The rules of the page's walk give what the program's own verifiers give for the same draws, and
// enumerate to the same distributions. tests/walk_cases.py writes the cases.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { exactly } from "../../ui/walk/web/exact.js";
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

test("enumeration gives what the program's own gives", () => {
  assert.ok(CASES.exact.length >= 20);
  for (const { verifier, p, q, children, tokens, first } of CASES.exact) {
    const found = exactStep({ verifier, p: scaled(p), q: scaled(q), children });
    assert.ok(isNear(found.tokens, tokens), `${verifier} ${p} ${q}: ${found.tokens} ${tokens}`);
    found.first.forEach((share, i) => assert.ok(isNear(share, first[i])));
  }
});

test("what comes out follows p, by enumeration, for every verifier", () => {
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

test("many runs are as near to p as draws from p itself, and to the exact mean", () => {
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

test("too many outcomes are not visited", () => {
  const even = new Array(8).fill(1 / 8);
  assert.equal(exactStep({ verifier: "specinfer", p: even, q: even, children: [5, 0] }), null);
});

"""Write walk_cases.json, the cases that test the JavaScript verifiers of the Walk tab.

Some cases are single steps of the Python verifiers, with small distributions and given random
numbers. The others are exact results, computed by enumerating all outcomes.

    PYTHONPATH=. python tests/walk_cases.py
"""

from __future__ import annotations

import json
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from exact import EXACT, Distribution, Enumerator, distribution, drafted, same
from transport_limit import limits

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.algorithm.verifiers.verifier import Verifier

FILE = Path(__file__).parent / "web" / "walk_cases.json"
STEPS = 50  # of each verifier
DIGITS = 9
WEIGHTS = (0, 0, 1, 2, 3, 6)  # few values, so that zeros and ties are frequent
# weights of p, weights of q, and the argument of `tree_of`
EXACT_TOYS: tuple[tuple[list[int], list[int], list[int]], ...] = (
    ([1, 0], [1, 1], [2, 0]),
    ([3, 2], [3, 2], [1, 0]),
    ([0, 1, 1], [1, 0, 0], [2, 0]),
    ([2, 1, 1], [1, 1, 2], [2, 1]),
    ([5, 3, 2], [5, 3, 2], [3, 0]),
    ([1, 2, 3, 0], [3, 0, 1, 2], [2, 0]),
)
UNEVEN = Tree((-1, 0, 1, 1, 3))  # of two siblings, only one has a child
# weights of p and of q
UNEVEN_TOYS = (([3, 1], [1, 3]), ([2, 1, 1], [1, 1, 2]), ([3, 1, 0, 2], [1, 2, 3, 0]))


class Given:
    """A Chance that takes its random numbers from a list."""

    def __init__(self, draws: Sequence[float]) -> None:
        self._draws = iter(draws)

    def accept(self, d: Any, r: Any) -> tuple[bool, float]:
        u = next(self._draws)
        return bool(u * d < r), u

    def pick(self, weights: np.ndarray) -> int:
        cumulative = weights.cumsum().tolist()
        return bisect_right(cumulative, next(self._draws) * cumulative[-1])


def tree_of(children: Sequence[int]) -> Tree:
    """A tree whose root has children[0] children. Each of these has children[1] children."""
    first, second = children
    below = [1 + i // second for i in range(first * second)] if second else []
    return Tree((-1, *[0] * first, *below))


def shares(weights: Sequence[int]) -> np.ndarray:
    return np.array(weights) / sum(weights)


def drawn_weights(rng: random.Random, vocab: int) -> list[int]:
    weights = [rng.choice(WEIGHTS) for _ in range(vocab)]
    weights[rng.randrange(vocab)] += 1
    return weights


def random_step(verifier: Verifier, number: int) -> dict[str, Any]:
    """One step with random distributions, tree, tokens and draws, and the verifier's verdict on
    it."""
    rng = random.Random(f"{verifier.key} {number}")
    vocab = rng.randint(2, 8)
    q = drawn_weights(rng, vocab)
    p = q if rng.random() < 0.2 else drawn_weights(rng, vocab)
    children = [rng.randint(1, min(vocab, 4)), rng.randint(0, min(vocab, 3))]
    tree = tree_of(children)
    chance = _Drawing(rng)
    tokens, _ = drafted(tree, EXACT[verifier.key], same([Fraction(one) for one in q]), (), chance)
    draws = [round(rng.random(), 6) for _ in range(2 * len(tree) + 2)]
    verdict = verifier.verify(tree, tokens, lambda _: shares(p), lambda _: shares(q), Given(draws))
    return {
        "verifier": verifier.key,
        "p": p,
        "q": q,
        "children": children,
        "tokens": tokens[1:],
        "draws": draws,
        "path": list(verdict.path),
        "bonus": verdict.bonus,
        "trials": [
            [one.node, _rounded(one.p), _rounded(one.q), one.accepted, _rounded(one.mass)]
            for one in verdict.trials
        ],
    }


class _Drawing(Enumerator):
    """Draws tokens with `rng`, with probabilities in proportion to their weights."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self._rng = rng

    def choose(self, weights: Any) -> int:
        weights = [float(weight) for weight in weights]
        return self._rng.choices(range(len(weights)), weights)[0]


def exact_result(key: str, p: list[int], q: list[int], children: list[int]) -> dict[str, Any]:
    """The mean number of tokens that a step emits, the distribution of the first token, and the
    limits that transport_limit.py computes. The tree is UNEVEN if `children` is empty."""
    tree = tree_of(children) if children else UNEVEN
    run = partial(_emitted, tree, EXACT[key], _fractions(p), _fractions(q))
    found: Distribution = distribution(run)
    first = [sum(w for text, w in found.items() if text[0] == one) for one in range(len(p))]
    mean = sum(len(text) * weight for text, weight in found.items())
    accepted, emitted = limits(tree, EXACT[key], _fractions(p), _fractions(q))
    return {
        "verifier": key,
        "p": p,
        "q": q,
        "children": children,
        "tokens": float(mean),
        "first": [float(share) for share in first],
        "limits": [float(accepted), float(emitted)],
    }


def _emitted(
    tree: Tree, verifier: Verifier, p: list[Fraction], q: list[Fraction], chance: Any
) -> tuple[int, ...]:
    tokens, _ = drafted(tree, verifier, same(q), (), chance)
    target, draft = np.array(p), np.array(q)
    verdict = verifier.verify(tree, tokens, lambda _: target, lambda _: draft, chance)
    return (*(tokens[node] for node in verdict.path[1:]), verdict.bonus)


def _fractions(weights: Sequence[int]) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


def _rounded(value: Any) -> float | None:
    return None if value is None else round(float(value), DIGITS)


def cases() -> dict[str, Any]:
    """All that the file holds."""
    return {
        "steps": [
            random_step(verifier, number)
            for verifier in VERIFIERS.values()
            for number in range(STEPS)
        ],
        "exact": [exact_result(key, *toy) for key, toy in _exact_toys()],
    }


def _exact_toys() -> Iterator[tuple[str, tuple[list[int], list[int], list[int]]]]:
    yield from product(VERIFIERS, (*EXACT_TOYS, *((p, q, []) for p, q in UNEVEN_TOYS)))


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), separators=(",", ":")) + "\n", encoding="utf-8")

"""Traversal verification is lossless, which is tested by enumerating all random outcomes. On chains
it equals block verification. The number of tokens that it accepts is compared with that of
Sequoia's Algorithm 2."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from doors import PathNode, RejectIfPossible, Tree, expected_accepted, seeded
from exact import (
    EXACT,
    Enumerator,
    Model,
    Text,
    distribution,
    drafted,
    error,
    fits,
    over_torch,
    same,
    table,
)

TRAVERSAL = EXACT["traversal"]
ALGORITHM_2 = EXACT["sequoia"]
CHAINS = [Tree.chain(nodes) for nodes in range(2, 7)]
# The smallest shape on which Traversal is known to accept fewer tokens than Algorithm 2 for some
# distributions.
UNLUCKY = Tree((-1, 0, 1, 1, 3))


def random_tree(rng: random.Random, most: int) -> Tree:
    nodes = rng.randint(2, most)
    return Tree((-1, *sorted(rng.randrange(node) for node in range(1, nodes))))


def with_ties(seed: Any, vocab: int) -> Model:
    """A table with many zeros and equal entries."""

    def model(context: Text) -> np.ndarray:
        rng = random.Random(f"ties {seed} {context}")
        weights = [rng.choice((0, 0, 1, 1, 2)) for _ in range(vocab)]
        weights[rng.randrange(vocab)] += 1
        return np.array([Fraction(weight, sum(weights)) for weight in weights], dtype=object)

    return model


def random_chain(rng: random.Random, most: int) -> Tree:
    return Tree.chain(rng.randint(2, most))


RandomTree = Callable[[random.Random, int], Tree]


def random_case(case: int, most: int, made: RandomTree = random_tree) -> tuple[Tree, Model, Model]:
    """Tree, p and q of the random case with the number `case`."""
    rng = random.Random(f"case {case}")
    tree = made(rng, most)
    vocab = rng.choice((2, 3))
    models = rng.choice((table, with_ties))
    while not fits(tree, TRAVERSAL, vocab):
        tree = made(rng, most)
    return tree, models((case, "p"), vocab), models((case, "q"), vocab)


def errors(cases: Sequence[int], most: int, made: RandomTree = random_tree) -> list[int]:
    """The numbers of the random cases in which the output distribution is wrong."""
    found = ((case, *random_case(case, most, made)) for case in cases)
    return [case for case, tree, p, q in found if error(tree, TRAVERSAL, p, q) != 0]


def test_random_trees_with_zeros_and_ties_have_the_target_distribution() -> None:
    assert errors(range(250), most=4) == []


@pytest.mark.nightly
def test_2000_random_trees_with_zeros_and_ties_have_the_target_distribution() -> None:
    assert errors(range(2000), most=5) == []


def test_random_chains_with_zeros_and_ties_have_the_target_distribution() -> None:
    """On chains, Traversal is block verification."""
    assert errors(range(60), most=5, made=random_chain) == []


@pytest.mark.nightly
def test_2000_random_chains_with_zeros_and_ties_have_the_target_distribution() -> None:
    assert errors(range(2000), most=6, made=random_chain) == []


# -- compared with block verification and Algorithm 2 ----------------------------------------------


def accepted_tokens(tree: Tree, verifier: Any, p: Model, q: Model) -> Fraction:
    """The exact expected number of nodes that one step accepts, without the root: the mean over all
    tokens that can be drafted for `tree`, and over the verifier's draws."""

    def accepted(chance: Enumerator) -> Fraction:
        tokens, contexts = drafted(tree, verifier, q, (), chance)
        return expected_accepted(
            tree, tokens, lambda node: p(contexts[node]), lambda node: q(contexts[node]), verifier
        )

    return sum((one * weight for one, weight in distribution(accepted).items()), Fraction(0))


def losses(cases: Sequence[int], most: int) -> list[int]:
    """The numbers of the random chains on which Traversal accepts fewer tokens than Algorithm 2. On
    chains, Traversal is block verification, and Algorithm 2 is token verification."""
    wrong = []
    for case in cases:
        tree, p, q = random_case(case, most, random_chain)
        if accepted_tokens(tree, TRAVERSAL, p, q) < accepted_tokens(tree, ALGORITHM_2, p, q):
            wrong.append(case)
    return wrong


def block_acceptance(tokens: Sequence[int], p: Model, q: Model) -> list[Fraction]:
    """For a drafted chain, the probability with which block verification accepts each prefix that
    it tests (arXiv 2403.10444). Prefixes that go on after a token with p = 0 are not tested."""
    stands = Fraction(1)
    tested = []
    for at, token in enumerate(tokens):
        before = tuple(tokens[:at])
        stands = min(Fraction(1), stands * p(before)[token] / q(before)[token])
        if stands == 0 or at + 1 == len(tokens):
            return [*tested, stands]
        here = tuple(tokens[: at + 1])
        mass = sum(max(stands * p(here)[x] - q(here)[x], 0) for x in range(len(p(here))))
        tested.append(mass / (mass + 1 - stands) if mass + 1 - stands else Fraction(1))
    raise AssertionError("a chain without tokens")


@pytest.mark.parametrize("tree", CHAINS, ids=lambda tree: f"{len(tree)} nodes")
def test_a_chain_is_tested_as_block_verification_tests_it(tree: Tree) -> None:
    """Compares the probability of every trial, along every chain that can be drafted from a
    vocabulary of three tokens."""
    p = table("block p", 3)
    q = table("block q", 3)

    class Reject(Enumerator):
        def accept(self, d: Any, r: Any) -> tuple[bool, None]:
            seen.append(r / d)
            return False, None

    def run(chance: Enumerator) -> Text:
        seen.clear()
        tokens, contexts = drafted(tree, TRAVERSAL, q, (), chance)
        TRAVERSAL.verify(
            tree, tokens, lambda node: p(contexts[node]), lambda node: q(contexts[node]), chance
        )
        assert seen[::-1] == block_acceptance(tokens[1:], p, q)
        return tuple(tokens)

    seen: list[Any] = []
    assert len(distribution(run, Reject)) > 1


@pytest.mark.parametrize("tree", CHAINS, ids=lambda tree: f"{len(tree)} nodes")
def test_on_a_chain_it_accepts_at_least_as_many_tokens_as_algorithm_2(tree: Tree) -> None:
    gains = []
    for seed in range(12):
        p = table((seed, "gain p"), 2)
        q = table((seed, "gain q"), 2)
        gains.append(
            accepted_tokens(tree, TRAVERSAL, p, q) - accepted_tokens(tree, ALGORITHM_2, p, q)
        )
    assert min(gains) >= 0
    assert len(tree) == 2 or max(gains) > 0


def test_on_random_chains_block_verification_accepts_at_least_as_many_tokens() -> None:
    assert losses(range(150), most=6) == []


@pytest.mark.nightly
def test_on_2000_random_chains_block_verification_accepts_at_least_as_many_tokens() -> None:
    assert losses(range(2000), most=6) == []


def test_on_a_tree_it_accepts_more_tokens_on_average_and_sometimes_fewer() -> None:
    gains = []
    for seed in range(60):
        p = table((seed, "unlucky p"), 3)
        q = table((seed, "unlucky q"), 3)
        gains.append(
            accepted_tokens(UNLUCKY, TRAVERSAL, p, q) - accepted_tokens(UNLUCKY, ALGORITHM_2, p, q)
        )
    assert sum(gains) > 0
    assert min(gains) < 0


# -- floats ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_distributions_that_differ_by_rounding_alone_accept_whole_paths(step: int) -> None:
    """If p and q differ only by one unit in the last place, max(p - q, 0) is mere rounding noise.
    The path must then be accepted, not judged by that noise."""
    tree = Tree.kary(2, 4)
    rng = np.random.default_rng(3)
    shared = rng.dirichlet(np.ones(50))
    shifted = np.nextafter(shared, np.inf * step) if step else shared
    chance = seeded(0)
    for _ in range(200):
        tokens, _contexts = drafted(tree, over_torch("traversal"), same(shifted), (), chance)
        verdict = TRAVERSAL.verify(
            tree, tokens, lambda _: shared.copy(), lambda _: shifted.copy(), chance
        )
        assert len(verdict.path) == tree.levels


@pytest.mark.parametrize("tree", [*CHAINS[::2], UNLUCKY, Tree.kary(3, 3)])
def test_probabilities_stay_valid_if_p_and_q_differ_by_rounding_alone(tree: Tree) -> None:
    """Even if every trial rejects, the probability in each trial is from 0 to 1. The expected
    number of accepted nodes is the same as for p = q in exact arithmetic, where the path to the
    first leaf is always accepted."""
    rng = np.random.default_rng(4)
    for seed in range(40):
        p = rng.dirichlet(np.ones(8)) if seed % 2 else rng.permutation([0.5, 0.25, 0.25, *[0] * 5])
        away = rng.choice((-np.inf, 0, np.inf), 8)
        q = np.where((away == 0) | (p == 0), p, np.nextafter(p, away))
        tokens, _ = drafted(tree, over_torch("traversal"), same(q), (), seeded(seed))
        verdict = TRAVERSAL.verify(tree, tokens, lambda _: p, lambda _: q, AllRejected())  # noqa: B023
        stands = [trial.p for trial in verdict.trials]
        assert all(0 <= one <= 1 for one in stands), stands
        found = expected_accepted(tree, tokens, lambda _: p, lambda _: q, TRAVERSAL)  # noqa: B023
        depth = tree.depths[verdict.trials[0].node]
        assert found == pytest.approx(depth, abs=1e-12)


class AllRejected(RejectIfPossible):
    """Rejects every node, even if the probability of its rejection is only a rounding error."""

    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        return False, None


# -- mutants ---------------------------------------------------------------------------------------


def never_weighted(self: PathNode, token: int) -> Any:
    """Computes max(p - q, 0) instead of max(path_chance * p - q, 0), and does not change
    path_chance."""
    before = self.path_chance
    self.path_chance = before * 0 + 1
    mass = REJECT(self, token)
    self.path_chance = before
    return mass


def path_chance_as_before(self: PathNode, token: int) -> Any:
    """Does not change path_chance when a child is rejected."""
    before = self.path_chance
    mass = REJECT(self, token)
    self.path_chance = before
    return mass


def target_as_before(self: PathNode, token: int) -> Any:
    """Keeps p instead of the residual, both for testing the later siblings and for drawing the last
    token."""
    target = self.target
    mass = REJECT(self, token)
    self.target = target
    return mass


REJECT = PathNode.reject
MUTANTS: list[Callable[[PathNode, int], Any]] = [
    never_weighted,
    path_chance_as_before,
    target_as_before,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_wrong_updates_are_found(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathNode, "reject", mutant)
    tree = Tree((-1, 0, 0, 1))
    pairs = [(table((seed, "p"), 3), table((seed, "q"), 3)) for seed in range(6)]
    assert any(error(tree, TRAVERSAL, p, q) != 0 for p, q in pairs)

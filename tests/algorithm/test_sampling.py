"""The randomness of real runs: its distributions by chi-square, its edge cases by hand, and whole
decoding over three steps.

Seventeen chi-square tests, two comparisons of picks and two tests of the noise raise a false alarm
with a probability of about 1e-6 each. With fresh seeds, about one run in 50,000 would fail by
chance. The seeds are fixed, so no run does.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from exact import distribution, logits, over_torch, steps, true_distribution, warped
from goodness_of_fit import fit
from nightly_cases import nightly

from sequoia.algorithm.sampling import Drawn, Greedy, Seeded
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.errors import BadModel

LIMIT = 1e-6
LAST = 1 - 2**-53  # the largest possible u


def draws(
    chance: Seeded, draw: str, row: list[float] | torch.Tensor, count: int, times: int = 20_000
) -> list[tuple[int, ...]]:
    """`times` rows, drawn in one call."""
    return rows(
        getattr(chance, draw)(torch.as_tensor(row).expand(times, len(row)), [count] * times)
    )


def rows(tokens: list[list[int]]) -> list[tuple[int, ...]]:
    return list(map(tuple, tokens))


class Scripted(Seeded):
    """Real randomness, except that `accept` and `pick` always use the given u."""

    def __init__(self, u: float) -> None:
        super().__init__(0)
        self._host = self
        self.random = lambda: u


def test_fit_distinguishes_a_fair_die_from_a_loaded_one() -> None:
    die = dict.fromkeys(range(6), Fraction(1, 6))
    assert fit(list(range(6)) * 100, die) == 1
    assert fit([*list(range(6)) * 100, *[5] * 100], die) < LIMIT
    assert fit([6], die) == 0


# -- whole decoding --------------------------------------------------------------------------------


class FrozenNoise(Seeded):
    """A mutant: the draft uses the same noise for the whole run."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._noise = self._drafting.getstate()

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        self._drafting.setstate(self._noise)
        return super().without_replacement(q, counts)


class Constant(random.Random):
    """A source that gives the same number at every call."""

    def __init__(self, u: float) -> None:
        super().__init__()
        self._u = u

    def random(self) -> float:
        return self._u


SMALL = Tree((-1, 0, 0, 1))


def three_tokens(chance: Seeded, verifier: str) -> tuple[int, ...]:
    """The first three tokens of three steps, with temperature, top-p, draws and verification as in
    real runs."""
    p = warped(P, 0.8, 0.95)
    q = warped(Q, 0.8, 0.95, is_draft=True)
    return steps(3, SMALL, over_torch(verifier), p, q, chance)[:3]


P = logits("p", 3, spread=0.5)
Q = logits("q", 3, spread=0.5)


@pytest.mark.parametrize("verifier", ["sequoia", *nightly("specinfer", "topk", "traversal")])
def test_three_tokens_over_three_steps_follow_the_target(verifier: str) -> None:
    """Checks the joint distribution with real randomness. Guards against noise shared between
    draws, steps or generators, and half-precision noise.

    False alarm 1e-6 for each verifier."""
    expected = true_distribution(warped(P, 0.8, 0.95), 3)
    assert fit((three_tokens(Seeded(seed), verifier) for seed in range(600)), expected) > LIMIT


def test_noise_frozen_for_a_run_fails_the_same_test() -> None:
    """The test above can fail: it must reject the frozen mutant. The probability of missing it is
    far below 1e-6."""
    expected = true_distribution(warped(P, 0.8, 0.95), 3)
    assert (
        fit((three_tokens(FrozenNoise(seed), "sequoia") for seed in range(600)), expected) < LIMIT
    )


# -- draws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("few", [0, 32], ids=["race", "distinct"])
@pytest.mark.parametrize(
    ("row", "k", "outcomes"),
    [([0.5, 0.3, 0.2, 0.0, 0.0], 4, 12), ([0.2, 0.5, 0.3], 1, 3)],
)
def test_draws_without_replacement_have_the_distribution_of_successive_draws(
    row: list[float], k: int, outcomes: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plackett-Luce; tokens of probability 0 come last, in uniformly random order. Guards against
    an exponential race in the wrong direction, zeros ranked by id, and repeated tokens. False alarm
    1e-6."""
    monkeypatch.setattr("sequoia.algorithm.sampling._MAX_ONE_BY_ONE", few)
    expected = distribution(
        lambda chance: tuple(chance.without_replacement(np.array([row]), [k])[0])
    )
    assert len(expected) == outcomes
    assert fit(draws(Seeded(1), "without_replacement", row, k), expected) > LIMIT


@pytest.mark.parametrize("u", [0.0, LAST])
@pytest.mark.parametrize(
    "row", [[0.0, 0.3, 0.7, 0.0], [1e-30, 1.0, 0.0, 3e-30], [0.25] * 4, [0.1, 1e-9, 0.9, 0.0]]
)
def test_distinct_draws_at_the_ends_of_u_are_distinct_and_have_mass(
    row: list[float], u: float
) -> None:
    """With the smallest or the largest u, no token may be drawn twice, and tokens of probability 0
    must come last."""
    chance = Seeded(0)
    chance._drafting = Constant(u)
    drawn = chance.without_replacement(torch.tensor([row]), [4])[0]
    assert sorted(drawn) == [0, 1, 2, 3]
    with_mass = sum(weight > 0 for weight in row)
    assert all(row[token] > 0 for token in drawn[:with_mass])


def test_rows_are_drawn_independently() -> None:
    """Guards against the same noise in all rows of one call. Tests of single rows cannot detect
    this. False alarm 1e-6."""
    row = torch.tensor([0.5, 0.3, 0.2])
    drawn = [token for (token,) in draws(Seeded(2), "without_replacement", row, 1)]
    expected = {(a, b): float(row[a] * row[b]) for a in range(3) for b in range(3)}
    assert fit(zip(drawn[::2], drawn[1::2], strict=True), expected) > LIMIT


def test_independent_draws_repeat_tokens_as_often_as_they_should() -> None:
    """Guards against draws without replacement and tokens of probability 0. False alarm 1e-6."""
    row = [0.0, 0.6, 0.0, 0.4, 0.0]
    expected = distribution(lambda chance: tuple(chance.independent(np.array([row]), [2])[0]))
    assert len(expected) == 4
    assert fit(draws(Seeded(3), "independent", row, 2), expected) > LIMIT


@pytest.mark.parametrize("source", ["race", "host"])
def test_noise_is_fine_enough_for_rare_tokens(source: str) -> None:
    """Guards against coarse noise. On float32's grid of 2**-24 a token of q = 1e-9 is drawn never
    or much too often, but verification assumes that it is drawn with probability q.

    Of two million uniforms about 400 lie below 2e-4. float32's grid has only 3,355 values there, so
    some uniforms would coincide (24 pairs expected). On float64's grid none do, except with a
    probability of 5e-8. The probability that the number of uniforms below 2e-4 is not between 300
    and 500 is 9e-7.
    """
    chance = Seeded(4)
    seen = (
        chance.noise((2_000_000,), torch.device("cpu")).numpy()
        if source == "race"
        else np.array([chance._drafting.random() for _ in range(2_000_000)])
    )
    small = seen[seen < 2e-4]
    assert 300 < len(small) < 500
    assert len(np.unique(small)) == len(small)
    assert seen.dtype == np.float64


def test_a_token_of_probability_zero_comes_after_all_others() -> None:
    """Even the smallest positive float32 comes before a zero. Guards against noise that changes
    this."""
    q = torch.zeros(5000, 8)
    q[:, 3] = 1.0
    q[:, 6] = 1e-45
    assert set(rows(Seeded(5).without_replacement(q, [2] * 5000))) == {(3, 6)}


@pytest.mark.parametrize("draw", ["without_replacement", "independent"])
@pytest.mark.parametrize("chance", [Seeded, Greedy])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_draws_from_nan_are_tokens_of_the_vocabulary(
    chance: type[Seeded], count: int, draw: str
) -> None:
    """The draft continues with such tokens until its tree is complete. Only then does it check for
    an overflow."""
    drawn = getattr(chance(6), draw)(torch.full((2, 50), math.nan), [count, count])
    assert [len(row) for row in drawn] == [count, count]
    assert all(0 <= token < 50 for row in drawn for token in row)


@pytest.mark.parametrize("draw", ["without_replacement", "independent"])
@pytest.mark.parametrize("chance", [Seeded, Greedy])
@pytest.mark.parametrize("most", [40, 4, 1])
def test_each_row_gets_its_number_of_tokens(chance: type[Seeded], most: int, draw: str) -> None:
    """The largest count decides which algorithm is used."""
    counts = [0, min(3, most), 1, most, 0]
    drawn = getattr(chance(6), draw)(torch.full((5, 50), 0.02), counts)
    assert list(map(len, drawn)) == counts


class OnADevice(torch.Tensor):
    """A tensor on the CPU that the sampler treats as one on a GPU."""

    is_cpu = False


def test_independent_draws_on_a_device_have_the_distribution_too() -> None:
    row = [0.0, 0.5, 0.3, 0.2]
    q = torch.tensor(row).expand(20_000, 4).as_subclass(OnADevice)
    drawn = Seeded(3).independent(q, [2] * 20_000)
    weights = {token: Fraction(weight).limit_denominator(10) for token, weight in enumerate(row)}
    for place in range(2):
        tokens = [tokens[place] for tokens in drawn]
        assert 0 not in tokens
        assert fit(tokens, {token: p for token, p in weights.items() if p}) > LIMIT


@pytest.mark.parametrize("u", [0.0, LAST])
def test_independent_draws_at_the_ends_of_u_have_positive_probability(u: float) -> None:
    """u = 0 must skip leading zeros, and the largest u must not run past the last token that has
    probability."""
    chance = Seeded(0)
    chance._drafting = Constant(u)
    for row in ([0.0, 0.3, 0.7, 0.0], [0.0, 0.1, 0.1, 0.0], [0.0, 1e-30, 3e-30, 0.0]):
        assert chance.independent(torch.tensor([row]), [2]) == ([[1, 1]] if u == 0 else [[2, 2]])


def test_drawing_does_not_change_q() -> None:
    q = torch.tensor([[0.5, 0.5, 0.0]])
    for chance in (Seeded(0), Greedy(0)):
        chance.without_replacement(q, [2])
        chance.independent(q, [2])
    assert q.tolist() == [[0.5, 0.5, 0.0]]


# -- accept and pick -------------------------------------------------------------------------------


def test_accepts_as_often_as_the_ratio() -> None:
    """Guards against an inverted ratio and u from another interval. False alarm 1e-6."""
    chance = Seeded(7)
    assert (
        fit((chance.accept(0.6, 0.2)[0] for _ in range(6000)), {True: 1 / 3, False: 2 / 3}) > LIMIT
    )
    assert all(chance.accept(0.2, 0.2)[0] for _ in range(1000))


@pytest.mark.parametrize("d", [0.0, 1e-45, 0.5, 1.0])
def test_u_of_zero_accepts_no_token_of_target_probability_zero(d: float) -> None:
    """The comparison must be strict: `u <= R / D` would accept such a token."""
    assert Scripted(0.0).accept(d, 0.0) == (False, 0.0)
    assert Scripted(0.0).accept(d, 1e-300) == (True, 0.0)


def test_a_child_of_probability_zero_is_rejected_by_a_whole_step_at_u_of_zero() -> None:
    tree = Tree.kary(2, 2)
    p = np.array([0.0, 0.0, 1.0])
    q = np.array([0.5, 0.5, 0.0])
    for verify in (VERIFIERS["sequoia"].verify, VERIFIERS["specinfer"].verify):
        verdict = verify(tree, [-1, 0, 1], lambda _: p, lambda _: q, Scripted(0.0))
        assert (verdict.path, verdict.bonus) == ((0,), 2)


def test_results_are_plain_python_values() -> None:
    """A numpy bool is not `True` and not valid JSON, and would be in every trace."""
    accepted, u = Seeded(8).accept(np.float64(0.5), np.float64(0.5))
    assert (type(accepted), type(u), type(Seeded(8).pick(np.array([1.0])))) == (bool, float, int)


def test_picks_by_weight() -> None:
    """Weights need not sum to 1. Guards against a search that is off by one, and against weights
    that are applied twice. False alarm 1e-6."""
    chance = Seeded(9)
    weights = np.array([0.0, 1.0, 0.0, 2.0, 3.0, 0.0])
    assert fit((chance.pick(weights) for _ in range(6000)), {1: 1 / 6, 3: 1 / 3, 4: 1 / 2}) > LIMIT


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("total", [1.0, 1 - 2**-53, 0.3, 3e-5])
def test_the_ends_of_u_pick_tokens_with_weight(dtype: type, total: float) -> None:
    """u = 0 must skip leading zeros, and the largest u must not run past the last token that has
    weight."""
    weights = np.array([0, total / 2, 0, total / 2, 0], dtype=dtype)
    assert Scripted(0.0).pick(weights) == 1
    assert Scripted(LAST).pick(weights) == 3


@pytest.mark.parametrize("weights", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_weights_without_a_finite_sum_are_rejected(weights: list[float]) -> None:
    with pytest.raises(BadModel, match="probabilities sum to"):
        Seeded(0).pick(np.array(weights))


# -- seeds, temperature 0, shortcuts, and the enumerator's operations ------------------------------


def answers(chance: Seeded) -> list[Any]:
    q = torch.full((2, 50), 0.02)
    return [
        chance.accept(1, 0.5)[1],
        chance.pick(np.ones(10**6)),
        chance.without_replacement(q, [5, 5]),
        chance.independent(q, [5, 5]),
        rows_of_a_race(chance),
    ]


def rows_of_a_race(chance: Seeded) -> list[list[int]]:
    """40 draws from one row. These are too many to draw one by one, so an exponential race is used.
    Its noise comes from another generator."""
    return chance.without_replacement(torch.full((1, 50), 0.02), [40])


def test_equal_seeds_repeat_the_draws_and_other_seeds_do_not() -> None:
    assert answers(Seeded(11)) == answers(Seeded(11))
    assert all(one != other for one, other in zip(answers(Seeded(11)), answers(Seeded(12))))
    assert Seeded(2**63 - 1).accept(1, 0)[1] < 1


def test_every_call_is_fresh() -> None:
    """Noise reused in the next call is the frozen-noise bug. By chance the picks are equal once in
    a million."""
    chance = Seeded(13)
    assert all(one != other for one, other in zip(answers(chance), answers(chance)))


def test_runs_do_not_share_a_generator() -> None:
    """One visitor's draws must not depend on another's, or on torch's global generator."""
    alone = answers(Seeded(14))
    _ = torch.manual_seed(0)
    chance = Seeded(14)
    other = Seeded(15)
    other.without_replacement(torch.full((1, 9), 1 / 9), [3])
    torch.rand(3)
    assert answers(chance) == alone


def test_greedy_draws_are_the_top_k_in_order() -> None:
    q = torch.tensor([[0.1, 0.5, 0.0, 0.4], [0.7, 0.0, 0.2, 0.1]])
    for draw in (Greedy(0).without_replacement, Greedy(0).independent):
        assert draw(q, [3, 2]) == [[1, 3, 0], [0, 2]]


@pytest.mark.parametrize("counts", [[1, 1, 1], [3, 1, 8], [0, 2, 8]])
def test_repeated_argmax_finds_the_same_tokens_as_sorting(
    counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    q = torch.softmax(torch.randn(3, 50, generator=torch.Generator().manual_seed(0)), -1)
    few = Greedy(0).without_replacement(q, counts)
    monkeypatch.setattr("sequoia.algorithm.sampling._MAX_REPEATED_ARGMAX", 0)
    assert few == Greedy(0).without_replacement(q, counts)

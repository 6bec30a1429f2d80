"""Losslessness above temperature 0: the chi-square test of the first token of a step, drawn many
times, and the choice of the position in a text at which it is drawn.

The tests that count tokens have fixed seeds. In ten counts, a right verifier must get the verdict
"fits". With fresh seeds, each of these counts would get "poor" by chance with a probability of
about 1e-3, and "differs" with about 1e-6. So about one run of this file in a hundred would fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest
import torch
from fakes import PROMPTS, tiny_pair
from nightly_cases import nightly

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS
from sequoia.decoding.engine import plain
from sequoia.exactness.same_distribution import (
    LEAST_BITS,
    FirstTokens,
    TextPosition,
    find_position,
    first_token_distribution,
    first_tokens,
)
from sequoia.exactness.same_tokens import reference_logits
from sequoia.models.pair import Pair

WARM = SamplingParams(temperature=1.0, seed=100)
SIBLINGS = Tree.from_branching([3, 1])

made = cache(tiny_pair)  # the pair is shared by the tests, which do not change it


@cache
def few_tokens() -> Pair:
    # the models' distributions differ a lot, so that a wrong verifier is detected
    return tiny_pair("llama", vocab=5, layers=1, noise=2.0, seed=5)


# -- counts and the distribution -------------------------------------------------------------------


def counted(distribution: Iterable[float], counts: Iterable[int]) -> FirstTokens:
    return FirstTokens(
        torch.tensor([*distribution], dtype=torch.float64),
        {t: n for t, n in enumerate(counts) if n},
    )


def test_an_impossible_token_differs_and_few_draws_give_no_verdict() -> None:
    assert counted((0.5, 0.5, 0.0), (5, 5, 1)).verdict == "differs"
    for few in (counted((0.5, 0.5), ()), counted((0.5, 0.5), (4, 0)), counted((1.0, 0.0), (50, 0))):
        assert (few.fit.p_value, few.verdict) == (None, "too few")


def test_only_a_p_value_below_the_alarm_counts_as_different() -> None:
    assert counted((0.5, 0.5), (190, 210)).verdict == "fits"
    assert counted((0.5, 0.5), (160, 240)).verdict == "poor"
    assert counted((0.5, 0.5), (100, 300)).verdict == "differs"


# -- above temperature 0, on a pair ----------------------------------------------------------------


def last(
    verifier: str, params: SamplingParams = WARM, tree: Tree | Callable = SIBLINGS, draws: int = 400
) -> FirstTokens:
    pair = few_tokens()
    position = TextPosition((), first_token_distribution(pair, "a", params))
    return after(draws, first_tokens(pair, "a", params, tree, verifier, position))


def after(draws: int, counts: Iterator[FirstTokens]) -> FirstTokens:
    return next(islice(counts, draws - 1, None))


@pytest.mark.parametrize("verifier", ["traversal", *nightly("sequoia", "specinfer", "topk")])
def test_every_verifier_with_its_own_draw_fits_the_distribution(verifier: str) -> None:
    """This includes top-k match, where the target samples the token. `max_new_tokens=1` would cut
    each tree to its root, but the limit is ignored. So the counted tokens come from drafted
    trees."""
    found = last(verifier, replace(WARM, max_new_tokens=1))
    assert (found.verdict, found.draws) == ("fits", 400)


@pytest.mark.parametrize(("draw", "verify"), [("specinfer", "sequoia"), ("topk", "sequoia")])
def test_a_draw_that_belongs_to_another_verifier_differs(
    draw: str, verify: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First, children drawn with replacement are verified as if they had been drawn without
    replacement. Second, the classic mistake: the deterministic children of top-k match are verified
    as if they had been drawn at random."""
    monkeypatch.setitem(VERIFIERS, "mutant", replace(VERIFIERS[verify], draw=VERIFIERS[draw].draw))
    assert last("mutant").verdict == "differs"


def test_draws_depend_on_the_seed_alone() -> None:
    one, again, other = (
        last("sequoia", replace(WARM, seed=seed), draws=30).counts for seed in (100, 100, 101)
    )
    assert one == again != other


# -- where first tokens are drawn ------------------------------------------------------------------


def entropy(pair: Pair, text: list[int], params: SamplingParams) -> float:
    distribution = first_token_distribution(pair, PROMPTS[0], params, text).tolist()
    return -sum(p * math.log2(p) for p in distribution if p)


def test_the_position_is_the_first_with_one_bit_of_entropy_or_else_the_one_with_most() -> None:
    """Guards against a choice that depends on the tokens drawn later, and against a position where
    even wrong decoders emit the right token. With these temperatures, the first position with one
    bit of entropy is the start of the text, a later position, or does not exist."""
    pair = made()
    drawn = SamplingParams(temperature=0.6, max_new_tokens=24, ignore_eos=True)
    text = [token for step in plain(pair, PROMPTS[0], drawn) for token in step.emitted]
    cases = set()
    for params in (SamplingParams(temperature=t) for t in (0.05, 0.1, 0.3, 0.6)):
        bits = [entropy(pair, text[:at], params) for at in range(24)]
        found = find_position(pair, PROMPTS[0], text, params)
        enough = [at for at, one in enumerate(bits) if one >= LEAST_BITS]
        at = enough[0] if enough else bits.index(max(bits))
        assert found.common == tuple(text[:at])
        assert found.bits == pytest.approx(bits[at])
        assert found.looked == (at + 1 if enough else 24)
        shares = first_token_distribution(pair, PROMPTS[0], params, text[:at])
        assert torch.equal(found.distribution, shares)
        cases.add((at > 0, bool(enough)))
    assert {(False, True), (True, True)} < cases


def test_a_nearly_certain_distribution_cannot_show_differences() -> None:
    def position(*distribution: float) -> TextPosition:
        return TextPosition((), torch.tensor(distribution, dtype=torch.float64))

    assert position(0.5, 0.5).bits == pytest.approx(1)
    assert position(1.0, 0.0).bits == 0
    assert position(0.5, 0.5).can_differ(20)
    assert not position(0.5, 0.5).can_differ(8)  # four of each are expected
    assert position(0.98, 0.02).can_differ(400)
    assert not position(0.99, 0.01).can_differ(400)


def test_a_later_position_is_compared_with_its_own_distribution() -> None:
    """The counts after some tokens of a text fit the distribution there. They do not fit the
    distribution right after the prompt."""
    pair = few_tokens()
    common = (3, 1, 4)
    position = TextPosition(common, first_token_distribution(pair, "a", WARM, common))
    found = after(450, first_tokens(pair, "a", WARM, SIBLINGS, DEFAULT_VERIFIER, position))
    assert torch.equal(
        position.distribution, torch.softmax(reference_logits(pair, "a", common), -1)
    )
    assert found.verdict == "fits"
    assert FirstTokens(first_token_distribution(pair, "a", WARM), found.counts).verdict == "differs"


def test_cells_contain_all_draws_and_all_probability() -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        distribution = rng.dirichlet(np.full(9, 0.3))
        found = FirstTokens(
            torch.tensor(distribution),
            {
                t: int(n)
                for t, n in enumerate(rng.multinomial(rng.integers(1, 300), distribution))
                if n
            },
        )
        assert sum(cell.seen for cell in found.cells) == found.draws
        assert sum(cell.share for cell in found.cells) == pytest.approx(1)
        shares = [cell.share for cell in found.cells if cell.token is not None and not cell.more]
        assert shares == sorted(shares, reverse=True)
        assert found.fit.freedom == len(found.cells) - 1
    joined = counted((0.5, 0.48, 0.02), (50, 45, 5)).cells
    assert [(cell.token, cell.seen, cell.more) for cell in joined] == [
        (0, 50, False),
        (1, 50, True),
    ]


def test_the_detectable_difference_is_the_smallest_that_differs() -> None:
    """Counts that are off by slightly more get "differs", by slightly less "poor"."""
    for share, draws in ((0.5, 400), (0.8, 1000)):
        far = counted(
            (share, 1 - share), (round(share * draws), draws - round(share * draws))
        ).detectable_difference
        for scale, verdict in ((0.97, "poor"), (1.03, "differs")):
            seen = round(draws * (share + far * scale))
            assert counted((share, 1 - share), (seen, draws - seen)).verdict == verdict
    assert counted((1.0,), (5,)).detectable_difference is None

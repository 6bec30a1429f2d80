"""Acceptance is counted while decoding, with intervals of the literature."""

from __future__ import annotations

import pytest
from fakes import PROMPTS, same_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.measuring.counted_acceptance import count_acceptance, wilson


def test_a_draft_with_the_targets_weights_always_has_its_first_child_accepted() -> None:
    greedy = SamplingParams(max_new_tokens=48, ignore_eos=True)
    counted = count_acceptance(same_pair(), PROMPTS, greedy, ranks=4)
    assert counted.acceptance.rates == (1.0, 0.0, 0.0, 0.0)
    assert counted.visited == 3 * 24


def test_an_interval_is_that_of_the_literature_and_contains_its_rate() -> None:
    """The first is Newcombe's (1998) example, the second was computed by hand. Rounding errors at
    the ends are guarded against too: 0 of 31 once had an interval starting at 7e-18."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=6e-5)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=6e-5)
    assert wilson(0, 0) == (0.0, 1.0)
    for trials in range(1, 120):
        for successes in range(trials + 1):
            low, high = wilson(successes, trials)
            assert 0 <= low <= successes / trials <= high <= 1, (successes, trials)

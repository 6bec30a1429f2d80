"""Confidence intervals over prompts, and the expected gains of verifiers on the same drafted
trees."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.bench.decoders import VerifiedTree
from sequoia.bench.verifier_gains import (
    Gain,
    Interval,
    expected_tokens,
    over_prompts,
    paired,
    print_gains,
)

WARM = SamplingParams(temperature=0.8, max_new_tokens=40, ignore_eos=True)


def test_the_interval_of_a_ratio_is_that_of_the_paired_logarithms() -> None:
    """The logarithms of the ratios are 0 and log 4. Their mean and its standard error are both
    log 2. For a 95% interval, Student's t with one degree of freedom is 12.706."""
    found = paired([1.0, 4.0], [1.0, 1.0])
    assert found.mean == pytest.approx(2)
    assert found.high == pytest.approx(2 * 2**12.7062, rel=1e-3)
    assert found.low == pytest.approx(2 / 2**12.7062, rel=1e-3)
    assert paired([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]).words("x") == "2.00x (2.00-2.00)"


def test_one_prompt_has_no_interval() -> None:
    found = over_prompts([3.0])
    assert found.mean == pytest.approx(3)
    assert math.isnan(found.low)


def test_gains_on_the_same_drafts_get_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = Interval(2.0, 1.9, 2.1), Interval(1.02, 1.01, 1.03)
    base = Gain("chain", "chain", "sequoia", one, None, one)
    print_gains([base, replace(base, name="block", measured_over=one, on_same_drafts=other)], 4)
    assert capsys.readouterr().out.endswith(
        "\n  block: measured 2.000x (1.900-2.100) over Algorithm 2; expected 1.0200x "
        "(1.0100-1.0300) on the same drafted trees\n\n"
    )


def test_block_verification_is_expected_to_accept_more_on_the_same_chains() -> None:
    """On a chain, Traversal is block verification."""
    lane = VerifiedTree("chain", "sequoia", Tree.chain(5))
    found = expected_tokens(tiny_pair(), lane, PROMPTS[:2], WARM)
    ratios = [a / b for a, b in zip(found["traversal"], found["sequoia"], strict=True)]
    assert min(ratios) >= 1 - 1e-12
    assert max(ratios) > 1


def test_steps_of_specinfer_give_only_the_expected_tokens_of_specinfer() -> None:
    lane = VerifiedTree("tree", "specinfer", Tree.kary(2, 3))
    found = expected_tokens(tiny_pair(), lane, PROMPTS[:2], WARM)
    assert list(found) == ["specinfer"]
    assert all(1 <= one <= 3 for one in found["specinfer"])

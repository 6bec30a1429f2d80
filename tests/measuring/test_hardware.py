"""Measured profiles are complete and valid, and acceptance is counted while decoding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from fakes import PROMPTS, same_pair, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.errors import BadProfile
from sequoia.measuring.counted_acceptance import (
    count_acceptance,
    counting_tree,
)
from sequoia.measuring.hardware import _some, measure_profile
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.simulated_step_times import phases

QUICK: dict[str, Any] = {"sizes": (1, 3, 9), "widths": (1, 4), "rounds": 2}
# not for tests that count rounds or steps: how many fit into 0.4 seconds depends on the machine
SHORT: dict[str, Any] = {**QUICK, "seconds": 0.4}
GREEDY = SamplingParams(max_new_tokens=48, ignore_eos=True)

# -- profiles --------------------------------------------------------------------------------------


def test_a_profile_of_a_tiny_pair_is_valid_and_names_its_source() -> None:
    pair = tiny_pair()
    profile = measure_profile(pair, **SHORT)
    assert HardwareProfile.from_json(profile.to_json()) == profile
    assert (profile.source, profile.date, profile.prefix_length) == (
        "measured",
        date.today().isoformat(),
        128,
    )
    assert (profile.target, profile.draft, profile.dtype) == ("target", "draft", "float32")
    assert profile.device.startswith("cpu (1 thread, ")
    assert [size for size, _, _ in profile.target_seconds] == [1, 3, 9]
    assert [size for size, _, _ in profile.draft_seconds] == [1, 4]
    assert all(
        0 < seconds < 10 and spread >= 0
        for points in (profile.target_seconds, profile.draft_seconds, profile.overhead_seconds)
        for _, seconds, spread in points
    )
    assert dict(profile.versions).keys() >= {"python", "torch", "transformers"}


def test_progress_grows_from_0_to_1() -> None:
    shares: list[float] = []
    measure_profile(tiny_pair(), **SHORT, progress=shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] == 1.0


class Enough(Exception):
    """Raised by a `progress` callback, for example because the visitor has left the page."""


def test_an_exception_in_progress_ends_a_measurement_at_once() -> None:
    """A profile is measured, or acceptance counted: no further pass or step is made."""
    shares: list[float] = []

    def stop(share: float) -> None:
        shares.append(share)
        if share >= 0.5:
            raise Enough

    for measure in (
        lambda: measure_profile(tiny_pair(), **SHORT, progress=stop),
        lambda: count_acceptance(tiny_pair(), PROMPTS, GREEDY, progress=stop),
    ):
        shares.clear()
        with pytest.raises(Enough):
            measure()
        assert shares[-1] >= 0.5 > max(shares[:-1])


def test_a_time_limit_still_leaves_one_round_after_the_warm_up() -> None:
    profile = measure_profile(tiny_pair(), **QUICK, seconds=1e-9)
    assert all(seconds > 0 for _, seconds, _ in profile.target_seconds)


def test_the_extra_overhead_of_a_chain_is_attributed_to_its_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Checks the overhead predicted for deep trees, which have few nodes. When overhead was
    attributed to nodes alone, half of the sampling time of such trees was missing."""

    def spent(_: Any, tree: Tree, *__: Any) -> tuple[int, float, float]:
        return (
            len(tree),
            0.001 + 0.0002 * len(tree.widths) + 0.00001 * (len(tree) - tree.levels),
            0.0,
        )

    monkeypatch.setattr("sequoia.measuring.hardware._overhead", spent)
    profile = measure_profile(tiny_pair(), **QUICK)
    assert profile.level_overhead == pytest.approx(0.0002)
    for tree in (Tree.chain(1), Tree.chain(4), Tree.chain(6), Tree.sequences(12, 5)):
        assert phases(tree, profile)["overhead"] == pytest.approx(spent(None, tree)[1])


def test_noise_in_larger_trees_does_not_change_the_overhead_of_plain_decoding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every speed-up is relative to plain decoding. So a dip at 16 nodes must not lower the
    overhead at 1 node."""
    found = {1: 0.0007, 6: 0.002, 16: 0.0016, 61: 0.004}
    monkeypatch.setattr(
        "sequoia.measuring.hardware._overhead",
        lambda pair, tree, *_: (len(tree), found[len(tree)], 0.0),
    )
    profile = measure_profile(tiny_pair(), **QUICK)
    assert profile.overhead(1) == 0.0007
    assert all(seconds >= 0.0007 for _, seconds, _ in profile.overhead_seconds)


def test_what_comes_before_the_first_step_takes_no_time_from_the_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a GPU, capturing CUDA graphs and compiling Triton kernels take longer than many steps."""
    now = [0.0]
    monkeypatch.setattr("sequoia.measuring.hardware.time.perf_counter", lambda: now[0])

    def steps() -> Iterator[Any]:
        now[0] += 60
        for _ in range(50):
            now[0] += 0.01
            yield None

    assert len([*_some(steps(), 0.1)]) == 12


@pytest.mark.parametrize("context", [20, 130])
def test_a_model_with_a_small_context_can_be_measured(context: int) -> None:
    """GPT-2 has no position beyond its context: one position too many raises an error."""
    profile = measure_profile(tiny_pair("gpt2", context=context), rounds=1)
    assert profile.prefix_length == context // 2
    assert profile.target_seconds[-1][0] >= 128


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"seconds": math.nan}, r"seconds: nan is not"),
        ({"rounds": 0}, r"rounds: 0 is not"),
    ],
)
def test_bad_arguments_are_refused_with_value_and_bound(option: dict[str, Any], words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        measure_profile(tiny_pair(), **{**QUICK, **option})


# -- acceptance ------------------------------------------------------------------------------------


def test_a_deeper_tree_gives_counts_by_level_and_the_rates_of_the_root() -> None:
    """Guards against including nodes with fewer children than the root, which would make the rates
    too small."""
    tree = counting_tree(4, 2, 4)
    counted = count_acceptance(same_pair(), PROMPTS, GREEDY, tree=tree)
    assert counted.acceptance.rates == (1.0, 0.0, 0.0, 0.0)
    assert counted.visited == counted.by_level.cells[0, 0].visits == 3 * 12
    assert (counted.by_level.depths, counted.by_level.ranks) == (3, 4)
    assert (1, 2) not in counted.by_level.cells

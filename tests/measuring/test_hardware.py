"""Measurements: a measured profile is complete and valid, and counted acceptance rates agree with
the exact ones.

One test compares counts with exact rates. With a fresh seed, it would raise a false alarm less than
once in a million runs.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from fakes import PROMPTS, hopeless_pair, pair_of, same_pair, tiny_model, tiny_pair, tiny_tokenizer

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import repetition
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.decoding.engine import plain
from sequoia.errors import BadAcceptance, BadProfile, BadPrompt, BadTree
from sequoia.measuring.acceptance import (
    CountedAcceptance,
    count_acceptance,
    counting_tree,
)
from sequoia.measuring.hardware import OVERHEAD_SIZES, PASSES, _overhead, _some, measure_profile
from sequoia.models.describe import describe, dtype_name, versions
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.simulated_step_times import phases

QUICK: dict[str, Any] = {"sizes": (1, 3, 9), "widths": (1, 4), "prefix": 20, "rounds": 2}
# not for tests that count rounds or steps: how many fit into 0.4 seconds depends on the machine
SHORT: dict[str, Any] = {**QUICK, "seconds": 0.4}
GREEDY = SamplingParams(max_new_tokens=48, ignore_eos=True)

# -- profiles --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_profile_of_a_tiny_pair_is_valid_and_names_its_source() -> None:
    pair = tiny_pair()
    profile = measure_profile(pair, **SHORT)
    assert HardwareProfile.from_json(profile.to_json()) == profile
    assert (profile.source, profile.date, profile.prefix_length) == (
        "measured",
        date.today().isoformat(),
        20,
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


def test_every_size_and_width_is_really_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = tiny_pair()
    seen: dict[str, list[int]] = {"target": [], "draft": []}
    points: list[tuple[int, int]] = []
    monkeypatch.setattr(
        "sequoia.measuring.hardware._point",
        lambda size, times: points.append((size, len(times))) or (size, 0.1, 0.0),
    )
    for model in (pair.target, pair.draft):
        monkeypatch.setattr(model, "forward", noted(model.forward, seen[model.name]))
    monkeypatch.setattr(
        "sequoia.measuring.hardware._overhead", lambda pair, tree, *_: (len(tree), 0.0, 0.0)
    )
    measure_profile(pair, **QUICK)
    # the prefix, a warm-up round, and two rounds that count
    assert seen["target"] == [20] + [1, 3, 9] * 3
    assert points[:3] == [(1, 2), (3, 2), (9, 2)]
    assert seen["draft"][0] == 20
    assert min(seen["draft"][1:].count(width) for width in (1, 4)) >= 3
    assert set(seen["draft"][1:]) == {1, 4}


def noted(forward: Any, rows: list[int]) -> Any:
    def noting(ids: torch.Tensor, *rest: object) -> torch.Tensor:
        rows.append(ids.shape[1])
        return forward(ids, *rest)

    return noting


@pytest.mark.slow
def test_progress_grows_from_0_to_1() -> None:
    shares: list[float] = []
    measure_profile(tiny_pair(), **SHORT, progress=shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] == 1.0


class Enough(Exception):
    """Raised by a `progress` callback, for example because the visitor has left the page."""


@pytest.mark.slow
@pytest.mark.parametrize("at", [0.5])
def test_an_exception_in_progress_ends_the_measurement_and_leaves_the_last_profile(
    at: float,
) -> None:
    pair = tiny_pair()
    before = pair.measured.profile = measure_profile(pair, **SHORT)
    calls: list[float] = []

    def stop(share: float) -> None:
        calls.append(share)
        if share >= at:
            raise Enough

    with pytest.raises(Enough):
        measure_profile(pair, **SHORT, progress=stop)
    assert calls[-1] >= at
    assert all(share < at for share in calls[:-1])
    assert pair.measured.profile is before


def test_a_time_limit_still_leaves_one_round_after_the_warm_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = tiny_pair()
    rows: list[int] = []
    monkeypatch.setattr(pair.target, "forward", noted(pair.target.forward, rows))
    monkeypatch.setattr(
        "sequoia.measuring.hardware._overhead", lambda pair, tree, *_: (len(tree), 0.0, 0.0)
    )
    measure_profile(pair, sizes=(1,), widths=(1,), prefix=7, rounds=1000, seconds=1e-9)
    assert rows == [7] + [1] * 2


def test_passes_and_steps_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against exceeding the time limit. Once, on a slow target, the steps with a single size
    of tree took as long as the limit for the whole measurement."""
    given: list[tuple[int, float]] = []
    monkeypatch.setattr(
        "sequoia.measuring.hardware._overhead",
        lambda pair, tree, seconds, *_: given.append((len(tree), seconds)) or (len(tree), 0.0, 0.0),
    )
    measure_profile(tiny_pair(), **QUICK, seconds=3.0)
    assert [n for n, _ in given] == list(OVERHEAD_SIZES)
    assert sum(seconds for _, seconds in given) == pytest.approx(3.0 * (1 - PASSES))


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
    for tree in (
        Tree.chain(1),
        Tree.chain(4),
        Tree.chain(6),
        Tree.sequences(3, 5),
        Tree.sequences(12, 5),
    ):
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


@pytest.mark.slow
def test_steps_with_a_truncated_tree_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[int] = []
    monkeypatch.setattr(
        "sequoia.measuring.hardware._point",
        lambda n, found: kept.append(len(found)) or (n, max(found), 0.0),
    )
    pair = tiny_pair()
    made = list[int]()
    monkeypatch.setattr(
        "sequoia.measuring.hardware._some",
        lambda steps, _: (made.append(len(step.tree)) or step for step in steps),
    )
    _overhead(pair, Tree.chain(6), 10.0, lambda _: None)
    assert made[-1] < 6 == made[0]
    assert kept == [made.count(6) - 1]


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


@pytest.mark.slow
@pytest.mark.parametrize("context", [20, 40, 130])
def test_a_model_with_a_small_context_can_be_measured(context: int) -> None:
    """GPT-2 has no position beyond its context: one position too many raises an error."""
    profile = measure_profile(tiny_pair("gpt2", context=context), rounds=1)
    assert profile.prefix_length == context // 2
    assert profile.target_seconds[-1][0] >= 128


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"prefix": 0}, r"prefix: 0 is not a whole number from 1 to"),
        ({"seconds": math.nan}, r"seconds: nan is not"),
        ({"sizes": (1, 0)}, r"sizes: 0 is not a whole number from 1 to 1024"),
        ({"sizes": ()}, r"sizes: 0 sizes were given, at least 1 is needed"),
        ({"sizes": (2, 4)}, r"sizes: the first must be 1 \(plain decoding\), not 2"),
        ({"sizes": (1, 4, 4)}, r"sizes: 4 follows 4; the sizes must increase"),
    ],
)
def test_bad_arguments_are_refused_with_value_and_bound(option: dict[str, Any], words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        measure_profile(tiny_pair(), **{**QUICK, **option})


# -- acceptance ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_a_draft_equal_to_its_target_is_always_right_at_temperature_0(verifier: str) -> None:
    counted = count_acceptance(same_pair(), PROMPTS, GREEDY, ranks=4, verifier=verifier)
    assert counted.accepted == (counted.visited, 0, 0, 0)
    assert counted.visited == 3 * 48 // 2
    assert counted.acceptance.rates == (1.0, 0.0, 0.0, 0.0)


def test_a_hopeless_draft_is_never_right() -> None:
    counted = count_acceptance(hopeless_pair(), PROMPTS[:1], GREEDY, ranks=4)
    # the last of 48 tokens has no room for children
    assert (counted.accepted, counted.visited) == ((0, 0, 0, 0), 47)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.5])
def test_rates_sum_to_at_most_1(temperature: float) -> None:
    params = SamplingParams(temperature=temperature, max_new_tokens=48, ignore_eos=True)
    acceptance = count_acceptance(tiny_pair(), PROMPTS, params, ranks=6).acceptance
    assert len(acceptance.rates) == 6
    assert 0 < acceptance.rates[0] <= sum(acceptance.rates) <= 1


@pytest.mark.slow
def test_counted_acceptance_of_known_distributions_matches_theory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Guards against ranks off by one, and against rates per tried child instead of per visited
    node. Each model has one fixed next-token distribution for every text, so the exact rates can be
    enumerated. Each counted rate must lie within 5.5 standard errors of its exact value."""
    # which would refuse models whose logits depend on nothing
    monkeypatch.setattr("sequoia.models.choose_forward.self_test", lambda *_: None)
    pair = fixed_distributions()
    p, q = (distribution_of(model) for model in (pair.target, pair.draft))
    counted = count_acceptance(
        pair,
        ["a", "b"],
        SamplingParams(temperature=1.0, max_new_tokens=500, ignore_eos=True, seed=3),
        ranks=3,
    )
    rates = exact_rates(p, q, 3)
    assert rates[0] == pytest.approx(np.minimum(p, q).sum())
    assert 0.2 < rates[0] < 0.9
    assert min(rates) > 0.01
    for count, rate in zip(counted.accepted, rates, strict=True):
        assert abs(count / counted.visited - rate) < 5.5 * math.sqrt(
            rate * (1 - rate) / counted.visited
        )


def fixed_distributions() -> Pair:
    """A target and a draft whose final layer norm has weight zero. The norm's output is its bias,
    so the logits are the same after every text."""
    models = [tiny_model("gpt_neox", seed=seed, vocab=6, layers=1) for seed in (1, 2)]
    for model in models:
        with torch.no_grad():
            model.gpt_neox.final_layer_norm.weight.zero_()
            model.gpt_neox.final_layer_norm.bias.mul_(8)
    return pair_of(*models, tiny_tokenizer(6))


def distribution_of(model: Any) -> np.ndarray:
    with torch.inference_mode():
        distributions = torch.softmax(
            model.hf(torch.tensor([[2, 3, 4]])).logits[0].double(), -1
        ).numpy()
    assert np.allclose(distributions, distributions[0])
    return distributions[0]


def exact_rates(residual: np.ndarray, draft: np.ndarray, ranks: int) -> list[float]:
    """Probability of acceptance at each rank, summed over all draws without replacement. residual
    and draft: the distributions R and D at this trial (paper: Algorithm 2)."""
    rates = [0.0] * ranks
    for token in np.flatnonzero(draft):
        share = draft[token]
        accepted = min(1.0, residual[token] / draft[token])
        rates[0] += share * accepted
        if ranks > 1 and accepted < 1:
            rest = np.maximum(residual - draft, 0)
            left = draft.copy()
            left[token] = 0
            below = exact_rates(rest / rest.sum(), left / left.sum(), ranks - 1)
            rates = [
                rates[0],
                *(
                    rate + share * (1 - accepted) * more
                    for rate, more in zip(rates[1:], below, strict=True)
                ),
            ]
    return rates


@pytest.mark.slow
def test_counting_is_repeatable_and_reports_progress_step_by_step() -> None:
    params = SamplingParams(temperature=0.8, max_new_tokens=24, seed=9)
    shares = []
    once = count_acceptance(tiny_pair(), PROMPTS, params, progress=shares.append)
    assert once == count_acceptance(tiny_pair(), iter(PROMPTS), params)
    assert {1 / 3, 2 / 3, 1.0} <= set(shares)
    assert shares == sorted(shares)
    steps = len(shares) - len(PROMPTS)
    # Each step visits its root. The exception is the last step of a prompt if one token is left.
    assert steps - len(PROMPTS) <= once.visited <= steps


@pytest.mark.slow
@pytest.mark.parametrize("model", ["target", "draft"])
@pytest.mark.parametrize("at", [0.5])
def test_a_count_stops_within_the_step_whose_progress_raises(
    model: str, at: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against a stop that waits for the end of a prompt: no model runs after `progress` has
    raised."""
    pair = tiny_pair()
    rows = []
    calls = []
    monkeypatch.setattr(getattr(pair, model), "forward", noted(getattr(pair, model).forward, rows))

    def stop(share: float) -> None:
        calls.append(len(rows))
        if share >= at:
            raise Enough

    with pytest.raises(Enough):
        count_acceptance(
            pair, PROMPTS, SamplingParams(max_new_tokens=64, ignore_eos=True), progress=stop
        )
    assert len(rows) == calls[-1]
    # between two calls: one pass of a step, and perhaps the pass over the prompt
    assert max(after - before for before, after in pairwise([0, *calls])) <= 2


@pytest.mark.slow
def test_a_deeper_tree_gives_counts_by_level_and_the_rates_of_the_root() -> None:
    """Guards against including nodes with fewer children than the root, which would make the rates
    too small."""
    tree = counting_tree(4, 2, 4)
    counted = count_acceptance(same_pair(), PROMPTS, GREEDY, tree=tree)
    assert counted.acceptance.rates == (1.0, 0.0, 0.0, 0.0)
    assert counted.visited == counted.by_level.cells[0, 0].visits == 3 * 12
    assert (counted.by_level.depths, counted.by_level.ranks) == (3, 4)
    assert (1, 2) not in counted.by_level.cells


@pytest.mark.slow
def test_repetition_of_the_text_is_reported() -> None:
    pair = tiny_pair(vocab=6)
    params = dataclasses.replace(GREEDY, max_new_tokens=100)
    prompts = ["a", "bcd"]
    shares = [
        repetition([token for step in plain(pair, prompt, params) for token in step.emitted])
        for prompt in prompts
    ]
    assert count_acceptance(pair, prompts, params, ranks=2).repetition == sum(shares) / 2 > 0.1


@pytest.mark.slow
def test_bad_arguments_of_a_count_are_refused() -> None:
    with pytest.raises(BadPrompt, match=r"0 prompts were given, at least 1"):
        count_acceptance(tiny_pair(), [], GREEDY)
    with pytest.raises(BadPrompt, match=r"the prompt is empty"):
        count_acceptance(tiny_pair(), [""], GREEDY)
    with pytest.raises(BadTree, match=r"289 children.*only 288 tokens"):
        count_acceptance(tiny_pair(), PROMPTS, GREEDY, ranks=289)
    with pytest.raises(BadAcceptance, match=r"0 nodes with children were visited"):
        _ = count_acceptance(tiny_pair(), PROMPTS, SamplingParams(max_new_tokens=1)).acceptance
    assert CountedAcceptance((0, 0), 0, 0.0).visited == 0


# -- descriptions ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_dtypes_and_device_in_words() -> None:
    pair = tiny_pair()
    assert dtype_name(pair) == "float32"
    assert (
        dtype_name(dataclasses.replace(pair, draft=tiny_pair(dtype="bfloat16").draft))
        == "float32, draft bfloat16"
    )
    assert describe(torch.device("cpu")).startswith("cpu (1 thread, ")
    assert dict(versions())["torch"].startswith("2.")

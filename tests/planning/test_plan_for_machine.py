"""Profiles, predicted times, and the choice of the fastest tree, compared with an exhaustive
search."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree, dp_table
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.tree import Tree
from sequoia.errors import BadProfile, BadTree
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.plan_for_machine import best_chain, best_plan, predict, speedup_grid
from sequoia.planning.simulated_step_times import step_seconds

GOOD: dict[str, Any] = {
    "device": "one card",
    "dtype": "float16",
    "target": "large",
    "draft": "small",
    "versions": {"torch": "2.0", "python": "3.11"},
    "prefix_length": 128,
    "target_seconds": [(1, 0.02, 0.001), (8, 0.021, 0.001), (64, 0.03, 0.002), (256, 0.06, 0.002)],
    "draft_seconds": [(1, 0.0005, 0.0), (32, 0.0006, 0.0)],
    "overhead_seconds": [(1, 0.001, 0.0), (101, 0.002, 0.0)],
    "source": "simulated",
    "date": "2025-01-31",
}
PROFILE = HardwareProfile(**GOOD)
RATES = Acceptance((0.6, 0.15, 0.08, 0.04, 0.02))


def random_profile(rng: random.Random) -> HardwareProfile:
    """Noisy times that may decrease as passes get larger, and some overhead. A draft pass over one
    node takes about 1 to 50 % of a target pass over one node."""
    base = rng.uniform(0.001, 0.1)
    share = rng.uniform(0.01, 0.5)
    target = [
        (n, base * (1 + n * rng.uniform(0, 0.05)) * rng.uniform(0.9, 1.1), 0.0)
        for n in (1, 2, 4, 8, 16, 32)
    ]
    draft = [
        (n, base * share * (1 + n * rng.uniform(0, 0.2)) * rng.uniform(0.9, 1.1), 0.0)
        for n in (1, 3, 9)
    ]
    return replace(
        PROFILE,
        target_seconds=target,
        draft_seconds=draft,
        overhead_seconds=base * rng.uniform(0, 0.3),
        level_overhead=base * rng.uniform(0, 0.1),
    )


# -- profiles --------------------------------------------------------------------------------------


def test_times_are_linear_between_and_beyond_the_points() -> None:
    assert [PROFILE.verify_seconds(n) for n in (1, 8, 64, 256)] == pytest.approx(
        [0.02, 0.021, 0.03, 0.06]
    )
    assert PROFILE.verify_seconds(36) == pytest.approx(0.0255)
    assert PROFILE.verify_seconds(448) == pytest.approx(0.09)
    assert PROFILE.draft_seconds_at(63) == pytest.approx(0.0007)
    assert PROFILE.overhead(51) == pytest.approx(0.0015)
    assert PROFILE.plain_seconds == pytest.approx(0.021)


def test_times_before_the_first_point_and_of_a_single_point_are_constant() -> None:
    profile = replace(PROFILE, draft_seconds=[(4, 0.5, 0.0), (8, 0.6, 0.0)], overhead_seconds=0.25)
    assert [profile.draft_seconds_at(width) for width in (1, 4)] == [0.5, 0.5]
    assert profile.overhead_seconds == ((1, 0.25, 0.0),)
    assert [profile.overhead(n) for n in (1, 900)] == [0.25, 0.25]


def test_decreasing_times_are_averaged_so_that_time_never_decreases() -> None:
    """Guards against choosing a larger tree only because noise makes a larger pass look faster. The
    points themselves stay as measured."""
    points = ((1, 0.02, 0.0), (8, 0.04, 0.0), (16, 0.02, 0.0), (32, 0.05, 0.0), (64, 0.03, 0.0))
    profile = replace(PROFILE, target_seconds=points)
    assert profile.target_seconds == points
    assert [profile.verify_seconds(n) for n in (1, 8, 16, 32, 64)] == pytest.approx(
        [0.02, 0.03, 0.03, 0.04, 0.04]
    )
    rng = random.Random(1)
    for _ in range(30):
        noisy = random_profile(rng)
        for time in (noisy.verify_seconds, noisy.draft_seconds_at, noisy.overhead):
            assert (np.diff([time(n) for n in range(1, 80)]) >= -1e-15).all()


def test_profiles_are_values() -> None:
    """Equal arguments make equal profiles with equal hashes; lists and dicts become tuples."""
    assert HardwareProfile(**GOOD) == PROFILE
    assert hash(PROFILE) == hash(HardwareProfile(**GOOD))
    assert PROFILE.versions == (("python", "3.11"), ("torch", "2.0"))
    assert PROFILE.target_seconds[0] == (1, 0.02, 0.001)


BAD: dict[str, tuple[str, Any, str]] = {
    "device": ("device", None, "device: None is not text"),
    "long name": ("target", "x" * 201, "target: 'xxx"),
    "dtype": ("dtype", 16, "dtype: 16 is not text"),
    "prefix": ("prefix_length", -1, "prefix_length: -1 is not a whole number from 0"),
    "true prefix": ("prefix_length", True, "prefix_length: True"),
    "no points": ("target_seconds", [], "target_seconds has no points; expected 1 to 256"),
    "many points": (
        "draft_seconds",
        [(n, 1.0, 0.0) for n in range(1, 258)],
        "draft_seconds has more than the 256 entries",
    ),
    "text": ("draft_seconds", "fast", "draft_seconds must be a list, not 'fast'"),
    "number": ("target_seconds", 0.5, "target_seconds must be a list, not 0.5"),
    "no overhead": ("overhead_seconds", None, "overhead_seconds must be a list, not None"),
    "point": ("target_seconds", [5], "target_seconds[0] must be a list, not 5"),
    "short point": (
        "target_seconds",
        [(1, 0.5)],
        "target_seconds[0] has 2 parts; it must have 3: size, seconds, spread",
    ),
    "long point": (
        "target_seconds",
        [(1, 0.5, 0.0, 0.0)],
        "target_seconds[0] has more than the 3 entries",
    ),
    "order": (
        "target_seconds",
        [(1, 0.5, 0.0), (4, 0.5, 0.0), (2, 0.5, 0.0)],
        "target_seconds[2] has size 2; it must be above",
    ),
    "twice": (
        "draft_seconds",
        [(1, 0.5, 0.0), (1, 0.5, 0.0)],
        "draft_seconds[1] has size 1; it must be above the 1",
    ),
    "size 0": (
        "draft_seconds",
        [(0, 0.5, 0.0)],
        "size of draft_seconds[0]: 0 is not a whole number from 1 to 65536",
    ),
    "no plain token": (
        "target_seconds",
        [(2, 0.5, 0.0)],
        "target_seconds starts at 2 nodes; it must start at 1",
    ),
    "no time": (
        "target_seconds",
        [(1, 0.0, 0.0)],
        "seconds of target_seconds[0]: 0.0 is not a number from",
    ),
    "negative for a level": (
        "level_overhead",
        -0.1,
        "level_overhead: -0.1 is not a number from 0 to 1e+06",
    ),
    "negative": (
        "overhead_seconds",
        -0.1,
        "seconds of overhead_seconds[0]: -0.1 is not a number from 0 to 1e+06",
    ),
    "nan": ("draft_seconds", [(1, math.nan, 0.0)], "seconds of draft_seconds[0]: nan"),
    "inf": ("draft_seconds", [(1, math.inf, 0.0)], "seconds of draft_seconds[0]: inf"),
    "huge": (
        "draft_seconds",
        [(1, 10**5000, 0.0)],
        "seconds of draft_seconds[0]: an integer of 16610 bits",
    ),
    "spread": ("draft_seconds", [(1, 0.5, -1.0)], "spread of draft_seconds[0]: -1.0"),
    "source": (
        "source",
        "guessed",
        "source: 'guessed' is not one of measured, recorded, paper, simulated",
    ),
    "source list": ("source", ["paper"], "source: a list"),
    "date": ("date", "yesterday", "date: 'yesterday' is not an ISO date"),
    "no date": ("date", None, "date: None"),
    "versions": ("versions", "2.0", "versions must be a list, not '2.0'"),
    "version pair": ("versions", [("torch",)], "an entry of versions has 1 parts; it must have 2"),
    "version number": ("versions", {"torch": 2.0}, "value in versions: 2.0 is not text"),
    "many versions": (
        "versions",
        {str(n): "1" for n in range(33)},
        "versions has more than the 32 entries",
    ),
}


@pytest.mark.parametrize("what", list(BAD))
def test_invalid_profiles_are_rejected_with_field_value_and_bound(what: str) -> None:
    name, value, named = BAD[what]
    with pytest.raises(BadProfile) as caught:
        HardwareProfile(**{**GOOD, name: value})
    assert named in str(caught.value)


@pytest.mark.parametrize("size", [0, -1, 65_537, True, 2.0, None])
def test_times_of_invalid_sizes_are_rejected(size: Any) -> None:
    for time in (PROFILE.verify_seconds, PROFILE.draft_seconds_at, PROFILE.overhead):
        with pytest.raises(
            BadProfile, match=r"nodes of a pass: .* is not a whole number from 1 to 65536"
        ):
            time(size)


def test_json_round_trip() -> None:
    rng = random.Random(2)
    for profile in (PROFILE, *(random_profile(rng) for _ in range(20))):
        assert HardwareProfile.from_json(profile.to_json()) == profile


def test_a_file_from_before_level_overhead_is_read() -> None:
    """Older files lack the field `level_overhead`."""
    file = json.loads(PROFILE.to_json())
    del file["level_overhead"]
    assert HardwareProfile.from_json(json.dumps(file)) == PROFILE


def file_with(**changes: Any) -> str:
    return json.dumps({"format": "sequoia-profile", "version": 1, **asdict(PROFILE), **changes})


# The last brace is cut off, so that a test can add a key a second time with a bad value. Of two
# equal keys in JSON, the later one counts.
HEAD = file_with()[:-1]
HOSTILE: dict[str, tuple[Any, str]] = {
    "empty": ("", "not a JSON file"),
    "deep": ("[" * 200_000, "not a JSON file"),
    "nested": (
        HEAD + ', "target_seconds": ' + "[" * 400 + "]" * 400 + "}",
        "target_seconds[0] has 1 parts",
    ),
    "nested source": (HEAD + ', "source": ' + "[" * 400 + "]" * 400 + "}", "source: a list"),
    "nan": (HEAD + ', "overhead_seconds": NaN}', "NaN is not allowed"),
    "infinite": (HEAD + ', "overhead_seconds": 1e999}', "seconds of overhead_seconds[0]: inf"),
    "huge": (HEAD + ', "overhead_seconds": ' + "9" * 4000 + "}", "an integer of"),
    "huge size": (HEAD + ', "draft_seconds": [[' + "9" * 4000 + ", 1, 0]]}", "an integer of"),
    "true": (HEAD + ', "overhead_seconds": true}', "seconds of overhead_seconds[0]: True"),
    "points as object": (
        HEAD + ', "target_seconds": {"1": 1}}',
        "target_seconds must be a list, not a dict",
    ),
    "missing": (
        '{"format": "sequoia-profile", "version": 1, "device": "a"}',
        "has no dtype, target, draft",
    ),
    "format": (file_with(format="sequoia-tree"), "needs format 'sequoia-profile' and version 1"),
    "version": (file_with(version=1.0), "version 1"),
    "no object": ("3", "needs format"),
    "long": (" " * 262_145, "at most 262144 characters; this one has 262145"),
    "bytes": (b"{}", "is text, not a bytes"),
}


@pytest.mark.parametrize("what", list(HOSTILE))
def test_hostile_files_raise_only_bad_profile(what: str) -> None:
    text, named = HOSTILE[what]
    with pytest.raises(BadProfile) as caught:
        HardwareProfile.from_json(text)
    assert named in str(caught.value)


def test_unknown_keys_of_a_file_are_ignored() -> None:
    assert HardwareProfile.from_json(file_with(note="a later version may add keys")) == PROFILE


# -- plans -----------------------------------------------------------------------------------------


def test_step_seconds_adds_all_parts_of_a_step() -> None:
    """A step has one target pass, one draft pass for each level with children, and the overhead.
    The time of a draft pass depends on how many nodes it processes. Leaves need no draft pass."""
    tree = Tree.sequences(32, 2)  # 65 nodes, passes of 1 and 32
    assert step_seconds(tree, PROFILE) == pytest.approx(
        0.03 + 0.03 / 192 + 0.0005 + 0.0006 + 0.001 + 0.00064
    )
    assert step_seconds(Tree.chain(1), PROFILE) == PROFILE.plain_seconds
    levels = replace(PROFILE, level_overhead=0.01)
    assert step_seconds(tree, levels) == pytest.approx(step_seconds(tree, PROFILE) + 2 * 0.01)
    assert levels.plain_seconds == PROFILE.plain_seconds


def test_prediction_of_any_tree() -> None:
    plan = predict(Tree.chain(4), RATES, PROFILE)
    assert (plan.tree, plan.expected_tokens) == (
        Tree.chain(4),
        pytest.approx(1 + 0.6 + 0.36 + 0.216),
    )
    assert plan.predicted_seconds == step_seconds(plan.tree, PROFILE)
    assert plan.predicted_speedup == pytest.approx(
        plan.expected_tokens * 0.021 / plan.predicted_seconds
    )
    assert predict(Tree.chain(1), RATES, PROFILE).predicted_speedup == 1


def test_best_plan_is_the_best_of_all_sizes_and_level_caps() -> None:
    """Compared with a search over every (n, levels). Guards two shortcuts of best_plan: it updates
    the step time after each node added to a tree, and it stops when more levels change nothing."""
    rng = random.Random(3)
    for _ in range(12):
        profile = random_profile(rng)
        acceptance = Acceptance(
            tuple(sorted((rng.random() * 0.19 for _ in range(5)), reverse=True))
        )
        if rng.random() < 0.5:
            acceptance = Acceptance((rng.uniform(0.3, 0.8), *acceptance.rates[1:2]))
        trees = [Tree.chain(1)] + [
            best_tree(acceptance, n, levels) for levels in range(2, 8) for n in range(1, 25)
        ]
        best = max(predict(tree, acceptance, profile).predicted_speedup for tree in trees)
        plan = best_plan(acceptance, profile, 24, 7)
        assert plan == predict(plan.tree, acceptance, profile)
        assert plan.predicted_speedup == pytest.approx(best, rel=1e-11)


def test_the_best_chain_is_the_best_of_all_chains() -> None:
    rng = random.Random(4)
    for _ in range(12):
        profile = random_profile(rng)
        acceptance = Acceptance((rng.uniform(0.1, 0.9), 0.05))
        chains = [predict(Tree.chain(n), acceptance, profile) for n in range(1, 25)]
        best = max(plan.predicted_speedup for plan in chains)
        found = best_chain(acceptance, profile, 24)
        assert found == predict(found.tree, acceptance, profile)
        assert found.tree == Tree.chain(len(found.tree))
        assert found.predicted_speedup == pytest.approx(best, rel=1e-11)


def test_a_chain_has_no_more_levels_than_a_planned_tree() -> None:
    """By default, both have the same maximum number of levels, so that comparing them is fair."""
    free = replace(PROFILE, draft_seconds=[(1, 1e-9, 0.0)], target_seconds=[(1, 0.02, 0.0)])
    certain = Acceptance((0.99,))
    assert len(best_chain(certain, free).tree) == best_plan(certain, free).tree.levels == 16
    assert len(best_chain(certain, free, 40).tree) == 40
    assert len(best_chain(Acceptance((0.0,)), free).tree) == 1
    with pytest.raises(BadTree, match="max_nodes: 0"):
        best_chain(certain, free, 0)


def test_a_chain_is_timed_as_a_chain_even_if_no_token_is_accepted() -> None:
    """Each further node of a chain costs a draft pass and here adds no tokens, so the shortest
    allowed chain is the fastest."""
    slow = replace(
        PROFILE,
        draft_seconds=[(1, 0.02, 0.0)],
        target_seconds=[(1, 0.02, 0.0)],
        overhead_seconds=0.0,
    )
    assert len(best_chain(Acceptance((0.0,)), slow, 24, slack=0.1, min_nodes=2).tree) == 2


def test_with_slack_the_best_chain_is_the_longest_of_the_fast_ones() -> None:
    """slack: the share by which a speed-up may be below the highest. Trees are planned with slack.
    If chains were not, a tree would be compared with a shorter chain."""
    rng = random.Random(6)
    for _ in range(12):
        profile = random_profile(rng)
        acceptance = Acceptance((rng.uniform(0.1, 0.9), 0.05))
        speedups = [
            predict(Tree.chain(n), acceptance, profile).predicted_speedup for n in range(1, 25)
        ]
        least = max(0.95 * max(speedups), 1)
        longest = max(n for n, speedup in enumerate(speedups, start=1) if speedup >= least)
        assert len(best_chain(acceptance, profile, 24, slack=0.05).tree) == longest


def test_the_best_chain_of_at_least_two_nodes_may_be_slower_than_plain_decoding() -> None:
    useless = Acceptance((0.0,))
    plan = best_chain(useless, PROFILE, slack=0.01, min_nodes=2)
    assert len(plan.tree) == 2
    assert plan.predicted_speedup < 1
    with pytest.raises(BadTree, match="min_nodes: 9"):
        best_chain(useless, PROFILE, 8, min_nodes=9)


def test_best_plan_reaches_the_table_value_of_its_size_and_levels() -> None:
    plan = best_plan(RATES, PROFILE)
    table = dp_table(RATES, len(plan.tree), plan.tree.levels)
    assert len(plan.tree) > 8
    assert plan.expected_tokens == pytest.approx(
        table.best(len(plan.tree), plan.tree.levels)[0], abs=1e-12
    )


def test_the_plan_is_plain_decoding_if_speculation_does_not_pay() -> None:
    slow_draft = replace(PROFILE, draft_seconds=[(1, 0.05, 0.0)])
    for acceptance, profile in (
        (RATES, slow_draft),
        (Acceptance((0.0,)), PROFILE),
        (Acceptance((1e-6, 0.0)), PROFILE),
    ):
        plan = best_plan(acceptance, profile)
        assert (plan.tree, plan.predicted_speedup) == (Tree.chain(1), 1.0)


def test_the_hardware_determines_the_size() -> None:
    """If verification takes equally long for any number of nodes, the tree is as large as allowed.
    If each further node takes much time, the tree is small."""
    free = replace(PROFILE, target_seconds=[(1, 0.02, 0.0)], overhead_seconds=0.0)
    dear = replace(PROFILE, target_seconds=[(1, 0.02, 0.0), (2, 0.026, 0.0)])
    assert len(best_plan(RATES, free, 96, 12).tree) == 96
    assert 1 < len(best_plan(RATES, dear, 96, 12).tree) < 6


def test_bounds_are_kept() -> None:
    perfect = Acceptance((1.0,))
    assert best_plan(perfect, PROFILE, 200, 9).tree == Tree.chain(9)
    assert best_plan(perfect, PROFILE, 5, 9).tree == Tree.chain(5)
    assert (
        best_plan(perfect, PROFILE, 200, 1).tree
        == best_plan(perfect, PROFILE, 1, 9).tree
        == Tree.chain(1)
    )


def test_equal_speed_goes_to_the_smaller_tree() -> None:
    """A second child takes no time on this machine. But the acceptance vector has no rate for it.
    So it adds no tokens and is not planned."""
    free = replace(PROFILE, target_seconds=[(1, 0.02, 0.0)], overhead_seconds=0.0)
    assert best_plan(Acceptance((0.5,)), free, 64, 3).tree == Tree.chain(3)
    nearly = replace(free, target_seconds=[(1, 1e6, 0.0)], draft_seconds=[(1, 1e-12, 0.0)])
    # a gain within rounding is no gain
    assert best_plan(Acceptance((1e-13,)), nearly).tree == Tree.chain(1)


def test_noisy_vectors_are_smoothed_before_planning() -> None:
    noisy = Acceptance((0.5, 0.1, 0.2, 0.0, 0.05))
    plan = best_plan(noisy, PROFILE)
    assert plan == best_plan(noisy.smoothed(), PROFILE)
    assert plan.expected_tokens == expected_tokens(plan.tree, noisy.smoothed())


@pytest.mark.parametrize(
    ("bounds", "named"),
    [
        ((0, 4), "max_nodes: 0 is not a whole number from 1 to 1024"),
        ((1025, 4), "max_nodes: 1025 is not"),
        ((8, 0), "max_levels: 0 is not a whole number from 1 to 1024"),
        ((8, 2.5), "max_levels: 2.5"),
    ],
)
def test_invalid_bounds_are_rejected(bounds: Any, named: str) -> None:
    with pytest.raises(BadTree) as caught:
        best_plan(RATES, PROFILE, *bounds)
    assert named in str(caught.value)


def test_grid_holds_the_best_tree_of_each_cell() -> None:
    grid = speedup_grid(Acceptance((0.5, 0.1, 0.2)), PROFILE, [1, 4, 30], [1, 2, 5])
    smooth = Acceptance((0.5, 0.1, 0.2)).smoothed()
    assert (grid.sizes, grid.levels) == ((1, 4, 30), (1, 2, 5))
    for i, levels in enumerate(grid.levels):
        for j, n in enumerate(grid.sizes):
            if levels == 1 < n:
                assert grid.plans[i][j] is None
                assert math.isnan(grid.speedups[i, j])
            else:
                assert grid.plans[i][j] == predict(best_tree(smooth, n, levels), smooth, PROFILE)
                assert grid.speedups[i, j] == grid.plans[i][j].predicted_speedup
    assert speedup_grid(RATES, PROFILE, [], [3]).speedups.shape == (1, 0)


@pytest.mark.parametrize(
    ("sizes", "levels", "named"),
    [([0], [2], "size: 0 is not"), ([4], [1025], "levels: 1025 is not")],
)
def test_invalid_grids_are_rejected(sizes: list[int], levels: list[int], named: str) -> None:
    with pytest.raises(BadTree, match=named):
        speedup_grid(RATES, PROFILE, sizes, levels)


def test_a_slack_of_the_size_of_rounding_changes_nothing() -> None:
    acceptance, machine = Acceptance((0.7, 0.1)), named_profile("a100-llama-2-7b-eager")
    assert best_plan(acceptance, machine, slack=1e-13) == best_plan(acceptance, machine)


@pytest.mark.parametrize("slack", [0.02, 0.05, 0.2])
def test_slack_gains_tokens_and_costs_at_most_that_share(slack: float) -> None:
    """Compared with the best trees of all sizes and numbers of levels."""
    acceptance = Acceptance.power_law(1.5, 0.4, 16)
    machine = PROFILE
    fastest = best_plan(acceptance, machine, 64, 8)
    roomy = best_plan(acceptance, machine, 64, 8, slack)
    plans = [
        predict(best_tree(acceptance, n, levels), acceptance, machine)
        for levels in range(2, 9)
        for n in range(2, 65)
    ]
    within = [
        plan for plan in plans if plan.predicted_speedup >= fastest.predicted_speedup * (1 - slack)
    ]
    assert roomy.predicted_speedup >= fastest.predicted_speedup * (1 - slack)
    assert roomy.expected_tokens == pytest.approx(max(plan.expected_tokens for plan in within))
    assert roomy.expected_tokens >= fastest.expected_tokens


@pytest.mark.slow
def test_slack_never_goes_below_plain_decoding() -> None:
    """On some of these 200 machines drafting hardly pays: within the slack of the fastest tree
    there are trees that are slower than plain decoding."""
    slow = [
        replace(PROFILE, draft_seconds=((1, seconds, 0.0),))
        for seconds in np.linspace(1e-4, 0.05, 200)
    ]
    plans = [
        (
            best_plan(Acceptance((0.7, 0.1)), one, 64, 8),
            best_plan(Acceptance((0.7, 0.1)), one, 64, 8, 0.1),
        )
        for one in slow
    ]
    assert any(1 < fastest.predicted_speedup < 1.05 for fastest, _ in plans)
    assert all(roomy.predicted_speedup >= 1 - 1e-12 for _, roomy in plans)


@pytest.mark.parametrize("slack", [-0.1, 1.5, math.nan, True, "a"])
def test_slack_out_of_bounds_is_rejected(slack: object) -> None:
    with pytest.raises(BadTree, match="slack"):
        best_plan(Acceptance((0.5,)), PROFILE, slack=slack)

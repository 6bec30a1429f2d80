"""The simulated clock gives decoded steps the times that a hardware profile predicts for their
trees. Times of different clocks are never mixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes import made_profile

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.step_trace import PHASES, DecodeStats, StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.diagnosis.where_time_went import check_prediction
from sequoia.errors import BadProfile, BadTrace
from sequoia.planning.plan_for_machine import predict
from sequoia.planning.simulated_step_times import SimulatedClock, phases, step_seconds

RATES = Acceptance((0.6, 0.15, 0.08))
PROFILE = made_profile(
    target_seconds=((1, 0.02, 0.001), (8, 0.021, 0.001), (64, 0.03, 0.002)),
    draft_seconds=((1, 0.0005, 0.0), (32, 0.0006, 0.0)),
    overhead_seconds=((1, 0.001, 0.0), (101, 0.002, 0.0)),
    date="2026-01-31",
)
CLOCK = SimulatedClock(replace(PROFILE, level_overhead=0.0001), "one card, large with small")
TREE = Tree.sequences(3, 3)


def trace(tree: Tree, index: int = 0, **changes: Any) -> StepTrace:
    """A step in which no drafted token was accepted."""
    nodes = len(tree)
    step = StepTrace(
        index=index,
        prefix_len=5,
        tree=tree,
        tokens=tuple(range(nodes)),
        draft_p=(None,) + (0.5,) * (nodes - 1),
        target_p=(None,) * nodes,
        verdict=Verdict((0,), 7, ()),
        emitted=(7,),
        seconds={"draft": 1.0, "verify": 2.0, "overhead": 3.0},
    )
    return replace(step, **changes)


def test_a_step_has_a_draft_pass_for_each_level_but_the_last() -> None:
    """A pass is over those nodes of a level that have children."""
    step = CLOCK.step(TREE)
    profile = CLOCK.profile
    assert step.levels == tuple(profile.draft_seconds_at(width) for width in (1, 3, 3))
    assert step.verify == profile.verify_seconds(10)
    assert step.overhead == pytest.approx(profile.overhead(10) + 3 * 0.0001)


@pytest.mark.parametrize("tree", [Tree.chain(1), Tree.chain(6), TREE, Tree.kary(3, 4)])
def test_the_phases_are_those_of_a_trace_and_sum_to_the_predicted_step(tree: Tree) -> None:
    found = CLOCK.step(tree).phases
    assert tuple(found) == PHASES
    assert sum(found.values()) == pytest.approx(step_seconds(tree, CLOCK.profile), rel=1e-12)
    assert found == phases(tree, CLOCK.profile)


def test_plain_decoding_takes_the_plain_time() -> None:
    step = CLOCK.step(Tree.chain(1))
    assert step.levels == ()
    assert sum(step.phases.values()) == CLOCK.profile.plain_seconds


@pytest.mark.parametrize(
    ("device", "name", "shown"),
    [("card", "mine", "mine"), ("card", "", "card"), ("card", "  ", "card"), ("", "", "a machine")],
)
def test_a_clock_always_has_a_name(device: str, name: str, shown: str) -> None:
    """Without a name, simulated times would pass for measured ones."""
    assert SimulatedClock(replace(PROFILE, device=device), name).name.startswith(shown)


@pytest.mark.parametrize("name", [7, "x" * 201])
def test_a_bad_name_is_refused(name: Any) -> None:
    with pytest.raises(BadProfile, match=r"(is not text|has 201 characters; at most 200)"):
        SimulatedClock(PROFILE, name)


# -- never mixed -----------------------------------------------------------------------------------


def test_measured_and_simulated_times_are_not_added_up() -> None:
    measured = trace(TREE)
    simulated = CLOCK.retimed(trace(TREE, index=1))
    other = SimulatedClock(PROFILE, "another").retimed(trace(TREE, index=1))
    for first, second in ((measured, simulated), (simulated, measured), (simulated, other)):
        with pytest.raises(BadTrace, match="all times must be of one clock"):
            DecodeStats.fold([first, second])


def test_a_prediction_is_not_compared_with_simulated_times() -> None:
    stats = DecodeStats.fold([CLOCK.retimed(trace(TREE))])
    plan = predict(TREE, RATES, PROFILE)
    with pytest.raises(BadTrace, match=r"one card, large with small.*measured times only"):
        check_prediction(stats, plan, PROFILE)
    run = DecodeStats.fold([trace(TREE)])
    assert check_prediction(run, plan, PROFILE).measured.speedup > 0

"""`diagnose` on synthetic runs. It must name the largest loss, and the speed-ups that it predicts
for trees must be those of the planner."""

import random
from dataclasses import replace

import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import expected_tokens, fitted
from sequoia.algorithm.step_trace import PHASES, DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.compare_runs import Speedup
from sequoia.diagnosis.what_to_try import (
    Diagnosis,
    calibrated,
    diagnose,
    typical_tree,
)
from sequoia.diagnosis.where_time_went import time_breakdown
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import best_plan, predict
from sequoia.planning.simulated_step_times import phases
from tests.planned import PROFILE

RATES = Acceptance((0.7, 0.1, 0.05, 0.03, 0.02))
TREE = Tree.from_branching([4, 2, 2, 1])
PLAIN = DecodeStats(steps=100, tokens=100, seconds={"draft": 0.0, "verify": 2.0, "overhead": 0.1})


def run(
    tree: Tree = TREE,
    acceptance: Acceptance = RATES,
    tokens: float | None = None,
    steps: int = 1000,
    **scale: float,
) -> DecodeStats:
    """A run with `tree` that goes as predicted. scale: factors by which phases take longer. tokens:
    tokens per step; None for the predicted number."""
    seconds = {
        phase: value * steps * scale.get(phase, 1.0)
        for phase, value in phases(tree, PROFILE).items()
    }
    made = expected_tokens(tree, acceptance) if tokens is None else tokens
    return DecodeStats(steps=steps, tokens=round(made * steps), seconds=seconds)


def machine_of(
    stats: DecodeStats, tree: Tree, plain: DecodeStats, profile: HardwareProfile
) -> HardwareProfile:
    """`profile` calibrated to a run."""
    return calibrated(time_breakdown(stats, plain), tree, profile)


def reproduced(
    found: Diagnosis,
    stats: DecodeStats,
    tree: Tree,
    plain: DecodeStats,
    acceptance: Acceptance = RATES,
) -> None:
    """Assert that the speed-up of every remedy with a drafted tree follows from `predict`, with the
    calibrated profile and the measured time of a plain token."""
    machine = machine_of(stats, tree, plain, PROFILE)
    vector = fitted(acceptance, tree, stats.tokens_per_step)
    token = plain.total_seconds / plain.tokens
    for remedy in (remedy for remedy in found.remedies if remedy.tree and len(remedy.tree) > 1):
        plan = predict(remedy.tree, vector, machine)
        assert remedy.predicted == pytest.approx(
            plan.expected_tokens * token / plan.predicted_seconds, rel=1e-12
        )


# -- the named loss --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "stats", "tree"),
    [
        ("draft", run(draft=20), TREE),
        ("overhead", run(overhead=60), TREE),
        ("verify", run(Tree.kary(5, 4), verify=2.0), Tree.kary(5, 4)),
        ("acceptance", run(tokens=1.05), TREE),
    ],
)
def test_the_loss_that_dominates_is_named_and_remedies_are_the_planners(
    name: str, stats: DecodeStats, tree: Tree
) -> None:
    found = diagnose(stats, tree, PLAIN, RATES, PROFILE)
    assert found.speedup == pytest.approx(
        stats.tokens_per_step * 0.021 * stats.steps / stats.total_seconds
    )
    assert found.largest_loss == name
    assert found.remedies[0].predicted > found.speedup
    reproduced(found, stats, tree, PLAIN)
    trees = [remedy.tree for remedy in found.remedies if remedy.tree]
    assert len(trees) == len({*trees, tree}) - 1  # each once, and never the tree in use
    assert [remedy.predicted for remedy in found.remedies] == sorted(
        (r.predicted for r in found.remedies), reverse=True
    )


def test_the_first_remedy_to_apply_is_the_planned_tree_of_the_calibrated_machine() -> None:
    stats = run(draft=8)
    found = diagnose(stats, TREE, PLAIN, RATES, PROFILE)
    first = next(remedy for remedy in found.remedies if remedy.tree)
    plan = best_plan(
        fitted(RATES, TREE, stats.tokens_per_step), machine_of(stats, TREE, PLAIN, PROFILE)
    )
    assert first.tree == plan.tree
    # PLAIN takes exactly as long as PROFILE says, so both speed-ups have the same base
    assert first.predicted == pytest.approx(plan.predicted_speedup, rel=1e-9)
    assert first.change == "fastest_tree"


def test_the_speedup_without_a_loss_is_that_of_the_run_without_it() -> None:
    stats = run(draft=20, overhead=10)
    losses = {
        loss.name: loss.without for loss in diagnose(stats, TREE, PLAIN, RATES, PROFILE).losses
    }
    none = replace(stats, seconds={**stats.seconds, "draft": 0.0})
    own = replace(stats, seconds={**stats.seconds, "overhead": 0.001 * stats.steps})
    plain = replace(stats, seconds={**stats.seconds, "verify": 0.02 * stats.steps})
    for name, better in (("draft", none), ("overhead", own), ("verify", plain)):
        assert losses[name] == pytest.approx(
            better.tokens_per_step * 0.021 / (better.total_seconds / better.steps), rel=1e-9
        )


# -- calibration -----------------------------------------------------------------------------------


def test_the_calibrated_machine_predicts_the_run_phase_by_phase() -> None:
    """Random profiles, trees and runs. In some runs, noise makes the target pass of a plain token
    slower than that of a step."""
    rng = random.Random(4)
    for _ in range(200):
        sizes = sorted(rng.sample(range(2, 200), 4))
        base = rng.uniform(1e-3, 1)
        lines = [
            sorted(base * rng.choice((1, rng.uniform(1, 3))) for _ in range(5)) for _ in range(2)
        ]
        target, overhead = (
            tuple((n, t, 0) for n, t in zip((1, *sizes), line, strict=True)) for line in lines
        )
        profile = replace(
            PROFILE,
            target_seconds=target,
            overhead_seconds=rng.choice([0.0, overhead]),
            level_overhead=rng.choice([0.0, base * rng.random()]),
        )
        tree = rng.choice(
            [
                Tree.chain(1),
                Tree.chain(rng.randint(2, 40)),
                Tree.kary(3, 4),
                Tree.sequences(rng.randint(2, 9), 3),
            ]
        )
        stats = DecodeStats(
            steps=7,
            tokens=9,
            seconds={
                "draft": rng.random() if len(tree) > 1 else 0.0,
                "verify": rng.uniform(0.1, 2),
                "overhead": rng.choice((0, rng.random())),
            },
        )
        plain = DecodeStats(
            steps=5,
            tokens=5,
            seconds={"draft": 0.0, "verify": rng.uniform(0.1, 1), "overhead": rng.random()},
        )
        machine = machine_of(stats, tree, plain, profile)
        assert phases(tree, machine) == pytest.approx(
            {phase: stats.seconds[phase] / 7 for phase in PHASES}, rel=1e-9, abs=1e-10
        )
        if plain.seconds["verify"] / 5 <= stats.seconds["verify"] / 7:
            lowest = plain.seconds["verify"] / 5 if len(tree) > 1 else stats.seconds["verify"] / 7
            assert machine.verify_seconds(1) == pytest.approx(lowest, rel=1e-9)
        assert machine.verify_seconds(300) >= machine.verify_seconds(2)


# -- remedies --------------------------------------------------------------------------------------


def test_where_nothing_is_accepted_plain_decoding_is_the_first_remedy_to_apply() -> None:
    found = diagnose(run(tokens=1.0), TREE, PLAIN, RATES, PROFILE)
    first = next(remedy for remedy in found.remedies if remedy.tree)
    assert (first.change, first.predicted, first.tree) == ("plain", 1.0, Tree.chain(1))


def test_a_plain_run_has_no_loss() -> None:
    root = Tree.chain(1)
    found = diagnose(PLAIN, root, PLAIN, Acceptance((0.0,)), PROFILE)
    assert found.speedup == pytest.approx(1)
    assert found.largest_loss is None
    assert not [remedy for remedy in found.remedies if remedy.tree]


def test_changes_predicted_within_the_noise_are_not_recommended() -> None:
    """`noise` is the upper end of the run's confidence interval, or the run's speed-up plus 5% if
    that is larger."""
    stats = run(draft=8)
    found = diagnose(stats, TREE, PLAIN, RATES, PROFILE)
    assert found.noise == pytest.approx(found.speedup * 1.05)
    everything = (*found.remedies, *found.unclear)
    best = found.remedies[0].predicted
    second = found.remedies[1].predicted
    for most, left in (
        (second * 1.0001, 1),
        (best * 1.0001, 0),
        (found.speedup * 1.01, len(found.remedies)),
    ):
        again = diagnose(
            stats,
            TREE,
            PLAIN,
            RATES,
            PROFILE,
            measured=Speedup(found.speedup, found.speedup / 2, most),
        )
        assert again.noise == max(most, found.noise)
        assert again.remedies == found.remedies[:left]
        assert len(again.remedies) + len(again.unclear) == len(everything)


def test_a_typical_tree_has_the_mean_size() -> None:
    tree = typical_tree(17.4, 4.6, RATES)
    assert (len(tree), tree.levels) == (17, 5)
    assert typical_tree(1.2, 1.1, RATES) == typical_tree(1.6, 1.4, RATES) == Tree.chain(2)
    assert typical_tree(1.0, 1.0, RATES) == Tree.chain(1)

"""How to make a run faster: what costs it speed-up, and which changes are predicted to help.

Nothing is measured here. Predictions use a hardware profile and an acceptance vector that are
*calibrated* to the run. So the prediction for the tree in use equals the measurement. The more
another tree differs from the tree in use, the more its prediction depends on the profile.
"""

from __future__ import annotations

from operator import attrgetter

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.diagnosis.diagnosis import Diagnosis
from sequoia.diagnosis.losses_and_remedies import DiagnosedRun
from sequoia.diagnosis.race_verdict import Speedup
from sequoia.errors import BadTree
from sequoia.planning.compare_plans import knee
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.validate_input import number

# a loss is listed if the speed-up without it would be more than 0.5% higher
_MIN_LOSS_RATIO = 1.005
# approximate relative error of a prediction from a profile that was measured in a few seconds
_UNSURE = 0.05


def diagnose(
    stats: DecodeStats,
    tree: Tree,
    plain: DecodeStats,
    acceptance: Acceptance,
    profile: HardwareProfile,
    measured: Speedup | None = None,
) -> Diagnosis:
    """What costs speed-up in the run `stats` with `tree`, and what is predicted to help. plain: a
    run of plain decoding, the baseline of the speed-up.

    For a run whose trees change, pass their `typical_tree`. measured: the run's speed-up with its
    interval. A change is recommended only if its prediction lies above this interval, and above the
    measured speed-up by more than the error of predictions (`_UNSURE`). Raises BadTrace if a run
    has no step or token, if a time is out of range (target passes must take some time), or
    if the two runs were not timed by the same clock.
    """
    diagnosed = DiagnosedRun(stats, tree, plain, acceptance, profile)
    listed = diagnosed.speedup * _MIN_LOSS_RATIO
    losses = (loss for loss in diagnosed.losses() if loss.without > listed)
    noise = max(diagnosed.speedup * (1 + _UNSURE), (measured and measured.high) or 0.0)
    helping = diagnosed.remedies()
    clear = tuple(remedy for remedy in helping if remedy.predicted > noise)
    unclear = tuple(remedy for remedy in helping if remedy.predicted <= noise)
    return Diagnosis(
        diagnosed.costs,
        len(tree),
        diagnosed.good_tokens,
        knee(diagnosed.profile),
        tuple(sorted(losses, key=attrgetter("without"), reverse=True)),
        clear,
        noise,
        unclear,
    )


def typical_tree(nodes: float, levels: float, acceptance: Acceptance) -> Tree:
    """One tree to represent many. nodes, levels: their mean numbers of nodes and levels. The result
    is the best tree of `nodes` nodes and at most `levels` levels, both rounded. It has a single
    node only if all the trees did. Raises BadTree unless both means are from 1 to MAX_NODES."""
    size, cap = (
        max(round(number(value, what, 1, MAX_NODES, BadTree)), 1 + (nodes > 1))
        for what, value in (("nodes", nodes), ("levels", levels))
    )
    return best_tree(acceptance.smoothed(), size, cap)

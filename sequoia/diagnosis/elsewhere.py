"""Another machine, on which a tree is predicted to beat the best chain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from sequoia.algorithm.acceptance import Acceptance
from sequoia.planning.plan_for_machine import best_chain, best_plan
from sequoia.planning.simulated_step_times import SimulatedClock

_MIN_RATIO = 1.05  # a smaller predicted lead may be an error of the prediction


@dataclass(frozen=True)
class Elsewhere:
    """clock: the name of the machine's simulated clock. ratio: the predicted speed of the tree
    planned for that machine, divided by that of the best chain there."""

    clock: str
    ratio: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def tree_elsewhere(acceptance: Acceptance, clocks: Iterable[SimulatedClock]) -> Elsewhere | None:
    """The first machine in `clocks` for which the planned tree is predicted to be at least 5%
    faster than the best chain; None if there is no such machine."""
    for clock in clocks:
        tree = best_plan(acceptance, clock.profile)
        chain = best_chain(acceptance, clock.profile)
        ratio = tree.predicted_speedup / chain.predicted_speedup
        if ratio >= _MIN_RATIO:
            return Elsewhere(clock.name, ratio)
    return None

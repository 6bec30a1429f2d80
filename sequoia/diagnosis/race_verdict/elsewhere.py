"""Another machine, on which a tree is predicted to beat the best chain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from sequoia.algorithm.acceptance import Acceptance
from sequoia.planning.named_profiles import machine_of
from sequoia.planning.plan_for_machine import best_chain, best_plan
from sequoia.planning.simulated_step_times import SimulatedClock

_MIN_RATIO = 1.05  # a smaller predicted lead may be an error of the prediction


@dataclass(frozen=True)
class Elsewhere:
    """machine: the machine's name, worded to fit inside a sentence (see `machine_of`). ratio: the
    predicted speed of the tree planned for that machine, divided by that of the best chain
    there."""

    machine: str
    ratio: float

    @property
    def sentence(self) -> str:
        return (
            f"On {self.machine}, a tree planned for that machine would be "
            f"{100 * (self.ratio - 1):.0f}% ahead of the best chain (predicted, "
            "hypothetical: this pair’s acceptance with the step times of other models)."
        )

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
            return Elsewhere(machine_of(clock.name), ratio)
    return None

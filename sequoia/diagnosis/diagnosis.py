"""The diagnosis of a run, in numbers and codes: what costs it speed-up, and which changes are
predicted to help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import TimeBreakdown

Change = Literal[
    "plain", "fastest_tree", "smaller_tree", "fewer_levels", "smaller_draft", "larger_target"
]


@dataclass(frozen=True)
class Loss:
    """A cause of lost speed-up. name: "acceptance", "draft", "verify" or "overhead". without: the
    speed-up of the same run without this loss, but with all other losses."""

    name: str
    without: float


@dataclass(frozen=True)
class Remedy:
    """A change that may help. predicted: its speed-up over plain decoding, which is 1 by definition
    for plain decoding itself.

    tree: the tree to use instead; None for a change of the models, which is a hypothesis.
    """

    change: Change
    predicted: float
    tree: Tree | None = None


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of one run.

    costs: of a mean step. nodes: of the run's tree. good_tokens: per step, with the acceptance of a
    well-matched pair. knee: the number of nodes from which a pass is predicted to take at least
    twice as long as for one node; None if there is none.
    losses: largest first.
    remedies: changes predicted above `noise`, best first.
    noise: predictions up to this speed-up may exceed the run's by chance or prediction error alone.
    unclear: changes predicted above the run's speed-up but not above `noise`, best first.
    """

    costs: TimeBreakdown
    nodes: int
    good_tokens: float
    knee: int | None
    losses: tuple[Loss, ...]
    remedies: tuple[Remedy, ...]
    noise: float
    unclear: tuple[Remedy, ...] = ()

    @property
    def speedup(self) -> float:
        """Over the plain run."""
        return self.costs.step.speedup

    @property
    def largest_loss(self) -> str | None:
        """Name of the largest loss; None if there is none worth mentioning."""
        return self.losses[0].name if self.losses else None

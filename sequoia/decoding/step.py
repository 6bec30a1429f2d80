"""One step as the Decoder sees it: draft a tree and verify it. Knows no way to do that."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

import torch

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.decoding.drafter import Drafted, GrowingTree
from sequoia.this_machine.step_timer import Clock

# and what p gave each node's token, None where p was not asked
Round = tuple[Drafted, Verdict, tuple[float | None, ...]]


class Step(Protocol):
    """The steps of one run: call it with each step's tree."""

    def prepare(self, tree: Tree) -> None:
        """Make ready what all steps with `tree` have in common."""
        ...

    def needs(self, nodes: int, /) -> Counter[torch.device]:
        """Bytes by device that trees of `nodes` nodes take beside the models' caches."""
        ...

    def __call__(self, shape: Tree | GrowingTree, clock: Clock) -> Round:
        """Draft `shape` and verify it; both models' rows stay written, and none is kept. The clock
        is charged with the passes of the draft and of the target. Raises BadTree or BadModel."""
        ...

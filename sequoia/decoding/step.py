"""The interface of a decoding step: draft a tree and verify it. It is implemented in host_step.py
and cuda/cuda_step.py."""

from __future__ import annotations

from typing import Protocol

from sequoia.algorithm.residual_heads import ResidualHead
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.decoding.drafter import Drafted, DynamicTree
from sequoia.this_machine.memory import DeviceBytes
from sequoia.this_machine.step_timer import Clock

# The last part: the target probability p of each node's token, None if the walk did not need it.
Round = tuple[Drafted, Verdict, tuple[float | None, ...]]


class Step(Protocol):
    """The steps of one run, called with each step's tree."""

    def prepare(self, tree: Tree) -> None:
        """Build what all steps with `tree` share, once."""
        ...

    def needs(self, nodes: int, /) -> DeviceBytes:
        """Bytes by device that trees of `nodes` nodes take in addition to the models' caches."""
        ...

    def __call__(self, shape: Tree | DynamicTree, clock: Clock) -> Round:
        """Draft `shape` and verify it. What both models wrote to their KV caches is not kept yet.
        The passes of draft and target are timed on the clock. Raises BadTree or BadModel."""
        ...

    def residual_heads(self, drafted: Drafted, verdict: Verdict, /) -> tuple[ResidualHead, ...]:
        """What was left of p and q at each trial of the step that was just made; empty where the
        host does not have the distributions, or the verifier tests no single children."""
        ...

    def expected_accepted(self, drafted: Drafted, verifier: Verifier, /) -> float | None:
        """The mean number of nodes that `verifier` accepts of the tree of the step that was just
        made, over its own draws. Its children must be drawn in the same way. None where the host
        does not have the distributions."""
        ...

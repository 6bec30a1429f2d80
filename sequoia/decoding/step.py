"""The interface of a decoding step: draft a tree and verify it. Implemented in host_step.py and
cuda/cuda_step.py."""

from __future__ import annotations

from typing import Protocol

from sequoia.algorithm.residual_heads import ResidualHead
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.decoding.drafter import Drafted, DynamicTree
from sequoia.this_machine.memory import DeviceBytes
from sequoia.this_machine.step_timer import Clock

# A step's tree with its tokens, the verdict and, for each node, the target probability p of its
# token: None for the root, and for nodes at whose parent the verifier did not need the target's
# distribution.
Round = tuple[Drafted, Verdict, tuple[float | None, ...]]


class Step(Protocol):
    """The steps of one run, called with each step's tree."""

    def prepare(self, tree: Tree) -> None:
        """Build once what all steps with `tree` share."""
        ...

    def needs(self, nodes: int, /) -> DeviceBytes:
        """Bytes by device that a step with a tree of `nodes` nodes needs in addition to the models'
        KV caches, masks and logits."""
        ...

    def __call__(self, shape: Tree | DynamicTree, clock: Clock) -> Round:
        """Draft `shape` and verify it. The caller then has to keep the accepted path in both KV
        caches. The passes of draft and target are timed on the clock. Raises BadTree or
        BadModel."""
        ...

    def residual_heads(self, drafted: Drafted, verdict: Verdict, /) -> tuple[ResidualHead, ...]:
        """The residual p and q at each trial of the last step, and then the p from which the bonus
        token was drawn. Empty if the host does not have the distributions, or the verifier does not
        go down from the root child by child."""
        ...

    def expected_accepted(self, drafted: Drafted, verifier: Verifier, /) -> float | None:
        """The mean number of nodes of the last step's tree, besides the root, that `verifier`
        accepts, over its random draws. `verifier` must draw children in the same way as the run's
        verifier. None if the host does not have the distributions."""
        ...

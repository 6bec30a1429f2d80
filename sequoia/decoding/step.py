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

# The result of a step: its tree with the tokens, the verdict, and for each node the target
# probability p of its token. p is None for the root. It is also None for the children of a node at
# which the verifier did not need the target's distribution.
Round = tuple[Drafted, Verdict, tuple[float | None, ...]]


class Step(Protocol):
    """Makes the steps of one run. Each call makes one step."""

    def prepare(self, tree: Tree) -> None:
        """Build once what all steps with `tree` share, such as its attention mask."""
        ...

    def needs(self, nodes: int, /) -> DeviceBytes:
        """Bytes by device that a step with a tree of `nodes` nodes needs in addition to the models'
        KV caches, masks and logits."""
        ...

    def __call__(self, shape: Tree | DynamicTree, clock: Clock) -> Round:
        """Draft `shape` and verify it. Afterwards the caller must reduce both KV caches to the
        accepted path. `clock` times the passes of draft and target. Raises BadTree if the tree is
        larger than its TreeChoice allows, and BadModel if logits that are needed overflowed."""
        ...

    def residual_heads(self, drafted: Drafted, verdict: Verdict, /) -> tuple[ResidualHead, ...]:
        """The residual p and q at each trial of the last step, and then the p from which the bonus
        token was drawn. Empty if the distributions stayed on the GPU, or if the verifier starts at
        the leaves."""
        ...

    def expected_accepted(self, drafted: Drafted, verifier: Verifier, /) -> float | None:
        """The expected number of nodes, besides the root, that `verifier` would accept in the last
        step's tree, averaged over the random numbers of the verification. `verifier` must draw
        children in the same way as the run's verifier. None if the distributions stayed on the
        GPU. Raises BadModel if logits overflowed at a node that the verification did not
        visit."""
        ...

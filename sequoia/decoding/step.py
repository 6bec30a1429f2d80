"""One draft-and-verify step, verified on the host by a verifier from algorithm/verifiers. The
models run on their devices. Each target distribution is copied to the host when the verifier needs
it. cuda/cuda_step.py is the same step with the verification on a GPU."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import torch

from sequoia.algorithm.distributions import row_warp
from sequoia.algorithm.expected_accepted import expected_accepted
from sequoia.algorithm.residual_heads import ResidualHead, residual_heads
from sequoia.algorithm.sampling import Chance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.decoding.drafter import Drafted, Drafter
from sequoia.decoding.tree_choice import DynamicTree
from sequoia.models.tree_forward import Context
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.this_machine.memory import DeviceBytes
from sequoia.this_machine.step_timer import Clock


class Round(NamedTuple):
    """A step's tree with its tokens, the verdict, and for each node the target probability p of its
    token. p is None for the root, and for the children of a node at which the verifier did not need
    the target's distribution."""

    drafted: Drafted
    verdict: Verdict
    target_p: tuple[float | None, ...]


class HostStep:
    """The steps of one run. Works with any verifier and any kind of tree."""

    def __init__(
        self,
        target: Context,
        drafter: Drafter,
        params: SamplingParams,
        verifier: Verifier,
        chance: Chance,
    ) -> None:
        self._target = target
        self._drafter = drafter
        self._verifier = verifier
        self._chance = chance
        self._row_warp = row_warp(params)
        # one layout only: masks are large, and most steps of a run use the same tree
        self._layout = lru_cache(1)(partial(whole_tree_layout, target))
        self._p: dict[int, np.ndarray] = {}  # by node, for nodes whose p the last verification used
        self._q: dict[int, np.ndarray] = {}  # by node, for nodes whose q it used
        self._last_logits = torch.empty(0)  # of all nodes of the last step

    def prepare(self, tree: Tree) -> None:
        """Build once what all steps with `tree` share, such as its attention mask."""
        self._layout(tree)

    def needs(self, nodes: int) -> DeviceBytes:
        """Bytes by device that a step with a tree of `nodes` nodes needs in addition to the models'
        KV caches, masks and logits."""
        draft = self._drafter.context
        if not draft.capacity:
            return Counter()
        # q (float32) of all inner nodes is kept during the step; there are fewer than `nodes`
        return Counter({draft.device: 4 * nodes * draft.model.vocab})

    def __call__(self, shape: Tree | DynamicTree, clock: Clock) -> Round:
        """Draft `shape` and verify it. Afterwards the caller must reduce both KV caches to the
        accepted path. `clock` times the passes of draft and target. Raises BadTree if the tree is
        larger than its TreeChoice allows, and BadModel if logits that are needed overflowed."""
        return self._verify(self._drafter.fill(shape, clock), clock)

    def _verify(self, drafted: Drafted, clock: Clock) -> Round:
        tree = drafted.tree
        layout = self._layout(tree)
        with clock.phase("verify"):
            logits = self._target.forward(drafted.tokens, layout)  # (nodes, vocab)
        # A node whose logits overflow ends the run only if verification visits it. If it is not
        # visited, its slot in the KV cache is dropped and must be zeroed, because CUDA graphs read
        # dropped slots too. It is not known yet which nodes will be visited. So after
        # `drop_values`, every slot that this step drops is zeroed.
        if self._target.model.graphs and not logits.amax(-1).isfinite().all():
            self._target.drop_values()
        self._p = {}
        self._q = {}
        self._last_logits = logits

        def p(node: int) -> np.ndarray:
            self._p[node] = self._row_warp(logits[node])
            return self._p[node]

        def q(node: int) -> np.ndarray:
            self._q[node] = drafted.q(node)
            return self._q[node]

        verdict = self._verifier.verify(tree, drafted.tokens, p, q, self._chance)
        target_p: list[float | None] = [None] * len(tree)
        for node, distribution in self._p.items():
            for child in tree.children[node]:
                target_p[child] = float(distribution[drafted.tokens[child]])
        return Round(drafted, verdict, tuple(target_p))

    def residual_heads(self, drafted: Drafted, verdict: Verdict) -> tuple[ResidualHead, ...]:
        """The residual p and q at each trial of the last step, and then the p from which the bonus
        token was drawn. Empty if the distributions stayed on the GPU, or if the verifier starts at
        the leaves."""
        if self._verifier.chances is None:
            return ()
        return residual_heads(
            drafted.tree,
            verdict,
            self._p.__getitem__,
            self._q.__getitem__,
            self._verifier.reject,
        )

    def expected_accepted(self, drafted: Drafted, verifier: Verifier) -> float | None:
        """The expected number of nodes, besides the root, that `verifier` would accept in the last
        step's tree, averaged over the random numbers of the verification. `verifier` must draw
        children in the same way as the run's verifier. None if the distributions stayed on the
        GPU. Raises BadModel if logits overflowed at a node that the verification did not
        visit."""

        def p(node: int) -> np.ndarray:
            return self._p[node] if node in self._p else self._row_warp(self._last_logits[node])

        return float(expected_accepted(drafted.tree, drafted.tokens, p, drafted.q, verifier))

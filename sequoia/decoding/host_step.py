"""One draft-and-verify step whose verification runs on the host, by a verifier from
algorithm/verifiers. The models run on their devices. Each target distribution is copied to the host
when the verifier needs it."""

from __future__ import annotations

from collections import Counter
from functools import partial

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
from sequoia.decoding.drafter import Drafted, Drafter, DynamicTree
from sequoia.decoding.step import Round
from sequoia.models.per_tree import PerTree
from sequoia.models.tree_forward import Context
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.this_machine.memory import DeviceBytes
from sequoia.this_machine.step_timer import Clock


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
        self._nodes = PerTree(partial(whole_tree_layout, target), serves=Tree.is_cut_of)
        self._p: dict[int, np.ndarray] = {}  # by node, for nodes whose p the last verification used
        self._q: dict[int, np.ndarray] = {}  # by node, for nodes whose q it used
        self._logits = torch.empty(0)  # of all nodes of the last step

    def prepare(self, tree: Tree) -> None:
        self._nodes(tree)

    def needs(self, nodes: int) -> DeviceBytes:
        draft = self._drafter.context
        if not draft.capacity:
            return Counter()
        # q (float32) of all inner nodes is kept during the step; there are fewer than `nodes`
        return Counter({draft.device: 4 * nodes * draft.model.vocab})

    def __call__(self, shape: Tree | DynamicTree, clock: Clock) -> Round:
        if isinstance(shape, Tree):
            drafted = self._drafter.fill(shape, clock)
        else:
            drafted = self._drafter.follow(shape, clock)
        return drafted, *self._verify(drafted, clock)

    def _verify(self, drafted: Drafted, clock: Clock) -> tuple[Verdict, tuple[float | None, ...]]:
        tree = drafted.tree
        layout = self._nodes(tree)
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
        self._logits = logits

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
        return verdict, tuple(target_p)

    def residual_heads(self, drafted: Drafted, verdict: Verdict) -> tuple[ResidualHead, ...]:
        if self._verifier.chances is None:
            return ()
        return residual_heads(
            drafted.tree,
            verdict,
            self._p.__getitem__,
            self._q.__getitem__,
            self._verifier.reject,
        )

    def expected_accepted(self, drafted: Drafted, verifier: Verifier) -> float:
        def p(node: int) -> np.ndarray:
            return self._p[node] if node in self._p else self._row_warp(self._logits[node])

        return float(expected_accepted(drafted.tree, drafted.tokens, p, drafted.q, verifier))

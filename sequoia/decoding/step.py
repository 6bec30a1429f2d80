"""One step: draft a tree, then verify it.

The Drafter fills the tree with tokens, level by level. One pass of the draft model gives the
distributions for each new level. The tree is either fixed beforehand or grows while it is drafted.
Whether a child is drawn depends only on tokens drawn before it, and every drawn token stays in the
tree: otherwise the output would be biased.

HostStep verifies the tree on the host, by a verifier from algorithm/verifiers. The models run on
their devices. Each target distribution is copied to the host when the verifier needs it.
cuda/cuda_step.py is the same step with the verification on a GPU."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch

from sequoia.algorithm.distributions import checked, draft_warp, overflowed, row_warp
from sequoia.algorithm.residual_heads import ResidualHead, residual_heads
from sequoia.algorithm.sampling import Chance, Drawn
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verdict, Verifier
from sequoia.decoding.tree_choice import GrowingTree
from sequoia.models.cache_and_mask import DynamicTreeLayout, TreeLayout
from sequoia.models.draft import DraftContext
from sequoia.models.tree_forward import Context
from sequoia.this_machine.memory import DeviceBytes
from sequoia.this_machine.step_timer import Clock

# draft distributions of one level (nodes, vocab), or of one node (vocab,); numpy if on the host
Distributions = np.ndarray | torch.Tensor
_ROOT = Tree.chain(1)


class Drafted:
    """A step's tree with its tokens. row: for each node that went through the draft model, except
    the root, its row in the draft's layout."""

    def __init__(self, root: int, tree: Tree = _ROOT) -> None:
        self.tree = tree
        self.tokens: list[int] = [root]
        self.row: dict[int, int] = {}
        self.root_drafted = False  # whether the root went through the draft model
        self._levels: list[tuple[Sequence[int], Distributions, Drawn]] = []

    def grow(self, nodes: Sequence[int], distributions: torch.Tensor, drawn: Drawn) -> None:
        """Append the tokens `drawn` from `distributions` (nodes, vocab) for the children of
        `nodes`."""
        self._levels.append(
            (nodes, distributions.numpy() if distributions.is_cpu else distributions, drawn)
        )
        for tokens in drawn:
            self.tokens += tokens

    @cached_property
    def probs(self) -> list[float]:
        """The draft probability q of the token of each node except the root. Only for complete
        trees, because it is cached. A step on a GPU sets it."""
        return [
            weight
            for _, distributions, drawn in self._levels
            for weight in _at(distributions, drawn)
        ]

    def refuse_nan(self) -> None:
        """Raises BadModel if a draft distribution of the complete tree is NaN. One check at the end
        is faster than one per level. Until then a NaN does no harm: drawing from it gives some
        token of the vocabulary."""
        if math.isnan(sum(self.probs)):
            raise overflowed("draft")

    def q(self, node: int) -> np.ndarray:
        """The draft distribution after `node`, (vocab,)."""
        found = self._q[node]
        return found if isinstance(found, np.ndarray) else found.cpu().numpy()

    @cached_property
    def _q(self) -> dict[int, Distributions]:
        """The draft distribution (vocab,) after each inner node."""
        return {
            node: distribution
            for nodes, distributions, _ in self._levels
            for node, distribution in zip(nodes, distributions, strict=True)
        }


class Drafter:
    """The draft in one run. most: the maximum number of nodes of a tree. warp: turns the
    draft's logits into draft distributions. unread: the tokens that have not gone through the draft
    yet; the last one is the root of the next tree."""

    def __init__(
        self,
        context: DraftContext,
        params: SamplingParams,
        verifier: Verifier,
        chance: Chance,
        most: int,
    ) -> None:
        self.context = context
        # of one tree only: masks are large, and most steps of a run use the same tree
        self.passes = lru_cache(1)(partial(_DraftPasses, context))
        self.warp = draft_warp(params)
        self._draw = partial(verifier.draw, chance)
        self._most = most
        self._used = 0  # rows of `_buffer`
        self.unread: tuple[int, ...] = ()

    def prefill(self, prompt: tuple[int, ...]) -> None:
        """Run the prompt through the draft, except its last token, which is the root of the first
        tree."""
        # in a run without drafting, the draft has no cache slots
        if self.context.capacity and len(prompt) > 1:
            self.context.extend(prompt[:-1])
        self.unread = prompt[-1:]

    def begin(self, tree: Tree = _ROOT) -> Drafted:
        """A step's tree with only its root's token."""
        self._used = 0
        return Drafted(self.unread[-1], tree)

    def fill(self, shape: Tree | GrowingTree, clock: Clock) -> Drafted:
        """The tree `shape`, filled with tokens; a dynamic tree is filled while it grows."""
        if isinstance(shape, Tree):
            return self._fill_fixed(shape, clock)
        return self._fill_growing(shape, clock)

    def _fill_fixed(self, tree: Tree, clock: Clock) -> Drafted:
        """Only nodes with children go through the draft."""
        drafted = self.begin(tree)
        if len(tree) > 1:
            passes = self.passes(tree)
            drafted.row = passes.row
            for nodes, counts in passes.levels:
                distributions = self._distributions(nodes, drafted, passes.layout, clock)
                drafted.grow(nodes, distributions, self._draw(distributions, counts))
        drafted.refuse_nan()
        return drafted

    def _fill_growing(self, shape: GrowingTree, clock: Clock) -> Drafted:
        drafted = self.begin()
        layout = self._dynamic_layout
        layout.clear()
        while nodes := shape.front:
            if nodes[0]:  # not the root: that one goes through the draft as the last of `unread`
                drafted.row.update({node: len(layout) + i for i, node in enumerate(nodes)})
                layout.add([drafted.row.get(shape.tree.parents[node]) for node in nodes])
            distributions = checked(self._distributions(nodes, drafted, layout, clock), "draft")
            drawn = self._draw(distributions, shape.grow(distributions))
            drafted.grow(nodes, distributions, drawn)
            shape.see(distributions, drawn)
        drafted.tree = shape.tree
        return drafted

    @cached_property
    def _dynamic_layout(self) -> DynamicTreeLayout:
        return DynamicTreeLayout(self.context, self._most)

    def keep(self, drafted: Drafted, verdict: Verdict) -> None:
        """Keep the accepted path in the draft's KV cache. Sets `unread` to the tokens that have not
        gone through the draft, such as an accepted leaf's. `verdict.bonus` is the last of them."""
        if not drafted.root_drafted:
            self.unread = (*self.unread, verdict.bonus)
            return
        self.context.keep([drafted.row[node] for node in verdict.path[1:] if node in drafted.row])
        last = verdict.path[-1]
        leaf = () if last == 0 or last in drafted.row else (drafted.tokens[last],)
        self.unread = (*leaf, verdict.bonus)

    def _distributions(
        self,
        nodes: Sequence[int],
        drafted: Drafted,
        layout: TreeLayout | DynamicTreeLayout,
        clock: Clock,
    ) -> torch.Tensor:
        """Draft distributions (nodes, vocab) after the nodes of one level."""
        with clock.phase("draft"):
            if not nodes[0]:
                logits = self.context.extend(self.unread)[None]
                drafted.root_drafted = True
            else:
                logits = self.context.forward([drafted.tokens[node] for node in nodes], layout)
        if not logits.is_cpu:
            return self.warp(logits)
        self._used += len(nodes)
        return self.warp(logits, self._buffer[self._used - len(nodes) : self._used])

    @cached_property
    def _buffer(self) -> torch.Tensor:
        """(most, vocab) The draft distributions of a step on a CPU; each step reuses the memory."""
        return torch.empty(self._most, self.context.model.vocab, dtype=torch.float32)


def _at(distributions: Distributions, drawn: Drawn) -> list[float]:
    """The probabilities in `distributions` (nodes, vocab) of the tokens drawn at each node, in one
    list."""
    if isinstance(distributions, np.ndarray):
        return [
            distributions.item(row, token) for row, tokens in enumerate(drawn) for token in tokens
        ]
    rows = [row for row, tokens in enumerate(drawn) for _ in tokens]
    return distributions[rows, [*chain.from_iterable(drawn)]].tolist()  # one copy from the device


class _DraftPasses:
    """How the inner nodes of `tree` (those with children) go through the draft.

    levels: for each level except the last, its inner nodes and how many children each has. layout:
    that of the inner nodes except the root. row: the row of each of them in it.
    """

    def __init__(self, context: DraftContext, tree: Tree) -> None:
        # without the root: it goes through the draft as the last token of `Drafter.unread`
        nodes = [node for level in tree.inner[1:] for node in level]
        self.layout = TreeLayout(context, tree, nodes, below=1)
        self.row = {node: row for row, node in enumerate(nodes)}
        self.levels = [
            (level, [len(tree.children[node]) for node in level]) for level in tree.inner
        ]


class Verified(NamedTuple):
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
        self._layout = lru_cache(1)(partial(TreeLayout, target))
        self._p: dict[int, np.ndarray] = {}  # by node, for nodes whose p the last verification used
        self._q: dict[int, np.ndarray] = {}  # by node, for nodes whose q it used

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

    def __call__(self, shape: Tree | GrowingTree, clock: Clock) -> Verified:
        """Draft `shape` and verify it. Afterwards the caller must reduce both KV caches to the
        accepted path. `clock` times the passes of draft and target. Raises BadModel if logits
        that are needed overflowed."""
        drafted = self._drafter.fill(shape, clock)
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
        return Verified(drafted, verdict, tuple(target_p))

    def residual_heads(self, drafted: Drafted, verdict: Verdict) -> tuple[ResidualHead, ...]:
        """The residual p and q at each trial of the last step, and then the p from which the bonus
        token was drawn. Empty if the distributions stayed on the GPU, or if the verifier starts at
        the leaves."""
        if self._verifier.from_leaves:
            return ()
        return residual_heads(
            drafted.tree,
            verdict,
            self._p.__getitem__,
            self._q.__getitem__,
            self._verifier.reject,
        )

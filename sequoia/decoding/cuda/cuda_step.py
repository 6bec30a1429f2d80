"""One draft-and-verify step that stays on the GPU: the host does not wait for each level of the
tree, or for each trial of a drafted node. The reference is HostStep (step.py).

The step needs CUDA, Triton and a tree whose shape is known before drafting. Children are drawn, and
distributions computed, by the code that HostStep uses on a GPU. The walk of
algorithm/verifiers/sequoia.py is one kernel (verify_kernel.py). All results are copied to the host
together.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain, islice

import torch

from sequoia.algorithm.distributions import Warp, overflowed, target_warp
from sequoia.algorithm.residual_heads import ResidualHead
from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import OnGpu, Trial, Verdict, Verifier
from sequoia.decoding.step import Drafted, Drafter, HostStep, Verified
from sequoia.decoding.tree_choice import GrowingTree
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.memory_needs import CHUNK_ROWS, distribution_bytes
from sequoia.models.tree_forward import Context
from sequoia.this_machine.memory import DeviceBytes
from sequoia.this_machine.step_timer import Clock, Spans


def fits(target: torch.device, draft: torch.device) -> bool:
    """Whether steps can stay on the device: both models are on one GPU, and Triton is installed."""
    return (
        target.type == "cuda" and target == draft and importlib.util.find_spec("triton") is not None
    )


class CudaStep(HostStep):
    """The steps of one run. rule: that of `verifier`. Dynamic trees are verified on the host, which
    extends them level by level."""

    def __init__(
        self,
        target: Context,
        drafter: Drafter,
        params: SamplingParams,
        verifier: Verifier,
        chance: Seeded,
        rule: OnGpu,
    ) -> None:
        super().__init__(target, drafter, params, verifier, chance)
        self._noise = chance.noise
        self._is_dynamic = False  # whether the last step's tree was dynamic
        self._params = params
        self._warp = target_warp(params)
        self._draw = partial(rule.draw, chance)
        self._replacing = rule.replacing
        self._on_device = lru_cache(1)(partial(TreeOnDevice, target.device))

    def prepare(self, tree: Tree) -> None:
        super().prepare(tree)
        self._on_device(tree)

    def needs(self, nodes: int) -> DeviceBytes:
        vocab = self._target.model.vocab
        return Counter({self._target.device: distribution_bytes(nodes, vocab, self._params)})

    def __call__(self, shape: Tree | GrowingTree, clock: Clock) -> Verified:
        self._is_dynamic = not isinstance(shape, Tree)
        if not isinstance(shape, Tree):
            return super().__call__(shape, clock)
        drafted = self._drafter.begin(shape)
        on_device = self._on_device(shape)
        spans = Spans(self._target.device)
        tokens, q = self._fill(on_device, drafted, spans)
        for seconds in spans.seconds():
            clock.add("draft", seconds)
        with clock.phase("verify"):
            logits = self._target.forward(tokens, self._layout(shape))
        p = torch.empty(logits.shape, dtype=torch.float64, device=logits.device)  # (nodes, vocab)
        warp_into(p, self._warp, logits)
        return self._walk(on_device, drafted, tokens, q, p)

    def residual_heads(self, drafted: Drafted, verdict: Verdict) -> tuple[ResidualHead, ...]:
        # those of a fixed tree stay on the device
        return super().residual_heads(drafted, verdict) if self._is_dynamic else ()

    def _fill(
        self, on_device: TreeOnDevice, drafted: Drafted, spans: Spans
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The tokens (nodes,) of the tree, and the draft distributions (inner nodes, vocab) that
        children were drawn from. spans: measures how long the draft passes take."""
        tree = on_device.tree
        tokens = torch.full((len(tree),), drafted.tokens[0], device=self._target.device)
        if len(tree) == 1:
            return tokens, torch.empty(0, self._target.model.vocab, device=tokens.device)
        inner = self._drafter.passes(tree)
        drafted.row = inner.row
        q = tokens.new_empty((on_device.inner, self._target.model.vocab), dtype=torch.float32)
        row = 0
        for level in on_device.levels:
            with spans.span():
                logits = self._logits(level, tokens, inner.layout)
            rows = q[row : row + len(level.nodes)]
            warp_into(rows, self._drafter.warp, logits)
            drawn = torch.cat(
                [self._draw(some, level.most) for some in rows.split(CHUNK_ROWS)]
            )  # (nodes, most)
            tokens[level.begin : level.end] = drawn[level.parent, level.rank]
            row += len(rows)
        drafted.root_drafted = True
        return tokens, q

    def _logits(self, level: _Level, tokens: torch.Tensor, inner: TreeLayout) -> torch.Tensor:
        """Draft logits (nodes, vocab) after the nodes of `level`. The pass over the root also
        includes the earlier tokens that the draft has not processed yet."""
        context = self._drafter.context
        if level.begin == 1:
            return context.extend(self._drafter.unread)[None]
        return context.forward(tokens[level.nodes], inner)

    def _walk(
        self,
        on_device: TreeOnDevice,
        drafted: Drafted,
        tokens: torch.Tensor,
        q: torch.Tensor,
        p: torch.Tensor,
    ) -> Verified:
        # imported here, because Triton is installed with CUDA only
        from sequoia.decoding.cuda.verify_kernel import TRIAL, launch

        noise = self._noise((on_device.trials + 1,), p.device)
        trials = torch.zeros(on_device.trials, TRIAL, dtype=torch.float64, device=p.device)
        end = launch(
            p,
            q,
            on_device.row,
            tokens,
            on_device.first,
            on_device.count,
            noise,
            trials,
            self._replacing,
        )
        below = tokens[1:]
        weights = q[on_device.row[on_device.parent], below].double(), p[on_device.parent, below]
        is_nan = q.sum(-1).isnan().any()[None].double(), p.sum(-1).isnan().double()
        results = torch.cat([end, *is_nan, tokens.double(), *weights, trials.view(-1)])
        found, is_damaged = _read_results(on_device.tree, drafted, results.tolist())
        if is_damaged:  # the overflowed values must not stay in the KV cache
            self._target.drop_values()
        return found


def _read_results(tree: Tree, drafted: Drafted, results: Sequence[float]) -> tuple[Verified, bool]:
    """The step, and whether the target overflowed at a node that the walk did not visit. results:
    the numbers that `_walk` copied to the host, in the order of its `torch.cat`. Raises BadModel if
    the draft overflowed, or if the target overflowed at a visited node, as HostStep does."""
    n = len(tree)
    done, last, bonus, bad_draft = map(int, results[:4])
    path = tree.path(last)
    numbers = iter(results[4:])
    bad_target = [*map(bool, islice(numbers, n))]
    if bad_draft or any(bad_target[node] for node in path):
        raise overflowed("draft" if bad_draft else "target")
    drafted.tokens = [*map(int, islice(numbers, n))]
    drafted.probs = [*islice(numbers, n - 1)]
    p = [None, *islice(numbers, n - 1)]
    trials = tuple(_trial(islice(numbers, 6), drafted.tokens) for _ in range(done))
    target_p = tuple(p[node] if tree.parents[node] in path else None for node in range(n))
    return Verified(drafted, Verdict(path, bonus, trials), target_p), any(bad_target)


def _trial(numbers: Iterable[float], tokens: Sequence[int]) -> Trial:
    node, p, q, u, accepted, mass = numbers
    return Trial(int(node), tokens[int(node)], p, q, u, bool(accepted), None if accepted else mass)


def warp_into(into: torch.Tensor, warp: Warp, logits: torch.Tensor) -> None:
    """Write the distributions that `warp` makes of `logits` to `into` (nodes, vocab), a few rows at
    a time, because intermediate results need several times the memory of the rows."""
    for some, rows in zip(into.split(CHUNK_ROWS), logits.split(CHUNK_ROWS), strict=True):
        some.copy_(warp(rows))


class _Level:
    """The inner nodes of one level. Their children are the nodes from begin to end - 1. parent:
    each child's parent, as a position in `nodes`. rank: each child's sibling rank. most: the
    maximum number of children of a node."""

    def __init__(self, tree: Tree, nodes: Sequence[int], device: torch.device) -> None:
        children = [child for node in nodes for child in tree.children[node]]
        # numbered breadth first: all children of a level are consecutive
        self.begin = children[0]
        self.end = children[-1] + 1
        self.most = max(len(tree.children[node]) for node in nodes)
        row = {node: i for i, node in enumerate(nodes)}
        tensor = partial(torch.tensor, dtype=torch.long, device=device)
        self.nodes = tensor(nodes)
        self.parent = tensor([row[tree.parents[child]] for child in children])
        self.rank = tensor([tree.ranks[child] for child in children])


class TreeOnDevice:
    """A tree as tensors on the device.

    row: each node's row of the draft distributions q (inner nodes, vocab); 0 for leaves.
    first, count: each node's first child (0 for leaves) and number of children.
    parent: the parent of each node except the root.
    trials: the maximum number of trials of one walk.
    inner: the number of inner nodes.
    """

    def __init__(self, device: torch.device, tree: Tree) -> None:
        self.tree = tree
        self.levels = [_Level(tree, nodes, device) for nodes in tree.inner]
        self.trials = _most_trials(tree)
        self.inner = sum(map(len, tree.inner))
        row = {node: i for i, node in enumerate(chain.from_iterable(tree.inner))}
        tensor = partial(torch.tensor, dtype=torch.long, device=device)
        self.row = tensor([row.get(node, 0) for node in range(len(tree))])
        self.first = tensor([children[0] if children else 0 for children in tree.children])
        self.count = tensor([*map(len, tree.children)])
        self.parent = tensor(tree.parents[1:])


def _most_trials(tree: Tree) -> int:
    """The maximum number of trials of one walk."""
    most = [0] * len(tree)
    for node in range(1, len(tree)):
        most[node] = most[tree.parents[node]] + tree.ranks[node] + 1
    return max(most[node] + len(tree.children[node]) for node in range(len(tree)))

"""Decodes single steps along a fixed text, so that decoders can be compared at the same positions
of the same text. The time of a step comes from a machine's profile.

Separate runs could not be compared: at temperatures above 0 each run writes a different text, and
some texts are several times easier to draft than others. Here, all decoders make their steps at the
same positions, and each step has the same weight.
Decoders that draw without replacement draw the same children after the same tokens, so that little
of the difference between them is due to chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
import torch

from sequoia.algorithm.distributions import row_warp
from sequoia.algorithm.expected_tokens import expected_accepted
from sequoia.algorithm.sampling import Drawn, Seeded, chance_for
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.algorithm.verifiers import verifier_named
from sequoia.algorithm.verifiers.verifier import DistributionOf, Verdict
from sequoia.decoding.step import Drafted, Drafter
from sequoia.decoding.tree_choice import GrowingTree, TreeChoice
from sequoia.experiments.texts import Text
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.this_machine.step_timer import Clock


@dataclass(frozen=True)
class DecodedStep:
    """One step of a decoder. tokens: for each verifier, the mean number of tokens that it emits,
    over its random draws. nodes: the size of the tree. widths: the number of nodes in each draft
    pass."""

    tokens: tuple[float, ...]
    nodes: int
    widths: tuple[int, ...]

    def seconds(self, profile: HardwareProfile) -> float:
        """The time of the step on the machine of `profile`."""
        drafting = sum(map(profile.draft_seconds_at, self.widths))
        overhead = profile.overhead(self.nodes, len(self.widths))
        return profile.verify_seconds(self.nodes) + drafting + overhead


@torch.inference_mode()
def steps_along(
    pair: Pair,
    text: Text,
    tree: TreeChoice,
    verifiers: Sequence[str],
    places: Iterable[int],
) -> Iterator[tuple[DecodedStep, Drafted, Verdict]]:
    """One step for each of `places`, increasing indices of `text.tokens`. The step starts right
    before this token, however many tokens the previous step emitted. Children are drawn by the rule
    of the first of `verifiers`, which also decides what a TreeChoice learns. Raises BadModel if
    logits overflow."""
    counted = _CountedPasses(tree)
    ids = (*text.prompt, *text.tokens)
    params = text.params
    capacity = len(ids) + counted.most
    target = pair.target.open(capacity)
    draft = pair.draft.open(capacity)
    rules = [verifier_named(name) for name in verifiers]
    make = DrawsByContext if params.temperature else partial(chance_for, 0.0)
    chance = make(params.seed, pair.draft.device)
    drafter = Drafter(draft, params, rules[0], chance, counted.most)
    layout = lru_cache(1)(partial(TreeLayout, target))  # of one tree only: masks are large
    warp = row_warp(params)
    for place in places:
        root = len(text.prompt) + place - 1
        if known := ids[target.length : root]:
            target.extend(known)
        drafter.unread = ids[draft.length : root + 1]
        shape = counted.next(MAX_NODES)
        if isinstance(chance, DrawsByContext):
            chance.begin(ids[: root + 1], counted.fronts)
        drafted = drafter.fill(shape, Clock(pair.target.device))
        tree, tokens = drafted.tree, drafted.tokens
        p = _distributions(warp, target.forward(tokens, layout(tree)))
        verdict = rules[0].verify(tree, tokens, p, drafted.q, chance)
        expected = (expected_accepted(tree, tokens, p, drafted.q, rule) for rule in rules)
        emitted = tuple(1 + float(one) for one in expected)
        widths = tuple(map(len, counted.fronts))
        yield DecodedStep(emitted, len(tree), widths), drafted, verdict
        counted.learn(tree, verdict)
        target.keep([0])
        draft.keep([])


def _distributions(
    warp: Callable[[torch.Tensor], np.ndarray], logits: torch.Tensor
) -> DistributionOf:
    """The distribution after each node, computed when it is first needed. logits: (nodes, vocab).
    It raises BadModel if the node's logits overflowed."""
    return cache(lambda node: warp(logits[node]))


def tokens_per_step(steps: Sequence[DecodedStep]) -> float:
    """With the first verifier."""
    return sum(step.tokens[0] for step in steps) / len(steps)


def speedup(steps: Sequence[DecodedStep], profile: HardwareProfile) -> float:
    """The tokens per second of `steps` with the first verifier, divided by those of plain decoding,
    on the machine of `profile`."""
    seconds = sum(step.seconds(profile) for step in steps)
    return sum(step.tokens[0] for step in steps) * profile.plain_seconds / seconds


class DrawsByContext(Seeded):
    """Like Seeded, except for draws without replacement: there, a node's children depend only on
    the seed, the children's distribution, and the tokens from the start of the text to the node
    (its context).
    Within a step no two nodes have the same context, so their draws are independent."""

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        super().__init__(seed, device)
        self._seed = seed
        self._contexts: list[tuple[int, ...]] = []  # for each node, all tokens up to its own
        self._fronts: Sequence[Sequence[int]] = ()
        self._level = 0

    def begin(self, context: tuple[int, ...], fronts: Sequence[Sequence[int]]) -> None:
        """Start a step whose root is the last token of `context`. fronts: the nodes of each draft
        pass; the sequence may grow while the step is drafted."""
        self._contexts = [context]
        self._fronts = fronts
        self._level = 0

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        before = [self._contexts[node] for node in self._fronts[self._level]]
        drawn = [
            self._after(context, row, count)
            for context, row, count in zip(before, q, counts, strict=True)
        ]
        self._level += 1
        for context, tokens in zip(before, drawn, strict=True):
            self._contexts += [(*context, token) for token in tokens]
        return drawn

    def _after(self, context: tuple[int, ...], q: torch.Tensor, count: int) -> list[int]:
        """`count` tokens drawn after `context` from the distribution `q` (vocab,)."""
        if not count:
            return []
        self._device.manual_seed(hash((self._seed, *context)) % 2**63)
        return self.successive(q[None], count)[0].tolist()


class _CountedPasses:
    """A TreeChoice that records in `fronts` the nodes of each draft pass of the latest step. Some
    of these nodes may get no children."""

    def __init__(self, inner: TreeChoice) -> None:
        self._inner = inner
        self.most = inner.most
        self.fronts: list[tuple[int, ...]] = []

    def next(self, levels: int) -> Tree | GrowingTree:
        shape = self._inner.next(levels)
        self.fronts = list(shape.inner) if isinstance(shape, Tree) else []
        return shape if isinstance(shape, Tree) else _CountedShape(shape, self.fronts)

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        self._inner.learn(tree, verdict)


class _CountedShape:
    """A dynamic tree that appends the nodes of each draft pass to `fronts`."""

    def __init__(self, inner: GrowingTree, fronts: list[tuple[int, ...]]) -> None:
        self._inner = inner
        self._fronts = fronts

    @property
    def front(self) -> tuple[int, ...]:
        return self._inner.front

    @property
    def tree(self) -> Tree:
        return self._inner.tree

    def grow(self, distributions: torch.Tensor) -> tuple[int, ...]:
        self._fronts.append(self._inner.front)
        return self._inner.grow(distributions)

    def see(self, distributions: torch.Tensor, drawn: Drawn) -> None:
        self._inner.see(distributions, drawn)

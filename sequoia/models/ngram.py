"""A draft without a model. It looks up the last tokens of the text earlier in the text, and
proposes what followed them there (prompt lookup). That takes hardly any time, and pays where a text
repeats itself, as code and answers about a document do. Where nothing is found, nothing is drafted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from sequoia.algorithm.sampling import Drawn
from sequoia.algorithm.tree import Tree
from sequoia.models.cache_and_mask import DynamicTreeLayout, TreeLayout
from sequoia.models.draft import Draft, DraftContext
from sequoia.this_machine.memory import DeviceBytes

NGRAM = "ngram"  # the name of this draft in arguments and forms
LONGEST = 8  # tokens; a longer match would hardly predict better


class Followers:
    """A text, and how often each token followed each of its n-grams, for n up to LONGEST."""

    def __init__(self, text: Iterable[int] = ()) -> None:
        self.text: list[int] = []
        self._after: dict[tuple[int, ...], Counter[int]] = {}
        for token in text:
            self.append(token)

    def append(self, token: int) -> None:
        for gram in self._last():
            self._after.setdefault(gram, Counter())[token] += 1
        self.text.append(token)

    def pop(self) -> None:
        """Remove the last token."""
        token = self.text.pop()
        for gram in self._last():
            self._after[gram] -= Counter([token])  # drops a count of 0
            if not self._after[gram]:
                del self._after[gram]

    def found(self) -> Mapping[int, int]:
        """How often each token followed the longest of the text's last n-grams that occurred
        before. Empty if none did."""
        return next(filter(None, map(self._after.get, self._last())), {})

    def _last(self) -> list[tuple[int, ...]]:
        """The n-grams at the end of the text, the longest first."""
        most = min(LONGEST, len(self.text))
        return [tuple(self.text[-n:]) for n in range(most, 0, -1)]


def logits_of(found: Mapping[int, int], vocab: int) -> torch.Tensor:
    """Logits (vocab,) whose softmax at temperature 1 is the frequencies `found`. If nothing was
    found, every token is equally probable."""
    if not found:
        return torch.zeros(vocab, dtype=torch.float32)
    logits = torch.full((vocab,), -torch.inf, dtype=torch.float32)
    logits[[*found]] = torch.tensor([*found.values()], dtype=torch.float32).log()
    return logits


class NGram(Draft):
    """The lookup as a draft, with `vocab` tokens. limit: the longest text of its target."""

    name = "n-gram lookup"
    device = torch.device("cpu")

    def __init__(self, vocab: int, limit: int) -> None:
        self.vocab = vocab
        self.limit = limit

    @property
    def numbers(self) -> str:
        return self.name

    @property
    def forward_words(self) -> str:
        return "a lookup in the text so far"

    def open(self, capacity: int) -> NGramContext:
        return NGramContext(self, capacity)

    def offered(self, trees: Any) -> Any:
        is_offered = trees.most == 1 or isinstance(trees, LookedUpTrees)
        return trees if is_offered else LookedUpTrees(trees)


class NGramContext(DraftContext):
    """The text of one run. Written tokens of a tree are numbered in the order of its layout, whose
    mask tells which of them are above a node."""

    def __init__(self, model: NGram, capacity: int) -> None:
        self.model = model
        self.capacity = capacity
        self.device = model.device
        self._followers = Followers()
        self._written: list[int] = []

    @property
    def length(self) -> int:
        return len(self._followers.text)

    def needs(self, nodes: int) -> DeviceBytes:
        return Counter({self.device: 4 * nodes * (self.capacity + nodes + self.model.vocab)})

    def extend(self, tokens: Sequence[int]) -> torch.Tensor:
        for token in tokens:
            self._followers.append(token)
        return logits_of(self._followers.found(), self.model.vocab)

    def forward(
        self, tokens: Sequence[int] | torch.Tensor, layout: TreeLayout | DynamicTreeLayout
    ) -> torch.Tensor:
        first = len(self._written)
        self._written += torch.as_tensor(tokens).tolist()
        last = len(self._written)
        return torch.stack(
            [self._after(seen) for seen in (layout.mask.own[first:last, :last] == 0).tolist()]
        )

    def _after(self, seen: Sequence[bool]) -> torch.Tensor:
        """Logits (vocab,) after the text and the written tokens that are `seen`."""
        path = [token for token, is_seen in zip(self._written, seen, strict=True) if is_seen]
        logits = self.extend(path)
        for _ in path:
            self._followers.pop()
        return logits

    def keep(self, rows: Sequence[int]) -> None:
        for row in rows:
            self._followers.append(self._written[row])
        self._written = []


class LookedUpTrees:
    """A TreeChoice: the trees of another one, each cut to the nodes for which something was
    found."""

    def __init__(self, trees: Any) -> None:
        self._trees = trees
        self.most: int = trees.most

    def next(self, levels: int) -> Any:
        shape = self._trees.next(levels)
        return FoundPart(shape) if isinstance(shape, Tree) else shape

    def learn(self, tree: Tree, verdict: Any) -> None:
        self._trees.learn(tree, verdict)


class FoundPart:
    """A GrowingTree: the nodes of `planned` whose parents' distributions have tokens for them. A
    distribution that rules out no token is one for which nothing was found."""

    def __init__(self, planned: Tree) -> None:
        self._planned = planned
        self._place = [0]  # for each node, its number in `planned`
        self.tree = Tree.chain(1)
        self.front: tuple[int, ...] = (0,) if len(planned) > 1 else ()

    def grow(self, distributions: torch.Tensor) -> tuple[int, ...]:
        possible = (distributions > 0).sum(-1)
        possible[possible == distributions.shape[-1]] = 0
        counts = []
        parents = [*self.tree.parents]
        for node, most in zip(self.front, possible.tolist(), strict=True):
            children = self._planned.children[self._place[node]][:most]
            counts.append(len(children))
            parents += [node] * len(children)
            self._place += children
        added = range(len(self.tree), len(parents))
        self.tree = Tree(tuple(parents))
        self.front = tuple(n for n in added if self._planned.children[self._place[n]])
        return tuple(counts)

    def see(self, distributions: torch.Tensor, drawn: Drawn) -> None:
        """Does nothing: the tree depends on the drawn tokens only through what is found after
        them."""

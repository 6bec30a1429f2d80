"""How far the logits of a forward pass are from those of the bare model, which is the model of
`transformers` without our cache, mask and positions, in float32 or wider. Distances are in units of
the spread of the logits, their standard deviation over the vocabulary.

A Walk is a short text as a run processes it: a prefix, a tree after it, the same tree again after
one of its paths was kept, and then a single token. For these passes it is known which tokens each
row of logits depends on, and which logits the bare model gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from sequoia.algorithm.tree import Tree
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.cuda_graphs import Forward
from sequoia.models.tree_forward import TreeModel, transformers_forward, without_cudnn_attention


def wider(model: TreeModel, forward: Forward | None = None) -> TreeModel:
    """A model with the weights of `model` that computes in float32, or in float64 if `model` is not
    in half precision. forward: None for that of `transformers`."""
    other = model.with_forward(model.forward)
    other.dtype = torch.float32 if is_half(model.dtype) else torch.float64
    forward = forward or partial(transformers_forward, model.hf)
    other.forward = partial(_forward, other.dtype, forward)
    return other


def _forward(dtype: torch.dtype, forward: Forward, *given: Any) -> torch.Tensor:
    with Precision(dtype):
        return forward(*given)


class Precision(TorchFunctionMode):
    """A context in which the operations of torch get floating-point arguments of at least `dtype`:
    narrower ones are converted. Operations that write into a narrower tensor are not changed."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self._dtype = dtype

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if _writes(func):
            return func(*args, **(kwargs or {}))
        args, kwargs = tree_map(self._converted, (args, kwargs or {}))
        if func is torch._grouped_mm and self._dtype == torch.float64:  # exists up to float32 only
            return func(*tree_map(_narrowed, args), **kwargs).double()
        return func(*args, **kwargs)

    def _converted(self, value: Any) -> Any:
        if isinstance(value, torch.dtype):
            return self._dtype if self._is_narrow(value) else value
        is_narrow = isinstance(value, torch.Tensor) and self._is_narrow(value.dtype)
        return value.to(self._dtype) if is_narrow else value

    def _is_narrow(self, dtype: torch.dtype) -> bool:
        return dtype.is_floating_point and dtype.itemsize < self._dtype.itemsize


def _narrowed(value: Any) -> Any:
    is_wide = isinstance(value, torch.Tensor) and value.dtype == torch.float64
    return value.float() if is_wide else value


def _writes(func: Callable[..., Any]) -> bool:
    """Whether `func` changes its first argument, as `x.add_(y)`, `x[i] = y` and `x.data = y` do."""
    name = getattr(func, "__name__", "")
    return name in ("__set__", "__setitem__") or (name.endswith("_") and not name.endswith("__"))


EXACT = 1e-3  # the largest distance in float32 that rounding explains; faults cause larger ones
# The largest median of distances for a rounded copy (see rounded_copy.py). This is only to see that
# it is the same model: verification is exact for any draft distribution.
SANE = 0.5


def own_logits(model: TreeModel, tokens: Sequence[int]) -> torch.Tensor:
    """Logits (vocab,) in float64 after `tokens`, from the bare model with its own positions."""
    return last_own_logits(model, tokens, 1)[0]


def last_own_logits(model: TreeModel, tokens: Sequence[int], keep: int) -> torch.Tensor:
    """Logits (keep, vocab) in float64 at the last `keep` of `tokens`, from the bare model with its
    own positions."""
    return _bare_logits(model, [tokens], keep)[0, -keep:].double()


@torch.inference_mode()
def _bare_logits(model: TreeModel, texts: Sequence[Sequence[int]], keep: int) -> torch.Tensor:
    """Logits (texts, tokens, vocab) after the last `keep` tokens of `texts`, all of one length, or
    after each of their tokens if `keep` is 0."""
    ids = torch.tensor(texts, device=model.device)
    is_wider = model.dtype != model.hf.dtype  # see `wider`
    with without_cudnn_attention(), Precision(model.dtype) if is_wider else nullcontext():
        found = model.hf(input_ids=ids, use_cache=False, logits_to_keep=keep)
    return found.logits[..., : model.vocab]


def is_half(dtype: torch.dtype) -> bool:
    """Whether `dtype` is less precise than float32."""
    return dtype not in (torch.float32, torch.float64)


def distances(found: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The difference of each logit (rows, vocab) from `expected`, in spreads of its row there. A
    token that all rows rule out, with the logit -infinity, is left out."""
    possible = ~((found == -torch.inf) & (expected == -torch.inf)).all(0)
    found, expected = (one[:, possible].double() for one in (found, expected))
    return (found - expected).abs() / expected.std(-1, keepdim=True).clamp(min=1e-9)


# -- a short text as a run processes it ------------------------------------------------------------


TEXT = '''The ferry leaves at half past seven, and on most mornings the same people take it. A woman
with two dogs stands near the rail; a teacher corrects essays on her knees. "You could have told me
that yesterday," somebody says, but the engine is too loud for an answer. In winter the crossing
takes almost an hour, because the captain keeps away from the ice. Nobody minds: there is hot tea,
and the newspapers of three towns.

def average_speed(stops: list[tuple[str, float, float]]) -> dict[str, float]:
    """Kilometres per hour between each stop and the next one."""
    result = {}
    for (name, start, distance), (_, end, _) in zip(stops, stops[1:]):
        if end <= start:
            raise ValueError(f"{name}: the clock went backwards")
        result[name] = distance / (end - start) * 60
    return result

# Prices rose by 3.2% in 2019 and fell again a year later. Is that much? It depends on what you buy.
for row in sorted(table, key=lambda row: -row["price"])[:10]:
    print(row["name"], round(row["price"], 2), sep="\\t")

If the lamp does not light up, first check the plug, then the fuse. Write down the number on the
back of the box before you call us; without it we cannot find your order.
'''
TRIES = 3  # pieces of the text, in all of which a fault must appear
_RANDOM = 512  # token ids, where there is no tokenizer


class SampleText:
    """Token ids of the text, in any number of pieces. ids: TEXT in the model's own tokenizer; if
    empty, random ids. vocab: ids must be below it."""

    def __init__(self, ids: Sequence[int], vocab: int) -> None:
        known = [token for token in ids if token < vocab]
        self.ids = known or random.Random(0).choices(range(vocab), k=_RANDOM)

    def piece(self, length: int, number: int) -> list[int]:
        """The `number`th piece of `length` tokens. After its end the text starts again."""
        return [self.ids[(number * length + i) % len(self.ids)] for i in range(length)]

    def others(self, tokens: Sequence[int]) -> list[int]:
        """For each of `tokens`, another token of the text."""
        return [
            next(one for one in self.ids[i:] + self.ids if one != token)
            for i, token in enumerate(tokens, 7)
        ]


DROPPED = 2  # tokens at the end of the prefix that are dropped before the first tree


@dataclass(frozen=True)
class Walk:
    """Four passes: a prefix of `prefix` + DROPPED tokens, of which the last are dropped again; then
    `tree`; then, after its path to the node `kept` was kept, `tree` again; then, after the same
    path was kept, one token.

    A place is the number of a token, counted through all passes. There is one row of logits after
    the prefix, one for each node of each tree, and one after the last token.
    """

    prefix: int
    tree: Tree
    kept: int

    @property
    def places(self) -> int:
        """The number of tokens."""
        return self.starts[3] + 1

    @property
    def span(self) -> int:
        """The number of positions."""
        kept = self.tree.depths[self.kept] + 1
        return self.prefix + max(DROPPED, kept + self.tree.levels, 2 * kept + 1)

    @property
    def starts(self) -> tuple[int, int, int, int]:
        """The first place of each pass."""
        first = self.prefix + DROPPED
        nodes = len(self.tree)
        return 0, first, first + nodes, first + 2 * nodes

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each row of logits: the places of the tokens that it depends on, in order."""
        _, first, second, last = self.starts
        found = [tuple(range(first))]
        before = tuple(range(self.prefix))
        for start in (first, second):
            paths = [self.tree.path(node) for node in range(len(self.tree))]
            found += [(*before, *(start + node for node in path)) for path in paths]
            before = found[self.kept - len(self.tree)]
        return (*found, (*before, last))

    def tokens(self, text: Sequence[int]) -> list[int]:
        """`text` in the order of places: along each branch of a tree, a piece of the text."""
        order = sorted(range(len(self.tree)), key=self.tree.path)  # depth first
        found = [*text[: self.places]]
        for start in self.starts[1:3]:
            for i, node in enumerate(order):
                found[start + node] = text[start + i]
        return found

    def bare_logits(self, model: TreeModel, tokens: Sequence[int]) -> torch.Tensor:
        """The rows of the bare model, which gets each path as a text of its own. Shorter texts are
        padded at the end, where padding changes nothing before it."""
        longest = [
            path
            for path in self.paths
            if not any(path == other[: len(path)] != other for other in self.paths)
        ]
        texts = [[tokens[i] for i in path] for path in longest]
        most = max(map(len, texts))
        logits = _bare_logits(model, [text + text[-1:] * (most - len(text)) for text in texts], 0)
        rows = {
            path[: i + 1]: text[i] for path, text in zip(longest, logits) for i in range(len(path))
        }
        return torch.stack([rows[path] for path in self.paths])

    def logits(self, model: TreeModel, tokens: Sequence[int]) -> torch.Tensor:
        """The rows (rows, vocab) of `model`."""
        return WalkedText(self, model, tokens).rows


class WalkedText:
    """The passes of `walk` over `tokens`. rows: their logits (rows, vocab)."""

    def __init__(self, walk: Walk, model: TreeModel, tokens: Sequence[int]) -> None:
        self._walk = walk
        self._tokens = [*tokens]
        self._context = model.open(walk.places)
        self._layout = TreeLayout(self._context, walk.tree)
        self._lengths: dict[int, int] = {}  # of the prefix before each pass
        self._last_changed = len(walk.starts) - 1  # the pass in which a token was changed last
        self.rows = self._passed(self._tokens, 0)

    def again(self) -> torch.Tensor:
        """The rows once more: the same ones, unless a pass is not repeatable."""
        return self._passed(self._tokens, 0)

    def changed(self, place: int, token: int) -> torch.Tensor:
        """The rows with another token at `place`. Only its pass and later ones are repeated, and
        those whose keys and values are still of the token that was changed before."""
        tokens = [*self._tokens]
        tokens[place] = token
        since = max(i for i, start in enumerate(self._walk.starts) if start <= place)
        new = self._passed(tokens, min(since, self._last_changed))
        self._last_changed = since
        return torch.cat([self.rows[: len(self.rows) - len(new)], new])

    def _passed(self, tokens: Sequence[int], since: int) -> torch.Tensor:
        """The rows of the passes from number `since` on."""
        ends = (*self._walk.starts[1:], self._walk.places)
        context = self._context
        found = []
        for i in range(since, len(ends)):
            context.keep([])
            length = context.length - (DROPPED if i == 1 else 0)
            context.kv_cache.length = self._lengths.setdefault(i, length)
            part = tokens[self._walk.starts[i] : ends[i]]
            is_tree = i in (1, 2)
            with context.model.capturing():
                rows = (
                    context.forward(part, self._layout) if is_tree else context.extend(part)[None]
                )
            found.append(rows.clone())  # with CUDA graphs, the next pass overwrites `rows`
            if is_tree:
                context.keep(self._walk.tree.path(self._walk.kept))
        return torch.cat(found)

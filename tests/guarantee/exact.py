"""Exact output distributions of whole steps with small table models, whose next-token
distributions are all known. Independent of the verification rule: the rule under test is passed in
as a `Verifier`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import doors
import numpy as np
import torch
from doors import (
    VERIFIERS,
    Distribution,
    Enumerator,
    GrowingTree,
    Model,
    Text,
    Tree,
    Verifier,
    distribution,
    drafted,
    mutant,
    over_torch,
    step,
    verified,
)

__all__ = [
    "Distribution",
    "Enumerator",
    "Model",
    "Text",
    "distribution",
    "drafted",
    "over_torch",
    "step",
    "verified",
]


class Drawn(Enumerator):
    """An Enumerator that chooses each outcome at random. All outcomes of positive probability are
    equally likely. last: the weights that `pick` was last called with."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.last: Any = None
        self._rng = random.Random(seed)

    def choose(self, weights: Iterable[Any]) -> int:
        return self._rng.choice([index for index, weight in enumerate(weights) if weight > 0])

    def pick(self, weights: Any) -> int:
        self.last = weights
        return super().pick(weights)


def completed(part: Distribution, p: Model, length: int) -> Distribution:
    """The distribution of texts of `length` tokens if the target itself continues each shorter text
    of `part`. Longer texts are cut."""
    total: Distribution = {}
    for text, weight in part.items():
        if len(text) >= length:
            total[text[:length]] = total.get(text[:length], 0) + weight
            continue
        longer = {
            (*text, token): weight * share for token, share in enumerate(p(text).tolist()) if share
        }
        for whole, share in completed(longer, p, length).items():
            total[whole] = total.get(whole, 0) + share
    return total


def true_distribution(p: Model, length: int) -> Distribution:
    """The distribution of texts of `length` tokens that a lossless decoder must have."""
    return completed({(): Fraction(1)}, p, length)


def distance(one: Distribution, other: Distribution) -> Any:
    """Total variation distance of two distributions. Fractions give a Fraction."""
    return sum(abs(one.get(text, 0) - other.get(text, 0)) for text in one.keys() | other.keys()) / 2


# -- table models ----------------------------------------------------------------------------------


def table(seed: Hashable, vocab: int) -> Model:
    """A distribution of Fractions for every context, with some zeros. The same seed gives the same
    table."""

    @cache
    def model(context: Text) -> np.ndarray:
        rng = random.Random(f"{seed} {context}")
        weights = [rng.choice((0, 1, 2, 3, 5)) for _ in range(vocab)]
        weights[rng.randrange(vocab)] += 1
        return _frozen(
            np.array([Fraction(weight, sum(weights)) for weight in weights], dtype=object)
        )

    return model


def looked_up(seed: Hashable, vocab: int) -> Model:
    """The n-gram lookup after a short random text, in Fractions: frequencies of what followed the
    longest match. Where nothing is found, every token is equally probable."""
    rng = random.Random(f"{seed} text")
    text = [rng.randrange(vocab) for _ in range(2 * vocab)]

    @cache
    def model(context: Text) -> np.ndarray:
        found = doors.found_after((*text, *context)) or dict.fromkeys(range(vocab), 1)
        total = sum(found.values())
        return _frozen(
            np.array([Fraction(found.get(i, 0), total) for i in range(vocab)], dtype=object)
        )

    return model


def same(row: Sequence[Any]) -> Model:
    """The model whose next token is independent of the context."""
    values = _frozen(np.array(row))
    return lambda _context: values


def logits(seed: Hashable, vocab: int, spread: float = 1.5) -> Callable[[Text], torch.Tensor]:
    """Logits (vocab,) for every context, as from a language model, with standard deviation
    `spread`."""

    @cache
    def model(context: Text) -> torch.Tensor:
        rng = random.Random(f"{seed} {context}")
        return torch.tensor([rng.gauss(0, spread) for _ in range(vocab)])

    return model


def warped(
    model: Callable[[Text], torch.Tensor],
    temperature: float,
    top_p: float = 1.0,
    *,
    is_draft: bool = False,
) -> Model:
    """The distributions of `model` with `temperature` and `top_p`, computed by the code of real
    runs: (vocab,) numpy arrays, as `verify` gets them."""
    return cache(
        lambda context: _frozen(doors.warped(model(context), temperature, top_p, is_draft=is_draft))
    )


def of_transformers(pair: doors.Pair, prompt: str, temperature: float, top_p: float) -> Model:
    """The target after `prompt`, computed by `transformers` without our KV cache or tree mask."""
    ids = [*pair.encode(prompt)]

    def model(context: Text) -> torch.Tensor:
        logits = doors.bare_logits(pair.target, [*ids, *context])[-1].double()
        return nucleus_by_hand(torch.softmax(logits / temperature, -1), top_p)

    return cache(model)


def nucleus_by_hand(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    kept = torch.zeros_like(probs)
    for token in probs.argsort(descending=True).tolist():
        if kept.sum() >= top_p:
            break
        kept[token] = probs[token]
    return kept / kept.sum()


def production_models(
    seed: Hashable, vocab: int, temperature: float, top_p: float = 1.0
) -> tuple[Model, Model]:
    """p (float64) and q (float32) of a random pair."""
    p = warped(logits((seed, "p"), vocab), temperature, top_p)
    return p, warped(logits((seed, "q"), vocab), temperature, top_p, is_draft=True)


def _frozen(row: np.ndarray) -> np.ndarray:
    row.flags.writeable = False  # an attempt to change the distribution then raises an error
    return row


# -- one step --------------------------------------------------------------------------------------


def _top(_chance: Any, q: np.ndarray, counts: Sequence[int]) -> list[list[int]]:
    return [
        row[:count]
        for row, count in zip(np.argsort(-q, axis=-1, kind="stable").tolist(), counts, strict=True)
    ]


# The draw of top-k is replaced, because torch cannot hold Fractions. All other draws and all
# verifications are the real ones.
EXACT = {**VERIFIERS, "topk": mutant(VERIFIERS["topk"], draw=_top)}


def grown(
    shape: GrowingTree, verifier: Verifier, q: Model, prefix: Text, chance: Any
) -> tuple[list[int], list[Text]]:
    """`drafted` for a dynamic tree. Afterwards, `shape.tree` is the tree. `shape` sees q as floats;
    tokens are drawn from q itself, which may contain Fractions."""
    tokens = [-1]
    contexts = [prefix]
    while front := shape.front:
        rows = np.array([q(contexts[node]) for node in front])  # (front, vocab)
        seen = torch.tensor(rows.astype(float))
        drawn = verifier.draw(chance, rows, shape.grow(seen))
        shape.see(seen, drawn)
        for node, siblings in zip(front, drawn, strict=True):
            tokens += [int(token) for token in siblings]
            contexts += [(*contexts[node], int(token)) for token in siblings]
    return tokens, contexts


def grown_step(
    shape: GrowingTree,
    verifier: Verifier,
    p: Model,
    q: Model,
    chance: Any,
    prefix: Sequence[int] = (),
) -> Text:
    """`step` with a dynamic tree."""
    tokens, contexts = grown(shape, verifier, q, tuple(prefix), chance)
    return verified(shape.tree, tokens, contexts, verifier, p, q, chance)


def steps(count: int, tree: Tree, verifier: Verifier, p: Model, q: Model, chance: Any) -> Text:
    """The tokens that `count` consecutive steps emit."""
    text: Text = ()
    for _ in range(count):
        text = step(tree, verifier, p, q, chance, text)
    return text


def error(
    tree: Tree, verifier: Verifier, p: Model, q: Model, count: int = 1, chance: Any = Enumerator
) -> Any:
    """The distance between the output distribution of `count` steps and the target distribution.
    `completed` gives all texts one length. 0 for a lossless decoder."""
    length = tree.levels + 1 if count == 1 else count * tree.levels
    found = distribution(partial(steps, count, tree, verifier, p, q), chance)
    return distance(completed(found, p, length), true_distribution(p, length))


def fits(tree: Tree, verifier: Verifier, vocab: int) -> bool:
    """Whether `vocab` tokens are enough to draft `tree`. SpecInfer draws siblings independently, so
    for it any number is enough. For the other verifiers, siblings must be distinct."""
    return verifier.key == "specinfer" or max(map(len, tree.children)) <= vocab

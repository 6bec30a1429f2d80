"""The two kinds of models that are tested. Toy: distributions p and q over a few words, which do
not depend on the text so far. PairRows: the cached next-token distributions of a pair after any
text, from the reference forward pass over the whole text, without our KV cache or tree mask. There
the target runs in float32. Verification is lossless for any q, so the draft's precision does not
matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.errors import BadSamplingParams
from sequoia.models.compare_logits import is_half, own_logits, wider
from sequoia.models.draft import Draft
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.validate_input import shown

LEAST_WORDS = 2
MOST_WORDS = 8
SUM_OFF_BY = 1e-6  # a sum this close to 1 is accepted, because the numbers may be rounded
MOST_CHARS = 200


@dataclass(frozen=True, eq=False)
class Toy:
    """A toy pair. target: p, (vocab,) float64. draft: q, (vocab,) float32. Both sum to 1."""

    target: np.ndarray
    draft: np.ndarray

    @classmethod
    def parse(cls, p: Any, q: Any) -> Toy:
        """The toy with p and q as typed: numbers or fractions, separated by commas or spaces.
        Raises BadSamplingParams with a message that names p or q and the wrong value."""
        target = typed_distribution(p, "p")
        draft = typed_distribution(q, "q")
        if len(draft) != len(target):
            raise BadSamplingParams(
                f"q: {len(draft)} numbers; enter {len(target)} numbers, as for p"
            )
        return cls(target, draft.astype(np.float32))

    @property
    def vocab(self) -> int:
        return len(self.target)

    def p(self, _context: Text) -> np.ndarray:
        return self.target

    def q(self, _context: Text) -> np.ndarray:
        return self.draft


def typed_distribution(text: Any, name: str) -> np.ndarray:
    """The distribution that `text` lists: (words,) float64, sums to 1. Raises BadSamplingParams
    with a message that begins with `name`."""
    if not isinstance(text, str) or len(text) > MOST_CHARS:
        found = f"{len(text)} characters" if isinstance(text, str) else shown(text)
        raise BadSamplingParams(
            f"{name}: {found}; enter up to {MOST_CHARS} characters, such as 0.5, 0.3, 0.2"
        )
    parts = text.replace(",", " ").split()
    if not LEAST_WORDS <= len(parts) <= MOST_WORDS:
        raise BadSamplingParams(
            f"{name}: {len(parts)} numbers; enter {LEAST_WORDS} to {MOST_WORDS} numbers, such as "
            "0.5, 0.3, 0.2"
        )
    values = np.array([_probability(part, name) for part in parts])
    total = values.sum()
    if abs(total - 1) > SUM_OFF_BY:
        raise BadSamplingParams(f"{name}: the numbers sum to {total:.7g} instead of 1")
    return values / total


def _probability(part: str, name: str) -> float:
    top, slash, below = part.partition("/")
    try:
        value = float(top) / float(below) if slash else float(part)
    except (ValueError, ZeroDivisionError):
        raise BadSamplingParams(f"{name}: {shown(part)} is not a number") from None
    if not 0 <= value <= 1:  # also true if the value is NaN
        raise BadSamplingParams(f"{name}: {shown(part)} is not a number from 0 to 1")
    return value


MOST_BYTES = 128 * 2**20  # cached distributions of each model
Rows = Callable[[torch.Tensor, SamplingParams], torch.Tensor]


class PairRows:
    """p(text) and q(text): the distributions of `pair` after `prompt` and then `text`. Raises
    BadPrompt as `Pair.encode` does. `p` and `q` raise BadModel if their model overflows."""

    def __init__(self, pair: Pair, prompt: str, params: SamplingParams) -> None:
        ids = pair.encode(prompt)
        target = wider(pair.target) if is_half(pair.target.dtype) else pair.target
        self.vocab = pair.target.vocab
        self.p = _kept_rows(target, ids, params, target_rows)
        self.q = _kept_rows(pair.draft, ids, params, draft_rows)


def _logits(model: Draft, tokens: Sequence[int]) -> torch.Tensor:
    if isinstance(model, TreeModel):
        return own_logits(model, tokens)
    return model.open(len(tokens)).extend(tokens).double()


def _kept_rows(model: Draft, ids: Text, params: SamplingParams, rows: Rows) -> Model:
    """One model's distributions (vocab,) by text. Caches the most recently used ones."""

    @lru_cache(maxsize=MOST_BYTES // (8 * model.vocab))
    def row(context: Text) -> np.ndarray:
        found = rows(_logits(model, [*ids, *context]), params).cpu().numpy()
        found.flags.writeable = False
        return found

    return row


Text = tuple[int, ...]
Model = Callable[[Text], Any]  # context -> distribution of the next token (vocab,)


def over_torch(verifier: Verifier) -> Verifier:
    """`verifier` for models that return numpy arrays. Its draw gets torch rows, as in real runs."""
    return replace(
        verifier, draw=lambda chance, q, counts: verifier.draw(chance, torch.tensor(q), counts)
    )


def drafted(
    tree: Tree, verifier: Verifier, q: Model, prefix: Text, chance: Any
) -> tuple[list[int], list[Text]]:
    """(tokens, contexts), each with an entry for every node. A node's context is the text up to and
    including its token. The root's context is `prefix`; its entry in tokens is -1. A node's
    children are drawn from q(its context), node by node, breadth first."""
    tokens = [-1] * len(tree)
    contexts = [prefix] * len(tree)
    for node, children in enumerate(tree.children):
        if children:
            drawn = verifier.draw(chance, q(contexts[node])[None], [len(children)])[0]
            for child, token in zip(children, drawn, strict=True):
                tokens[child] = int(token)
                contexts[child] = (*contexts[node], int(token))
    return tokens, contexts


def step(
    tree: Tree, verifier: Verifier, p: Model, q: Model, chance: Any, prefix: Sequence[int] = ()
) -> Text:
    """`prefix` and the tokens that one step emits after it."""
    tokens, contexts = drafted(tree, verifier, q, tuple(prefix), chance)
    return verified(tree, tokens, contexts, verifier, p, q, chance)


def verified(
    tree: Tree,
    tokens: Sequence[int],
    contexts: Sequence[Text],
    verifier: Verifier,
    p: Model,
    q: Model,
    chance: Any,
) -> Text:
    """The prefix and the tokens that the step emits. tokens, contexts: as `drafted` returns
    them."""
    verdict = verifier.verify(
        tree, tokens, lambda node: p(contexts[node]), lambda node: q(contexts[node]), chance
    )
    return (*contexts[verdict.path[-1]], verdict.bonus)

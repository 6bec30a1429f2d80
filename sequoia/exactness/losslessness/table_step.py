"""One decoding step with models that are functions from a text to the distribution of its next
token. Drawing and verifying use the code of real runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verifier

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

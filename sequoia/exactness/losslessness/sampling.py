"""Samples from a decoder that drafts and verifies with the code of real runs, but takes p and q
from functions of the text (see `Models`). So the samples do not test the forward pass over a tree,
or the KV cache.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import verifier_named
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.errors import BadSamplingParams, BadTree
from sequoia.exactness.losslessness.broken import BUGS, Bug
from sequoia.exactness.losslessness.broken.bug import ChanceOfStep, every_step
from sequoia.exactness.losslessness.comparison import Cells
from sequoia.exactness.losslessness.table_step import Model, Text, over_torch, step
from sequoia.validate_input import shown


class Models(Protocol):
    """Where p and q come from: a Toy, or PairRows (a pair of models after a prompt)."""

    @property
    def vocab(self) -> int: ...
    @property
    def p(self) -> Model: ...
    @property
    def q(self) -> Model: ...


@dataclass(frozen=True)
class Decoding:
    """How a text is decoded. verifier: a verifier's key. bug: None for the correct decoder."""

    tree: Tree
    verifier: str
    bug: Bug | None = None

    def __post_init__(self) -> None:
        rule = verifier_named(self.verifier)
        if self.bug and self.verifier not in self.bug.verifiers:
            raise BadSamplingParams(
                f"verifier: {rule.label} cannot have this bug; choose one of "
                f"{', '.join(sorted(self.bug.verifiers))}"
            )

    @property
    def rule(self) -> Verifier:
        """The verifier, changed by the bug if the bug is in the verifier."""
        rule = over_torch(verifier_named(self.verifier))
        return self.bug.wrap(rule) if self.bug else rule

    def seeded(self, seed: int) -> ChanceOfStep:
        """The randomness of one sample."""
        return self.bug.seeded(seed) if self.bug else every_step(Seeded(seed))

    def require_words(self, vocab: int) -> None:
        """Raises BadTree if a node has more children than there are tokens."""
        widest = max(map(len, self.tree.children))
        if widest > vocab:
            raise BadTree(f"a node of the tree has {widest} children, but there are {vocab} tokens")


def bug_named(key: object) -> Bug | None:
    """The bug with this key, None for "none". Raises BadSamplingParams."""
    if key == "none":
        return None
    if not isinstance(key, str) or key not in BUGS:
        raise BadSamplingParams(f"bug: {shown(key)} is not one of none, {', '.join(BUGS)}")
    return BUGS[key]


def samples(models: Models, decoding: Decoding, cells: Cells, seed: int) -> Iterator[int]:
    """Yields without end: for each sample, the index of its cell in `cells.all`. `seed` determines
    all samples. Raises BadTree as `Decoding.require_words` does."""
    decoding.require_words(models.vocab)
    rule = decoding.rule
    # Only the first `cells.places` tokens are counted. A rule that walks down from the root has
    # chosen them before it uses p and q of later positions, so those may be wrong. A rule that
    # starts at the leaves (its `chances` is None) needs p and q at all positions.
    places = math.inf if rule.chances is None else cells.places
    p = _up_to(models.p, places)
    q = _up_to(models.q, places)
    seeds = random.Random(f"samples {seed}")
    while True:
        chance_of_step = decoding.seeded(seeds.getrandbits(62))
        text: Text = ()
        cell = None
        while cell is None:
            text = step(decoding.tree, rule, p, q, chance_of_step(), text)
            cell = cells.find(text)
        yield cell


def _up_to(model: Model, places: float) -> Model:
    """`model`, but after texts of `places` or more tokens it returns a wrong distribution, to save
    forward passes. Tokens drawn from that distribution are not counted."""
    return lambda context: model(context if len(context) < places else ())

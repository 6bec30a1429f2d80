"""One test of losslessness. The samples come from a decoder that drafts and verifies with the code
of real runs, but takes p and q from functions of the text (see `Models`). So they do not test the
forward pass over a tree, or the KV cache.

What is counted is fixed before the first sample is drawn. The exact
output of a decoder with a bug shows how large its bias is, and how likely the test is to find it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

import numpy as np

from sequoia.algorithm.tree import Tree
from sequoia.exactness.losslessness.bugs import BUGS, WALKING, Bug, Known, every_step
from sequoia.exactness.losslessness.comparison import Cells, Comparison, Grouping
from sequoia.exactness.losslessness.enumerator import (
    Distribution,
    Enumerator,
    TooManyOutcomes,
    distribution,
)
from sequoia.exactness.losslessness.settings import TOY, Decoding, Models, Setting
from sequoia.exactness.losslessness.tested_models import Model, PairRows, Text, Toy, step
from sequoia.models.pair import Pair


@dataclass(frozen=True)
class Findable:
    """How well a test with the cells of `grouping` would find a bug. shares: the exact probability
    of each cell for the output of the decoder with the bug, or None if unknown."""

    bug: Bug
    grouping: Grouping
    shares: tuple[float, ...] | None = None

    @cached_property
    def distance(self) -> float | None:
        """The total variation between the broken decoder's output and the target's distribution,
        over the cells."""
        return None if self.shares is None else self.grouping.distance(self.shares)

    @cached_property
    def power(self) -> float | None:
        """Roughly the probability that the test finds the bug."""
        return None if self.shares is None else self.grouping.power(self.shares)

    def after(self, draws: int) -> Findable:
        """The same bug and shares, for a test that has ended after `draws` samples."""
        return replace(self, grouping=replace(self.grouping, draws=draws))


class LosslessnessTest:
    """One test of `setting`. pair: needed unless the setting is a toy; ValueError without it.
    Raises BadPrompt, BadTree or BadSamplingParams for a bad setting, and BadModel if the target
    overflows."""

    def __init__(self, setting: Setting, pair: Pair | None = None) -> None:
        self.setting = setting
        decoding = setting.decoding  # may raise, so it comes before the slow work on a pair
        self._models = _models(setting, pair)
        decoding.require_words(self._models.vocab)
        self.cells = Cells(self._models.p, setting.places, setting.top(self._models))
        shares = tuple(cell.share for cell in self.cells.all)
        self.grouping = Grouping(shares, setting.samples)

    def comparisons(self, batch: int) -> Iterator[Comparison]:
        """After every `batch` samples, and at the end, yields a comparison of the counts so far.
        Only the verdict of the last comparison is valid (see `Comparison`)."""
        counts = [0] * len(self.cells.all)
        drawn = samples(self._models, self.setting.decoding, self.cells, self.setting.seed)
        left = self.setting.samples
        while left:
            for cell in islice(drawn, min(batch, left)):
                counts[cell] += 1
            left -= min(batch, left)
            yield Comparison(self.grouping, tuple(counts))

    def findable(self) -> tuple[Findable, ...]:
        """How well this test would find each bug that its verifier can have."""
        verifier = self.setting.verifier
        return tuple(self.find(bug) for bug in BUGS.values() if verifier in bug.verifiers)

    def find(self, bug: Bug) -> Findable:
        """How well this test would find `bug`."""
        decoding = replace(self.setting.decoding, bug=bug)
        shares = output_shares(self._models, decoding, self.cells)
        return Findable(bug, self.grouping, None if shares is None else tuple(shares))


def _models(setting: Setting, pair: Pair | None) -> Models:
    if setting.where == TOY:
        return setting.toy
    if pair is None:
        raise ValueError("a setting with a prompt needs a pair")
    return PairRows(pair, setting.prompt, setting.params)


# -- samples ---------------------------------------------------------------------------------------


def samples(models: Models, decoding: Decoding, cells: Cells, seed: int) -> Iterator[int]:
    """Yields without end: for each sample, the index of its cell in `cells.all`. `seed` determines
    all samples. Raises BadTree as `Decoding.require_words` does."""
    decoding.require_words(models.vocab)
    rule = decoding.rule
    # Only the first `cells.places` tokens are counted. A rule that walks down from the root has
    # chosen them before it uses p and q of later positions, so those may be wrong. A rule that
    # starts at the leaves needs p and q at all positions.
    places = math.inf if rule.from_leaves else cells.places
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


# -- the exact output distribution of a decoder ----------------------------------------------------


MOST_OUTCOMES = 20_000  # combinations of random outcomes; this many take some seconds
_ONE_CHILD = Tree.chain(2)


def output_shares(models: Models, decoding: Decoding, cells: Cells) -> list[float] | None:
    """The exact probability of each cell for the output of `decoding`, or None if it cannot be
    computed.

    For a toy, all random outcomes are enumerated. That fails if there are more than MOST_OUTCOMES,
    or if the bug is noise in float16 and a node has several children. For a pair, only the first
    token can be computed. The tree must be a root with one child, and the verifier in WALKING.
    """
    if isinstance(models, Toy):
        return _of_toy(models, decoding, cells)
    if cells.places == 1 and decoding.tree == _ONE_CHILD and decoding.verifier in WALKING:
        first = first_token(models, decoding.bug)
        return cells.shares({(token,): share for token, share in enumerate(first.tolist())})
    return None


def first_token(models: Models, bug: Bug | None) -> np.ndarray:
    """The distribution (vocab,) of the first token if the root's only child is a leaf."""
    p = models.p(())
    q = models.q(()).astype(p.dtype)
    q = q / q.sum()
    return bug.output(Known(p, q, bug.drawn(q))) if bug else p


def _of_toy(toy: Toy, decoding: Decoding, cells: Cells) -> list[float] | None:
    try:
        if decoding.bug and decoding.bug.is_joint:
            whole = distribution(partial(_whole_text, toy, decoding, cells), most=MOST_OUTCOMES)
        else:
            one = distribution(partial(_one_step, toy, decoding), most=MOST_OUTCOMES)
            whole = _repeated(one, cells.places)
    except TooManyOutcomes:
        return None
    return cells.shares(whole)


def _one_step(toy: Toy, decoding: Decoding, chance: Enumerator) -> Text:
    enumerated = decoding.bug.enumerated if decoding.bug else every_step
    return step(decoding.tree, decoding.rule, toy.p, toy.q, enumerated(chance)())


def _whole_text(toy: Toy, decoding: Decoding, cells: Cells, chance: Enumerator) -> Text:
    assert decoding.bug is not None
    chance_of_step = decoding.bug.enumerated(chance)
    text: Text = ()
    while len(text) < cells.places:
        text = step(decoding.tree, decoding.rule, toy.p, toy.q, chance_of_step(), text)
    return text[: cells.places]


def _repeated(one: Distribution, length: int) -> Distribution:
    """The distribution of the first `length` tokens of a text. one: the distribution of the tokens
    of a step, the same at every step."""
    done: Distribution = {}
    going: Distribution = {(): 1.0}
    while going:
        longer: Distribution = {}
        for text, weight in going.items():
            for new, share in one.items():
                both = (*text, *new)[:length]  # pyright: ignore[reportGeneralTypeIssues]
                total = done if len(both) == length else longer
                total[both] = total.get(both, 0.0) + weight * float(share)
        going = longer
    return done

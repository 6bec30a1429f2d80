"""The exact output distribution of a decoder. It shows how large a bug's bias is, and how likely
the test is to find the bug, before anything is sampled."""

from __future__ import annotations

from functools import partial

import numpy as np

from sequoia.algorithm.tree import Tree
from sequoia.exactness.losslessness.broken import Bug
from sequoia.exactness.losslessness.broken.bug import WALKING, Known, every_step
from sequoia.exactness.losslessness.cells import Cells
from sequoia.exactness.losslessness.enumerator import (
    Distribution,
    Enumerator,
    TooManyOutcomes,
    distribution,
)
from sequoia.exactness.losslessness.sampling import Decoding, Models
from sequoia.exactness.losslessness.table_step import Text, step
from sequoia.exactness.losslessness.toy import Toy

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

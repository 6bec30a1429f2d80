"""Bug: a deliberate error in the randomness of a sample or in a verifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sequoia.algorithm.sampling import Chance, Seeded
from sequoia.algorithm.verifiers import SEQUOIA, SPECINFER, TRAVERSAL
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.exactness.losslessness.enumerator import Enumerator

# verifiers that accept a token if a uniform random number is below a probability
WALKING = frozenset({SEQUOIA.key, SPECINFER.key, TRAVERSAL.key})
DISTINCT = frozenset({SEQUOIA.key, TRAVERSAL.key})  # draw children without replacement

# Called before each step of one sample. Returns the source of randomness for the step.
ChanceOfStep = Callable[[], Chance]


@dataclass(frozen=True)
class Known:
    """p and q (vocab,) at a root whose only child is a leaf. drawn (vocab,): the distribution from
    which the child's token is really drawn; q unless a bug changes it."""

    p: np.ndarray
    q: np.ndarray
    drawn: np.ndarray

    @property
    def accepted(self) -> np.ndarray:
        """(vocab,): the probability that each token is drawn and accepted."""
        share = np.divide(self.p, self.q, out=np.ones_like(self.p), where=self.q > 0)
        return self.drawn * np.minimum(share, 1)

    @property
    def residual(self) -> np.ndarray:
        """(vocab,): the distribution of the token after a rejection."""
        rest = np.maximum(self.p - self.q, 0)
        return rest / rest.sum() if rest.any() else self.p


def right_output(known: Known) -> np.ndarray:
    """The distribution (vocab,) of the first token if verification is correct. It is p if the child
    is drawn from q."""
    return known.accepted + (1 - known.accepted.sum()) * known.residual


def every_step(chance: Chance) -> ChanceOfStep:
    """The same source of randomness at every step, as in real runs."""
    return lambda: chance


@dataclass(frozen=True)
class Bug:
    """key: the bug's name in requests and files. verifiers: the keys of the verifiers that can have
    the bug.

    The other fields default to correct behaviour; a bug replaces at least one of them.
    `seeded(seed)`: the randomness of one sample. `enumerated(enumerator)`: the same if an
    Enumerator chooses the random outcomes. `wrap`: changes the verifier. `drawn(q)`: the
    distribution of a single child's token. `output(known)`: the exact distribution of the first
    token. is_joint: whether a step depends on earlier steps beyond the text that they emitted.
    """

    key: str
    verifiers: frozenset[str]
    seeded: Callable[[int], ChanceOfStep] = lambda seed: every_step(Seeded(seed))
    enumerated: Callable[[Enumerator], ChanceOfStep] = every_step
    wrap: Callable[[Verifier], Verifier] = lambda verifier: verifier
    drawn: Callable[[np.ndarray], np.ndarray] = lambda q: q
    output: Callable[[Known], np.ndarray] = right_output
    is_joint: bool = False

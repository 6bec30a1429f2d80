"""Bug: a deliberate error in the randomness of a sample or in a verifier.

Historical bugs, reproduced on purpose to show that the losslessness test finds them. BUGS has
all of them by key; only that test can use them. Their words are in ui/words/losslessness.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.sampling import Chance, Drawn, Seeded
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import SEQUOIA, SPECINFER, TRAVERSAL
from sequoia.algorithm.verifiers.verifier import DistributionOf, Verdict, Verifier, Verify
from sequoia.exactness.losslessness.enumerator import Enumerator, TooManyOutcomes

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


# -- noise in float16: children are drawn as the argmax of log(u) / q, computed in float16 ---------

VALUES = 2048  # a uniform float16 number is k / 2048, with k from 0 to 2047
_LOGS = (torch.arange(VALUES) / VALUES).half().log().numpy()
TOKENS_AT_ONCE = 4096
NEVER = -200.0  # `first_drawn` ignores scores below it; the best score is hardly ever so low


class Float16Race(Seeded):
    """Draws children by an exponential race (see Seeded.successive) with noise in float16."""

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        noise = torch.randint(0, VALUES, q.shape, generator=self._device)
        negative = -scores(noise, q).float().numpy()
        if max(counts) == 1:  # a faster way; of equal scores, argmin too takes the first
            first = negative.argmin(-1).tolist()
            return [[token][:count] for token, count in zip(first, counts, strict=True)]
        order = negative.argsort(-1, kind="stable").tolist()
        return [row[:count] for row, count in zip(order, counts, strict=True)]


def scores(noise: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """log(u) / q in float16 for u = noise / VALUES; the token with the highest score is drawn."""
    return torch.from_numpy(_LOGS[noise.numpy()]) / q.half()


def first_drawn(q: np.ndarray) -> np.ndarray:
    """The distribution (vocab,) of the first token that the race draws for q (vocab,), exact except
    for draws in which every score is below NEVER. Of equal scores, the token with the lower id is
    first."""
    parts = [_high_scores(q, first) for first in range(0, len(q), TOKENS_AT_ONCE)]
    token, rank, score = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((-token, score))
    weights = _chances_of_the_best(token[order], rank[order], len(q))
    found = np.bincount(token[order], weights, len(q))
    return found / found.sum()


def _high_scores(q: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All possible scores of at least NEVER, for the TOKENS_AT_ONCE tokens from `first` on. Returns
    three arrays with an entry for each score: its token, its rank k (its u is k / VALUES, never 0),
    and the score. All scores of one token are equally probable."""
    some = torch.tensor(q[first : first + TOKENS_AT_ONCE], dtype=torch.float32)[:, None]
    all_scores = scores(torch.arange(VALUES)[None], some).float().numpy()  # increasing in u
    token, rank = np.nonzero(all_scores >= NEVER)
    return token + first, rank, all_scores[token, rank]


def _chances_of_the_best(token: np.ndarray, rank: np.ndarray, tokens: int) -> np.ndarray:
    """For each score, the probability that its token gets this score and wins. The highest score
    wins; of equal scores, that of the token with the lowest id. token, rank: as from
    `_high_scores`, but sorted so that each score loses to all later ones. tokens: the size of the
    vocabulary."""
    # by token: how many scores are below NEVER; at least one, because u = 0 gives minus infinity
    below = VALUES - np.bincount(token, minlength=tokens)
    gain = np.log1p(1 / rank)
    logs = np.log(below).sum() + np.cumsum(gain) - gain
    others = logs - np.log(rank) - (tokens - 1) * np.log(VALUES)
    return np.exp(np.minimum(others, 0)) / VALUES


class Float16Odds:
    """The race of Float16Race, with outcomes that an Enumerator chooses. For nodes with one child
    only."""

    def __init__(self, chance: Enumerator) -> None:
        self._chance = chance
        self.accept = chance.accept
        self.pick = chance.pick
        self.independent = chance.independent

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        if max(counts) > 1:
            raise TooManyOutcomes("the race in float16 is enumerated for single children only")
        drawn = [self._chance.choose(first_drawn(row.numpy()).tolist()) for row in q]
        return [[token][:count] for token, count in zip(drawn, counts, strict=True)]


FLOAT16_NOISE = Bug(
    key="float16",
    verifiers=DISTINCT,
    seeded=lambda seed: every_step(Float16Race(seed)),
    enumerated=lambda chance: every_step(Float16Odds(chance)),
    drawn=first_drawn,
)


# -- children with a small q are dropped after they were drawn -------------------------------------


LEAST_Q = 0.1  # children with a smaller q are dropped


def dropping(verifier: Verifier) -> Verifier:
    """`verifier`, given only the children that were kept."""
    return replace(verifier, verify=partial(_verify_what_is_kept, verifier.verify))


def _verify_what_is_kept(
    verify: Verify,
    tree: Tree,
    tokens: Sequence[int],
    p: DistributionOf,
    q: DistributionOf,
    chance: Chance,
) -> Verdict:
    kept = _kept(tree, tokens, q)
    small = Tree(tuple(kept.index(tree.parents[node]) if node else -1 for node in kept))
    verdict = verify(
        small,
        [tokens[node] for node in kept],
        lambda node: p(kept[node]),
        lambda node: q(kept[node]),
        chance,
    )
    return replace(verdict, path=tuple(kept[node] for node in verdict.path), trials=())


def _kept(tree: Tree, tokens: Sequence[int], q: DistributionOf) -> list[int]:
    """The nodes that are not dropped. If a node is dropped, so are all its descendants."""
    kept = [0]
    for node in range(1, len(tree)):
        parent = tree.parents[node]
        if parent in kept and q(parent)[tokens[node]] >= LEAST_Q:
            kept.append(node)
    return kept


def _output_if_dropped(known: Known) -> np.ndarray:
    """As `right_output`, but if the child is dropped, the token is drawn from p."""
    is_kept = known.q >= LEAST_Q
    accepted = np.where(is_kept, known.accepted, 0)
    dropped = known.drawn[~is_kept].sum()
    rejected = 1 - dropped - accepted.sum()
    return accepted + dropped * known.p + rejected * known.residual


DROPPED_CHILDREN = Bug(
    key="dropped",
    verifiers=WALKING,
    wrap=dropping,
    output=_output_if_dropped,
)


# -- the last token is always drawn from p, also after a rejection ---------------------------------


# picks a placeholder, which `_verify_and_pick` replaces
_NO_TOKEN: Any = SimpleNamespace(pick=lambda _: 0)


def ending_with_p(verifier: Verifier) -> Verifier:
    """`verifier`, with its last token drawn from p instead of the residual."""
    return replace(verifier, verify=partial(_verify_and_pick, verifier.verify))


def _verify_and_pick(
    verify: Verify,
    tree: Tree,
    tokens: Sequence[int],
    p: DistributionOf,
    q: DistributionOf,
    chance: Chance,
) -> Verdict:
    verdict = verify(tree, tokens, p, q, Mixed(chance, chance, _NO_TOKEN))
    return replace(verdict, bonus=chance.pick(p(verdict.path[-1])))


def _output(known: Known) -> np.ndarray:
    return known.accepted + (1 - known.accepted.sum()) * known.p


LAST_TOKEN_FROM_P = Bug(
    key="last-token",
    verifiers=WALKING,
    wrap=ending_with_p,
    output=_output,
)


# -- random numbers reused at each step ------------------------------------------------------------


class Mixed:
    """A Chance that drafts with one source of randomness, accepts with another, and picks the last
    token of a step with a third."""

    def __init__(self, drafting: Any, accepting: Any, picking: Any) -> None:
        self.without_replacement = drafting.without_replacement
        self.independent = drafting.independent
        self.accept = accepting.accept
        self.pick = picking.pick


def _same_draft_noise(seed: int) -> ChanceOfStep:
    fresh = Seeded(seed)
    return lambda: Mixed(Seeded(seed + 1), fresh, fresh)


def _same_u(seed: int) -> ChanceOfStep:
    fresh = Seeded(seed)
    return lambda: Mixed(fresh, Seeded(seed + 1), fresh)


def _enumerated_draft_noise(chance: Enumerator) -> ChanceOfStep:
    remembered: list[Drawn] = []
    return lambda: Mixed(RepeatedDrafts(chance, remembered), chance, chance)


def _enumerated_u(chance: Enumerator) -> ChanceOfStep:
    remembered: list[UnknownU] = []
    return lambda: Mixed(chance, RepeatedU(chance, remembered), chance)


class RepeatedDrafts:
    """Drafts in one step the same tokens as in the first step. This works only for a Toy
    (tested_models.py): its q does not depend on the text, so reused random numbers draw the same
    tokens again. remembered: the draws of the first step, shared by all steps of a sample."""

    def __init__(self, chance: Enumerator, remembered: list[Drawn]) -> None:
        self._chance = chance
        self._remembered = remembered
        self._turn = 0

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        return self._repeated(self._chance.without_replacement, q, counts)

    def independent(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        return self._repeated(self._chance.independent, q, counts)

    def _repeated(
        self, draw: Callable[..., Drawn], q: torch.Tensor, counts: Sequence[int]
    ) -> Drawn:
        if self._turn == len(self._remembered):
            self._remembered.append(draw(q, counts))
        self._turn += 1
        return self._remembered[self._turn - 1]


@dataclass
class UnknownU:
    """A random number u of which we only know that it is uniform on [low, high)."""

    low: Any = 0
    high: Any = 1

    def is_below(self, share: Any, chance: Enumerator) -> bool:
        """Whether u < share. `chance` chooses the outcome, and [low, high) is narrowed to the u
        that fit it."""
        middle = min(max(share, self.low), self.high)
        is_below = chance.choose((self.high - middle, middle - self.low)) == 1
        if is_below:
            self.high = middle
        else:
            self.low = middle
        return is_below


class RepeatedU:
    """Accepts in one step. The n-th `accept` of every step uses the same u. remembered: the u used
    so far, shared by all steps of a sample."""

    def __init__(self, chance: Enumerator, remembered: list[UnknownU]) -> None:
        self._chance = chance
        self._remembered = remembered
        self._turn = 0

    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        if self._turn == len(self._remembered):
            self._remembered.append(UnknownU())
        u = self._remembered[self._turn]
        self._turn += 1
        share = min(r / d, 1) if d > 0 else int(r > 0)
        return u.is_below(share, self._chance), None


REUSED_DRAFT_NOISE = Bug(
    key="draft-noise",
    verifiers=WALKING,
    seeded=_same_draft_noise,
    enumerated=_enumerated_draft_noise,
    is_joint=True,
)
REUSED_U = Bug(
    key="walk-u",
    verifiers=WALKING,
    seeded=_same_u,
    enumerated=_enumerated_u,
    is_joint=True,
)

BUGS = {
    bug.key: bug
    for bug in (FLOAT16_NOISE, REUSED_DRAFT_NOISE, REUSED_U, DROPPED_CHILDREN, LAST_TOKEN_FROM_P)
}

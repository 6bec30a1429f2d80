"""A bug on purpose: the last token of a step is always drawn from p. After a rejection, a correct
verifier draws it from the residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sequoia.algorithm.sampling import Chance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import DistributionOf, Verdict, Verifier, Verify
from sequoia.exactness.losslessness.broken.bug import WALKING, Bug, Known


class _NoPick:
    """A Chance whose `pick` returns a placeholder. `verify_and_pick` draws the last token later."""

    def __init__(self, chance: Chance) -> None:
        self.accept = chance.accept
        self.without_replacement = chance.without_replacement
        self.independent = chance.independent

    def pick(self, weights: Any) -> int:  # noqa: ARG002  the result is replaced
        return 0


def ending_with_p(verifier: Verifier) -> Verifier:
    """`verifier`, with its last token drawn from p instead of the residual."""
    return replace(verifier, verify=_then_from_p(verifier.verify))


def _then_from_p(verify: Verify) -> Verify:
    def verify_and_pick(
        tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chance: Chance
    ) -> Verdict:
        verdict = verify(tree, tokens, p, q, _NoPick(chance))
        return replace(verdict, bonus=chance.pick(p(verdict.path[-1])))

    return verify_and_pick


def _output(known: Known) -> np.ndarray:
    return known.accepted + (1 - known.accepted.sum()) * known.p


LAST_TOKEN_FROM_P = Bug(
    key="last-token",
    label="last token drawn as if no guess was rejected",
    about=(
        "After all children of a node are rejected, the target's own token is drawn from p instead "
        "of the residual distribution. Tokens to which the draft gives too much probability get a "
        "second chance, so they are emitted too often."
    ),
    shows="Wherever the draft differs from the target. The bias shows even in the first token.",
    hides=(
        "Where p and q agree, hardly any token is rejected. At temperature 0, p and the "
        "residual are the same single token: every greedy test passes."
    ),
    verifiers=WALKING,
    wrap=ending_with_p,
    output=_output,
)

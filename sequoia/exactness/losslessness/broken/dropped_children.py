"""A bug on purpose: children with a small q are dropped after they were drawn. The step is then
verified as if they had never been drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sequoia.algorithm.sampling import Chance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import DistributionOf, Verdict, Verifier, Verify
from sequoia.exactness.losslessness.broken.bug import WALKING, Bug, Known

LEAST_Q = 0.1  # children with a smaller q are dropped


def dropping(verifier: Verifier) -> Verifier:
    """`verifier`, given only the children that were kept."""
    return replace(verifier, verify=_after_dropping(verifier.verify))


def _after_dropping(verify: Verify) -> Verify:
    def verify_what_is_kept(
        tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chance: Chance
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

    return verify_what_is_kept


def _kept(tree: Tree, tokens: Sequence[int], q: DistributionOf) -> list[int]:
    """The nodes that are not dropped. If a node is dropped, so are all its descendants."""
    kept = [0]
    for node in range(1, len(tree)):
        parent = tree.parents[node]
        if parent in kept and q(parent)[tokens[node]] >= LEAST_Q:
            kept.append(node)
    return kept


def _output(known: Known) -> np.ndarray:
    """As `right_output` in bug.py, but if the child is dropped, the token is drawn from p."""
    is_kept = known.q >= LEAST_Q
    accepted = np.where(is_kept, known.accepted, 0)
    dropped = known.drawn[~is_kept].sum()
    rejected = 1 - dropped - accepted.sum()
    return accepted + dropped * known.p + rejected * known.residual


DROPPED_CHILDREN = Bug(
    key="dropped",
    label="unlikely children dropped after the draw",
    about=(
        "A child with q below 0.1 is dropped after it was drawn, to save a node of the tree. The "
        "step is verified as if the child had never been drawn. Taken together, tokens with such a "
        "q are then emitted less often than p demands, and the others too often."
    ),
    shows=(
        "Where the draft spreads over several tokens, some with q above 0.1 and some below. The "
        "bias shows even in the first token."
    ),
    hides=(
        "The bug has no effect if every drawn child has a q of 0.1 or more (common at low "
        "temperatures): then none is dropped. It also has none if every token has q below 0.1: "
        "then all children are dropped, and every token is drawn from the target alone."
    ),
    verifiers=WALKING,
    wrap=dropping,
    output=_output,
)

"""Compares two verifiers on the same drafted trees: Traversal and Algorithm 2 of the paper, which
is Sequoia's. For each tree, the expected number of accepted tokens is computed exactly, instead of
drawing at random which tokens are accepted."""

from __future__ import annotations

from collections.abc import Sequence

from sequoia.algorithm.expected_accepted import expected_accepted
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.experiments.drafted_trees import drafted_along
from sequoia.experiments.text_units import WARM_UP, Text
from sequoia.models.pair import Pair


def traversal_gain(
    pair: Pair, text: Text, tree: Tree, starts: Sequence[float], every: int
) -> float:
    """Traversal's tokens per step divided by Algorithm 2's, both with `tree`.

    Both are averages over every `every`-th token of `text`, without the first ones (see WARM_UP).
    starts: the weight of each token of `text`, which is the probability that a step of Algorithm 2
    starts there. Returns 1 at temperature 0, where both verifiers accept the same path. Also
    returns 1 if the measured tokens all have weight 0.
    """
    if text.params.temperature == 0:
        return 1.0
    algorithm_2 = traversal = 0.0
    places = range(min(WARM_UP, len(starts) // 4), len(starts), every)
    for one in drafted_along(pair, text, tree, SEQUOIA.key, places):
        weight = starts[one.place]
        drafted = one.drafted
        given = (drafted.tree, drafted.tokens, one.p, drafted.q)
        algorithm_2 += weight * (1 + expected_accepted(*given, SEQUOIA))
        traversal += weight * (1 + expected_accepted(*given, TRAVERSAL))
    return traversal / algorithm_2 if algorithm_2 else 1.0

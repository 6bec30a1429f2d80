"""How many steps each lane of a race needs on average for given texts. A race compares several
ways to decode one prompt; each is a lane. All lanes are compared at the same positions of the same
texts. The steps are computed from both models' distributions along each text, without decoding.
Each model reads a text once, for any number of lanes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sequoia.algorithm.expected_steps import (
    SEGMENTS,
    ExpectedSteps,
    child_chances,
    match_chances,
    step_starts,
)
from sequoia.algorithm.sampling import Chance, chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import verifier_named
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.measuring.acceptance_teacher_forced import TextPlace, text_places
from sequoia.models.pair import Pair

LEAST_TOKENS = 3 * SEGMENTS  # shorter texts are left out
DRAWS = 4  # draws of the rejected siblings at each position
Floats = NDArray[np.float64]
# (tree, verifier): a lane in which every step has the same tree, and whose expected steps can be
# computed
FixedLane = tuple[Tree, str]


def fixed_lane(tree: Tree | object, verifier: str) -> FixedLane | None:
    """The lane, or None if its expected steps cannot be computed. They can if every step has the
    same tree and the verifier walks down from the root, child by child."""
    if not isinstance(tree, Tree) or verifier_named(verifier).from_leaves:
        return None
    return tree, verifier


def expected_steps(
    pair: Pair,
    prompt: Sequence[int],
    texts: Sequence[Sequence[int]],
    params: SamplingParams,
    lanes: Sequence[FixedLane | None],
) -> tuple[ExpectedSteps | None, ...]:
    """The expected steps of each lane on `texts`: token ids that the target could have emitted
    after `prompt` under `params`. Texts of fewer than LEAST_TOKENS tokens are left out. Equal texts
    count once. A lane that is None gets None. If no text is left, all lanes get None. Raises
    BadModel if a model's logits overflow."""
    distinct = dict.fromkeys(map(tuple, texts))
    long_enough = [text for text in distinct if len(text) >= LEAST_TOKENS]
    fixed = [lane for lane in lanes if lane is not None]
    if not long_enough or not fixed:
        return tuple(None for _ in lanes)
    starts = [expected_step_starts(pair, prompt, text, params, fixed) for text in long_enough]
    tokens = tuple(map(len, long_enough))
    found = (
        ExpectedSteps(tokens, tuple(_by_segment(of_text) for of_text in of_lane))
        for of_lane in zip(*starts, strict=True)
    )
    return tuple(None if lane is None else next(found) for lane in lanes)


def _by_segment(starts: Floats) -> tuple[float, ...]:
    return tuple(float(segment.sum()) for segment in np.array_split(starts, SEGMENTS))


def expected_step_starts(
    pair: Pair,
    prompt: Sequence[int],
    text: Sequence[int],
    params: SamplingParams,
    lanes: Sequence[FixedLane],
) -> list[Floats]:
    """One array (tokens,) for each lane: the probability that a step starts at each token of
    `text`, which follows `prompt`. At temperature 0 nothing is random, so every probability is 0 or
    1. Raises BadModel if a model's logits overflow."""
    most_children: dict[str, int] = {}  # by verifier, at least 1
    for tree, verifier in lanes:
        children = max(map(len, tree.children))
        most_children[verifier] = max(most_children.get(verifier, 1), children)
    chance = chance_for(params.temperature, params.seed, pair.draft.device)
    chances: dict[str, list[list[float]]] = {name: [] for name in most_children}
    for place in text_places(pair, prompt, text, params):
        for name, children in most_children.items():
            rule = verifier_named(name)
            if rule.reject is None or params.temperature == 0:
                (siblings,) = rule.draw(chance, place.q_row, [children])
                chances[name].append([*map(float, match_chances(place.token, siblings))])
            else:
                found = _mean_chances(place, children, rule, chance)
                chances[name].append(found.tolist())
    return [np.array(step_starts(tree, chances[verifier])) for tree, verifier in lanes]


def _mean_chances(place: TextPlace, children: int, rule: Verifier, chance: Chance) -> Floats:
    """(children,) the probability that each child is the accepted one, if the text continues with
    `place.token`. The mean over DRAWS draws of the siblings that are rejected before it."""
    assert rule.reject is not None
    given = (place.p, place.q, place.token)
    first = child_chances(*given, 1, rule.reject, chance)
    if children == 1 or first[0] >= 1:  # no further child is ever tried
        return np.array([*first, *[0.0] * (children - 1)])
    made = [child_chances(*given, children, rule.reject, chance) for _ in range(DRAWS)]
    return np.mean(made, axis=0)

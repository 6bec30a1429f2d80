"""Trees drafted at chosen positions of a fixed text, with the target's distribution at every node
and the draft's at every node with children."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sequoia.algorithm.distributions import row_warp
from sequoia.algorithm.sampling import chance_for
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import verifier_named
from sequoia.decoding.drafter import Drafted, Drafter
from sequoia.experiments.text_units import Text
from sequoia.models.pair import Pair
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.this_machine.step_timer import Clock


@dataclass(frozen=True)
class DraftedAt:
    """The drafted tree of a step that starts right before token `place` of a text. p(node): the
    target's distribution after the node (vocab,). Call it before the next tree is drafted: the
    target's next pass may overwrite the logits."""

    place: int
    drafted: Drafted
    p: Callable[[int], np.ndarray]


def drafted_along(
    pair: Pair, text: Text, tree: Tree, verifier: str, at: Sequence[int]
) -> Iterator[DraftedAt]:
    """`tree` drafted at each place in `at`: indices of `text.tokens`, strictly increasing. Children
    are drawn by the rule of `verifier`. Raises BadModel if the draft overflows. `p` raises BadModel
    if the target overflows."""
    ids = (*text.prompt, *text.tokens)
    params = text.params
    capacity = len(ids) + len(tree)
    target = pair.target.open(capacity)
    draft = pair.draft.at_temperature(params.temperature).open(capacity)
    chance = chance_for(params.temperature, params.seed, pair.draft.device)
    drafter = Drafter(draft, params, verifier_named(verifier), chance, len(tree))
    layout = whole_tree_layout(target, tree)
    warp = row_warp(params)
    for place in at:
        root = len(text.prompt) + place - 1
        with torch.inference_mode():
            if known := ids[target.length : root]:
                target.extend(known)
            drafter.unread = ids[draft.length : root + 1]
            drafted = drafter.fill(tree, Clock(pair.target.device))
            logits = target.forward(drafted.tokens, layout)  # (nodes, vocab)
        yield DraftedAt(place, drafted, lambda node, logits=logits: warp(logits[node]))
        target.keep([0])
        draft.keep([])

"""A text that is processed again with another token: nothing of that token stays."""

import torch
from fakes import tiny_pair

from sequoia.algorithm.tree import Tree
from sequoia.models.compare_logits import Walk, WalkedText

WALK = Walk(4, Tree((-1, 0, 0, 1, 1, 2)), 5)


def test_a_changed_token_does_not_change_the_rows_of_later_changes() -> None:
    tokens = list(range(7, 7 + WALK.places))
    walked = WalkedText(WALK, tiny_pair("llama").target, tokens)
    for place in range(WALK.places):
        changed = walked.changed(place, 99)
        assert not torch.equal(changed, walked.rows)
        for unchanged in (WALK.starts[2], place):
            assert torch.equal(walked.changed(unchanged, tokens[unchanged]), walked.rows)
            walked.changed(place, 99)

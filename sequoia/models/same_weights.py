"""Recognises a draft that is the target itself."""

from __future__ import annotations

import torch

from sequoia.models.tree_forward import TreeModel

SAME_WEIGHTS = (
    "it has the same weights as the target, so a step can never be faster than plain decoding; "
    "choose a smaller model, or a copy of the target in int8"
)


def same_weights(target: TreeModel, draft: TreeModel) -> bool:
    """Whether the two models, in one place and of one dtype, have the same weights. If the target
    is streamed, its draft may be faster even with the same weights, so the result is False."""
    if target.placement or (target.numbers, target.device) != (draft.numbers, draft.device):
        return False
    mine, its = (dict(one.hf.named_parameters()) for one in (target, draft))
    return mine.keys() == its.keys() and all(torch.equal(one, its[k]) for k, one in mine.items())

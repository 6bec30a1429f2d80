"""Top-p on a GPU without sorting the vocabulary: the tokens that are kept are nearly always among
the few thousand likeliest. The reference is `nucleus` of algorithm/distributions.py."""

from __future__ import annotations

import torch

from sequoia.algorithm.distributions import nucleus

LIKELIEST = 4096  # tokens


def likeliest_nucleus(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    """`nucleus` of `probs` (rows, vocab): the same tokens, of equally probable ones those with the
    lower ids. Waits for the device, and sorts where the likeliest tokens do not suffice."""
    if probs.shape[-1] <= LIKELIEST:
        return nucleus(probs, top_p)
    ordered = probs.topk(LIKELIEST).values  # (rows, LIKELIEST)
    before = torch.nn.functional.pad(ordered.cumsum(-1)[..., :-1], (1, 0))
    kept = before < top_p
    if bool(kept[..., -1].any()):
        return nucleus(probs, top_p)
    count = kept.sum(-1, keepdim=True)
    least = ordered.gather(-1, count - 1)  # (rows, 1), the smallest probability that is kept
    above = probs > least
    equal = probs == least
    room = count - above.sum(-1, keepdim=True)
    chosen = torch.where(above | (equal & (equal.cumsum(-1) <= room)), probs, 0)
    return chosen / chosen.sum(-1, keepdim=True)

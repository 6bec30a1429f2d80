"""Top-p on a GPU, usually without sorting the vocabulary. The tokens that top-p keeps, called the
nucleus, are searched for among the few thousand most probable tokens only. `nucleus` in
algorithm/distributions.py gives the same distributions, but sorts the whole vocabulary."""

from __future__ import annotations

import torch

from sequoia.algorithm.distributions import nucleus

LIKELIEST = 4096  # how many of the most probable tokens are searched for the nucleus


def likeliest_nucleus(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    """The same distributions as `nucleus(probs, top_p)`, for probs (rows, vocab). If the nucleus
    needs only some of several equally probable tokens, it takes those with the lowest ids. If the
    nucleus of any row may have more than LIKELIEST tokens, `nucleus` is called instead. With a
    vocabulary of more than LIKELIEST tokens, this waits for the device."""
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

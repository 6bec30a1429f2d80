"""Wrong decoders (mutants). Each has one error in its forward passes over trees, or in what the KV
cache keeps after them. Plain decoding and prefill are not changed.

MUTANTS: for each, a function to put in the place of a method of Context, whose name is the first
word of the key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch

from sequoia.models.tree_forward import Context

# How far apart tokens are that are swapped, in standard deviations of the logits. Rounding to
# bfloat16 changes the logits of toy models and of a real one by about 0.05 of them.
NEAR, FAR = 0.25, 0.6

forward = Context.forward
keep = Context.keep


def parents_position(self: Context, tokens: Any, rows: Any) -> torch.Tensor:
    """Every drafted token has the position of its parent."""
    depths = (rows.depths - 1).clamp(min=0)
    return forward(self, tokens, SimpleNamespace(depths=depths, mask=rows.mask))


def one_row_without_the_text(self: Context, tokens: Any, rows: Any) -> torch.Tensor:
    """In the target, the root's first child attends only to the tree, not to the text before it."""

    def view(length: int, start: int, end: int) -> torch.Tensor:
        mask = rows.mask.view(length, start, end).clone()
        if start <= 1 < end:
            mask[..., 1 - start, :length] = torch.finfo(mask.dtype).min
        return mask

    return forward(
        self, tokens, SimpleNamespace(depths=rows.depths, mask=SimpleNamespace(view=view))
    )


def one_row_further(self: Context, rows: Sequence[int]) -> None:
    """In place of the last accepted drafted node, the cache keeps the node with the next number, if
    there is one."""
    kept = list(rows)
    if len(kept) > 1 and kept[-1] + 1 < self.kv_cache.written:
        kept[-1] += 1
    keep(self, kept)


def tokens_swapped(self: Context, tokens: Any, rows: Any) -> torch.Tensor:
    """In each row of a pass over several tokens, the best token swaps logits with the best of the
    tokens that are at least NEAR below it, unless the two logits are over FAR apart."""
    logits = forward(self, tokens, rows).clone()
    for row in logits:
        below = (row.max() - row) / row.std()
        other = int(below.masked_fill(below < NEAR, torch.inf).argmin())
        if len(tokens) > 1 and below[other] <= FAR:
            row[[int(row.argmax()), other]] = row[[other, int(row.argmax())]]
    return logits


MUTANTS: dict[str, Callable[..., Any]] = {
    "forward positions": parents_position,
    "forward mask": one_row_without_the_text,
    "keep": one_row_further,
    "forward swap": tokens_swapped,
}

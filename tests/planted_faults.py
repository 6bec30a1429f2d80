"""Faults that the checks of a model must find in any dtype: two or more of each kind. A fault is
planted in this program's own code, or in the forward of one model.

FAULTS: for each name, a function that plants the fault.
FAST_FAULTS: the same for faults in the faster forward on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch

from sequoia.models import tree_forward
from sequoia.models.fast_llama import FastLlama, _Rotations
from sequoia.models.kv_cache import KVCache
from sequoia.models.tree_forward import TreeModel
from sequoia.models.tree_mask import TreeLayout, TreeMask

Plant = Callable[[pytest.MonkeyPatch, TreeModel], None]
NODE = 5  # the wrong node; in every tree of the checks it has a parent other than node 4


def _layout(change: Callable[[TreeLayout], None]) -> Plant:
    """Plants a wrong layout of trees."""
    usual = TreeLayout.__init__

    def changed(self: TreeLayout, *given: Any) -> None:
        usual(self, *given)
        if len(self.depths) > NODE:
            change(self)

    return lambda patch, _: patch.setattr(TreeLayout, "__init__", changed)


def _misses_its_parent(layout: TreeLayout) -> None:
    parent = int((layout.mask.own[NODE, :NODE] == 0).nonzero().max())
    layout.mask.own[NODE, parent] = torch.finfo(layout.mask.own.dtype).min


def _sees_its_neighbour(layout: TreeLayout) -> None:
    layout.mask.own[NODE, NODE - 1] = 0


def _one_deeper(layout: TreeLayout) -> None:
    layout.depths[NODE] += 1


def _numbered_by_row(layout: TreeLayout) -> None:
    layout.depths = torch.arange(len(layout.depths), device=layout.depths.device)


def _nothing_moved(patch: pytest.MonkeyPatch, _: TreeModel) -> None:
    """The kept nodes stay where they were, so that others take their places."""
    patch.setattr(KVCache, "_move", lambda *_: None)


def _last_row_doubled(patch: pytest.MonkeyPatch, _: TreeModel) -> None:
    usual = KVCache.keep

    @torch.inference_mode()
    def keep(self: KVCache, rows: Sequence[int]) -> None:
        usual(self, rows)
        if len(rows) and self.length < self.capacity:
            for tensor in self._tensors():
                tensor[..., self.length, :] = tensor[..., self.length - 1, :]
            self.length += 1

    patch.setattr(KVCache, "keep", keep)


def _causal(ahead: int) -> Plant:
    """Plants a causal mask in which each token sees up to `ahead` later ones."""

    def causal(n: int, spec: Any, capacity: int) -> TreeMask:
        seen = torch.ones(n, n).tril(ahead).bool()
        return TreeMask(seen, capacity, spec.mask_dtype, spec.device)

    return lambda patch, _: patch.setattr(tree_forward, "causal", causal)


def _forward(change: Callable[[torch.Tensor, torch.Tensor], None]) -> Plant:
    """Plants a change of positions and mask in the forward of `transformers` of one model, and in
    FastLlama."""

    def changed(usual: Callable[..., torch.Tensor], *given: Any) -> torch.Tensor:
        *first, positions, mask, kv_cache, last_only = given  # first: perhaps `self`, and the ids
        positions, mask = positions.clone(), mask.clone()
        if positions.shape[1] > NODE:
            change(positions, mask)
        return usual(*first, positions, mask, kv_cache, last_only)

    def plant(patch: pytest.MonkeyPatch, model: TreeModel) -> None:
        fast = FastLlama.__call__
        patch.setattr(FastLlama, "__call__", lambda *given: changed(fast, *given))
        model.forward = partial(changed, model.forward)

    return plant


def _row_misses_the_text(_: torch.Tensor, mask: torch.Tensor) -> None:
    mask[0, 0, NODE, :2] = torch.finfo(mask.dtype).min


def _positions_by_row(positions: torch.Tensor, _: torch.Tensor) -> None:
    positions.copy_(positions[:, :1] + torch.arange(positions.shape[1]))


FAULTS: dict[str, Plant] = {
    "mask: a node misses its parent": _layout(_misses_its_parent),
    "mask: a node sees its neighbour": _layout(_sees_its_neighbour),
    "mask: a row misses the start of the text": _forward(_row_misses_the_text),
    "position: a node is one too deep": _layout(_one_deeper),
    "position: nodes are numbered by row": _layout(_numbered_by_row),
    "position: the forward numbers by row": _forward(_positions_by_row),
    "cache: kept nodes are not moved": _nothing_moved,
    "cache: the last kept row is doubled": _last_row_doubled,
    "later: the prompt sees the next token": _causal(1),
    "later: the prompt sees all tokens": _causal(10**6),
}


def _rotations(change: Callable[[_Rotations, int], torch.Tensor]) -> Plant:
    return lambda patch, _: patch.setattr(_Rotations, "_made", change)


_made = _Rotations._made


def _in_bfloat16(self: _Rotations, positions: int) -> torch.Tensor:
    table = torch.view_as_real(_made(self, positions))
    return torch.view_as_complex(table.bfloat16().float())


def _stretched(self: _Rotations, positions: int) -> torch.Tensor:
    """Position p has the rotation of position p + p // 8."""
    index = torch.arange(positions)
    return _made(self, 2 * positions)[index + index // 8]


FAST_FAULTS: dict[str, Plant] = {
    "rotary: the table is rounded to bfloat16": _rotations(_in_bfloat16),
    "rotary: the table is stretched": _rotations(_stretched),
}

"""Faults that the checks of a model must find in any dtype: two or more of each kind. A fault is
planted in this program's own code, or in the forward of one model.

FAULTS: for each name, a function that plants the fault.
FAST_FAULTS: the same for faults in the faster forward on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from doors import (
    TreeModel,
    change_layouts,
    change_passes,
    change_prompts,
    change_rotations,
    double_last_kept_row,
    leave_kept_rows,
)

Plant = Callable[[pytest.MonkeyPatch, TreeModel], None]
Made = Callable[[int], torch.Tensor]
NODE = 5  # the wrong node; in every tree of the checks it has a parent other than node 4


# -- mask and depths of a tree, changed in place ---------------------------------------------------


def _misses_its_parent(mask: torch.Tensor, _: torch.Tensor) -> None:
    parent = int((mask[NODE, :NODE] == 0).nonzero().max())
    mask[NODE, parent] = torch.finfo(mask.dtype).min


def _sees_its_neighbour(mask: torch.Tensor, _: torch.Tensor) -> None:
    mask[NODE, NODE - 1] = 0


def _one_deeper(_: torch.Tensor, depths: torch.Tensor) -> None:
    depths[NODE] += 1


def _numbered_by_row(_: torch.Tensor, depths: torch.Tensor) -> None:
    depths.copy_(torch.arange(len(depths)))


# -- positions and mask of a pass ------------------------------------------------------------------


def _row_misses_the_text(_: torch.Tensor, mask: torch.Tensor) -> None:
    mask[0, 0, NODE, :2] = torch.finfo(mask.dtype).min


def _positions_by_row(positions: torch.Tensor, _: torch.Tensor) -> None:
    positions.copy_(positions[:, :1] + torch.arange(positions.shape[1]))


# -- rotations of the faster forward ---------------------------------------------------------------


def _in_bfloat16(made: Made, positions: int) -> torch.Tensor:
    table = torch.view_as_real(made(positions))
    return torch.view_as_complex(table.bfloat16().float())


def _stretched(made: Made, positions: int) -> torch.Tensor:
    """Position p has the rotation of position p + p // 8."""
    index = torch.arange(positions)
    return made(2 * positions)[index + index // 8]


def _layout(change: Callable[[torch.Tensor, torch.Tensor], None]) -> Plant:
    return lambda patch, _: change_layouts(patch, change, NODE)


def _pass(change: Callable[[torch.Tensor, torch.Tensor], None]) -> Plant:
    return lambda patch, model: change_passes(patch, model, change, NODE)


FAULTS: dict[str, Plant] = {
    "mask: a node misses its parent": _layout(_misses_its_parent),
    "mask: a node sees its neighbour": _layout(_sees_its_neighbour),
    "mask: a row misses the start of the text": _pass(_row_misses_the_text),
    "position: a node is one too deep": _layout(_one_deeper),
    "position: nodes are numbered by row": _layout(_numbered_by_row),
    "position: the forward numbers by row": _pass(_positions_by_row),
    "cache: kept nodes are not moved": lambda patch, _: leave_kept_rows(patch),
    "cache: the last kept row is doubled": lambda patch, _: double_last_kept_row(patch),
    "later: the prompt sees the next token": lambda patch, _: change_prompts(patch, 1),
    "later: the prompt sees all tokens": lambda patch, _: change_prompts(patch, 10**6),
}

FAST_FAULTS: dict[str, Plant] = {
    "rotary: the table is rounded to bfloat16": lambda patch, _: change_rotations(
        patch, _in_bfloat16
    ),
    "rotary: the table is stretched": lambda patch, _: change_rotations(patch, _stretched),
}

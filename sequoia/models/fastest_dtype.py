"""Chooses the dtype in which a small model on a CPU runs fastest, by measuring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.pass_times import Pass, opened
from sequoia.models.rounded_copy import rounded_copy
from sequoia.models.tree_forward import TreeModel

MEASURED_UP_TO = 200_000_000  # parameters; for larger models a second copy takes too much memory
_ROUNDS = 8


def best_dtype(
    hf: Any,
    read: Callable[[torch.dtype], Any],
    name: str,
    width: int,
    draft: bool = False,
    text: Sequence[int] = (),
) -> TreeModel:
    """`hf` in the dtype in which a pass over `width` rows is fastest: float32, bfloat16, or for a
    draft also int8. A large model, or one on a GPU, stays in the dtype in which it was loaded.

    read: loads the model again in another dtype. Converting it with `hf.to(dtype)` would also round
    the numbers that `transformers` always keeps in float32 (rotary frequencies, some routers).
    text: as for `use_fast_forward`.
    """
    if hf.device.type != "cpu" or hf.num_parameters() > MEASURED_UP_TO:
        return use_fast_forward(TreeModel(hf, name), text)
    wide, half = (
        hf if hf.dtype == dtype else read(dtype) for dtype in (torch.float32, torch.bfloat16)
    )
    models = [use_fast_forward(TreeModel(one, name), text) for one in (wide, half)]
    if draft and models[1].forward_name == "fast":
        rounded = rounded_copy(half, "int8", half.device, shared=True)
        models.append(use_fast_forward(TreeModel(rounded, name), text))
    return fastest(models, width)


def fastest(models: list[TreeModel], width: int) -> TreeModel:
    """The model whose pass over `width` rows after a short prefix takes the shortest time."""
    times = least_seconds(models, width)
    return models[min(range(len(models)), key=times.__getitem__)]


def least_seconds(models: list[TreeModel], width: int) -> list[float]:
    """Seconds of the shortest pass of each model over `width` rows after a short prefix. The models
    are timed in turn, several times each. The shortest counts, not the median, because other work
    on the machine can only add time.
    """
    trials = [_trial(model, width) for model in models]
    for _ in range(_ROUNDS):
        for trial in trials:
            trial.run()
    return [min(trial.times) for trial in trials]


def _trial(model: TreeModel, width: int) -> Pass:
    prefix = max(1, min(48, model.limit - width))
    width = min(width, model.limit - 1)
    return Pass(opened(model, width, prefix), width)

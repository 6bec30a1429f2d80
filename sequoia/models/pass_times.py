"""Times a model's forward pass over a given number of tokens, repeatedly after the same prefix; and
chooses the dtype in which a small model on a CPU runs fastest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from sequoia.algorithm.progress import Progress
from sequoia.algorithm.tree import Tree
from sequoia.models.cache_and_mask import whole_tree_layout
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.ngram import Draft, DraftContext
from sequoia.models.rounded_copy import rounded_copy
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.step_timer import synchronize


class Pass:
    """A repeatable forward pass over a tree of `size` tokens after the prefix of `context`. times:
    the mean seconds of a pass in each call of `run` since `times` was last cleared."""

    def __init__(self, context: DraftContext, size: int) -> None:
        self.size = size
        self._context = context
        self._tokens = [i % context.model.vocab for i in range(size)]
        self._layout = whole_tree_layout(
            context, Tree.from_branching([1] * min(size - 1, 7) + [max(size - 8, 1)] * (size > 8))
        )
        self.times: list[float] = []
        context.capture([size])

    def quick(self, progress: Progress) -> float:
        """Run two passes and return the seconds of the second. Leaves `times` empty."""
        for _ in range(2):
            self.run()
            progress(0.0)
        found = self.times[-1]
        self.times.clear()
        return found

    def run(self, times: int = 1) -> None:
        """Run `times` passes in a row and append their mean seconds to `self.times`. It is a mean
        because a median would ignore a first pass that is always slower than the others."""
        start = time.perf_counter()
        for _ in range(times):
            synchronize(self._context.forward(self._tokens, self._layout).device)
            self._context.keep([])
        self.times.append((time.perf_counter() - start) / times)


def opened(model: Draft, most: int, prefix: int) -> DraftContext:
    """A context with a prefix of `prefix` tokens and free slots for `most` more."""
    context = model.open(prefix + most)
    context.extend([i % model.vocab for i in range(prefix)])
    return context


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

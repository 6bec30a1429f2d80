"""Times a model's forward pass over a given number of tokens, repeatedly after the same prefix."""

from __future__ import annotations

import time

from sequoia.algorithm.progress import Progress
from sequoia.algorithm.tree import Tree
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.draft import Draft, DraftContext
from sequoia.models.native.native_llama import one_torch_thread
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.step_timer import synchronize


class Pass:
    """A repeatable forward pass over a tree of `size` tokens after the prefix of `context`. times:
    the mean seconds of a pass in each call of `run` since `times` was last cleared."""

    def __init__(self, context: DraftContext, size: int) -> None:
        self.size = size
        self._context = context
        self._tokens = [i % context.model.vocab for i in range(size)]
        self._layout = TreeLayout(
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
        with one_torch_thread([self._context.model]):  # as in a step
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


_ROUNDS = 8


def least_seconds(models: list[TreeModel], width: int) -> list[float]:
    """Seconds of the shortest pass of each model over `width` rows after a short prefix. The models
    are timed in turn, several times each. The shortest counts, not the median, because other work
    on the machine can only add time.
    """
    trials = [Pass(opened(model, width, 48), width) for model in models]
    for _ in range(_ROUNDS):
        for trial in trials:
            trial.run()
    return [min(trial.times) for trial in trials]

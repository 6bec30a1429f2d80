"""A forward pass of a model over a number of tokens, timed repeatedly after the same prefix."""

from __future__ import annotations

import time

from sequoia.algorithm.progress import Progress
from sequoia.algorithm.tree import Tree
from sequoia.models.tree_forward import Context, TreeModel
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.this_machine.step_timer import synchronize


class Pass:
    """A forward pass over `size` tokens after the prefix of `context`, which can be repeated.
    `times` are in seconds."""

    def __init__(self, context: Context, size: int) -> None:
        self.size = size
        self._context = context
        self._tokens = [i % context.model.vocab for i in range(size)]
        self._layout = whole_tree_layout(
            context, Tree.from_branching([1] * min(size - 1, 7) + [max(size - 8, 1)] * (size > 8))
        )
        self.times: list[float] = []
        context.capture([size])

    def quick(self, progress: Progress) -> float:
        """Seconds of the second of two passes, which do not count in `times`."""
        for _ in range(2):
            self.run()
            progress(0.0)
        found = self.times[-1]
        self.times.clear()
        return found

    def run(self, times: int = 1) -> None:
        """Time one pass, or the mean of `times` in a row: a median over single passes would ignore
        one of them that is always slow."""
        start = time.perf_counter()
        for _ in range(times):
            synchronize(self._context.forward(self._tokens, self._layout).device)
            self._context.keep([])
        self.times.append((time.perf_counter() - start) / times)


def opened(model: TreeModel, most: int, prefix: int) -> Context:
    """A context with a prefix of `prefix` tokens and room for `most` more."""
    context = model.open(prefix + most)
    context.extend([i % model.vocab for i in range(prefix)])
    return context

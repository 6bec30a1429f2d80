"""One pass of a model over a number of rows, timed again and again in the same place."""

from __future__ import annotations

import time

from sequoia.algorithm.progress import Progress
from sequoia.algorithm.tree import Tree
from sequoia.models.tree_forward import Context, TreeModel
from sequoia.models.tree_mask import TreeLayout
from sequoia.this_machine.step_timer import synchronize


class Pass:
    """One forward over `size` rows after the prefix of `context`, repeatable;
    `times` are in seconds."""

    def __init__(self, context: Context, size: int) -> None:
        self.size = size
        self._context = context
        self._tokens = [i % context.model.vocab for i in range(size)]
        self._rows = TreeLayout(
            Tree.from_branching([1] * min(size - 1, 7) + [max(size - 8, 1)] * (size > 8)),
            range(size),
            context,
        )
        self.times: list[float] = []
        context.capture([size])

    def quick(self, progress: Progress) -> float:
        """Seconds of a pass that is not the first one; none of it is kept."""
        for _ in range(2):
            self.run()
            progress(0.0)
        found = self.times[-1]
        self.times.clear()
        return found

    def run(self, times: int = 1) -> None:
        """Once, or `times` in a row and their mean is kept: a median over single ones would leave
        out one that is always slow."""
        start = time.perf_counter()
        for _ in range(times):
            synchronize(self._context.forward(self._tokens, self._rows).device)
            self._context.keep([])
        self.times.append((time.perf_counter() - start) / times)


def opened(model: TreeModel, most: int, prefix: int) -> Context:
    """A context that has read `prefix` tokens and has room for `most` rows."""
    context = model.open(prefix + most)
    context.extend([i % model.vocab for i in range(prefix)])
    return context

"""A table of a model's passes: milliseconds by number of rows."""

from __future__ import annotations

import statistics

from sequoia.models.describe import place_of
from sequoia.models.pass_times import Pass, opened
from sequoia.models.tree_forward import TreeModel

_ROWS = (1, 8, 16, 32, 64)
_PREFIX = 48  # tokens
_ROUNDS = 30


def print_passes(model: TreeModel) -> None:
    """Time passes over _ROWS rows in turn, and print the least and the median time of each."""
    most = min(_ROWS[-1], model.limit - _PREFIX)
    context = opened(model, most, _PREFIX)
    passes = [Pass(context, rows) for rows in _ROWS if rows <= most]
    for _ in range(_ROUNDS):
        for one in passes:
            one.run()
    print(
        f"{model.name} on {place_of(model)}, {model.numbers}, {model.forward_words}: milliseconds "
        f"of a pass after {_PREFIX} tokens, measured {_ROUNDS} times in turn"
    )
    print("| rows | least | median |\n|---|---|---|")
    for one in passes:
        print(f"| {one.size} | {1000 * min(one.times):.1f} | {_median(one):.1f} |")


def _median(one: Pass) -> float:
    return 1000 * statistics.median(one.times)

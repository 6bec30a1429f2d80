"""Whether draws follow a distribution: a chi-square test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch
from exact import Distribution


def fit(results: Iterable[Any], wanted: Distribution) -> float:
    """Chance of a chi-square this large if `results` follow `wanted`; 0 for a result
    that cannot happen."""
    counts = Counter(results)
    if any(not wanted.get(result) for result in counts):
        return 0.0
    total = counts.total()
    expected = {result: total * float(share) for result, share in wanted.items() if share}
    rare = {result for result, count in expected.items() if count < 5}  # pooled into one cell
    cells = [(counts[result], count) for result, count in expected.items() if result not in rare]
    if rare:
        cells.append(
            (sum(counts[result] for result in rare), sum(expected[result] for result in rare))
        )
    square = sum((seen - count) ** 2 / count for seen, count in cells)
    return float(
        torch.special.gammaincc(
            torch.tensor((len(cells) - 1) / 2, dtype=torch.float64),
            torch.tensor(square / 2, dtype=torch.float64),
        )
    )

"""Whether draws follow a distribution: a chi-square test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sequoia.exactness import chi_square


def fit(results: Iterable[Any], distribution: Mapping[Any, Any]) -> float:
    """The p-value of the chi-square test that `results` follow `distribution`. It is 0 if one of
    the results has probability 0 in `distribution`."""
    counts = Counter(results)
    if any(not distribution.get(result) for result in counts):
        return 0.0
    total = counts.total()
    expected = {result: total * float(share) for result, share in distribution.items() if share}
    rare = {result for result, count in expected.items() if count < 5}  # pooled into one cell
    cells = [(counts[result], count) for result, count in expected.items() if result not in rare]
    if rare:
        cells.append(
            (sum(counts[result] for result in rare), sum(expected[result] for result in rare))
        )
    counted, shares = zip(*cells, strict=True)
    found = chi_square.fit(counted, [share / total for share in shares]).p_value
    return 1.0 if found is None else found  # a single cell

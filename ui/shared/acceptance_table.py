"""A table of how often children were accepted, by their rank and the depth of their parent, as a
message to the browser."""

from __future__ import annotations

from typing import Any

from sequoia.measuring.acceptance_by_level import AcceptanceByLevel, depth_verdict

# the most ranks and depths in a table
MAX_RANKS = 10
MAX_DEPTHS = 14


def by_level_table(
    name: str, label: str, temperature: float, runs: int, by_level: AcceptanceByLevel
) -> dict[str, Any]:
    """The table as a JSON object. web/acceptance_table.js describes its fields."""
    cells = [
        [depth, rank, cell.visits, cell.accepted, *cell.interval]
        for (depth, rank), cell in sorted(by_level.cells.items())
        if depth < MAX_DEPTHS and rank < MAX_RANKS
    ]
    totals = [by_level.by_rank(rank) for rank in range(min(by_level.ranks, MAX_RANKS))]
    verdict = depth_verdict(by_level)
    doubtful = None if verdict.holds is None else [verdict.depth, verdict.rank]
    return {
        "name": name,
        "label": label,
        "temperature": temperature,
        "runs": runs,
        "depths": min(by_level.depths, MAX_DEPTHS),
        "ranks": min(by_level.ranks, MAX_RANKS),
        "of": [by_level.depths, by_level.ranks],
        "cells": cells,
        "all": [[cell.visits, cell.accepted, *cell.interval] for cell in totals],
        "holds": verdict.holds,
        "doubtful": doubtful,
        "sentence": verdict.sentence,
    }

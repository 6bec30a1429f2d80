"""The probability that the first k children of a node are all rejected, as a function of k, and a
power law fitted to it (paper: Figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.verifiers import verifier_named
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.algorithm.verifiers.top_k_match import TOP_K_MATCH
from sequoia.experiments.experiment import Done, Experiment, Unit
from sequoia.experiments.finding_words import lines
from sequoia.experiments.intervals import comparison, point
from sequoia.experiments.result import (
    Axis,
    Column,
    Comparison,
    ExperimentResult,
    Point,
    Series,
    Settings,
)
from sequoia.experiments.text_units import Case, Found, found_by_case, text_of_unit, text_units
from sequoia.measuring.text_places import text_places
from sequoia.models.pair import Pair

OURS = SEQUOIA.key
RULES = (OURS, SPECINFER.key, TOP_K_MATCH.key)
_LEAST = 1e-6  # smaller rates are raised to this one: 0 has no logarithm


def run_unit(pair: Pair, unit: Unit) -> Mapping[str, Any]:
    """For each verifier, a list with an entry for each k = 1, 2, ...: the probability that children
    1 to k are all rejected, averaged over the positions of a text."""
    text = text_of_unit(pair, unit)
    ranks = min(unit.work["ranks"], pair.draft.vocab)
    chance = Seeded(text.params.seed, pair.draft.device)
    rejected: dict[str, list[Any]] = {name: [] for name in RULES}
    for place in text_places(pair, text.prompt, text.tokens, text.params):
        for name, found in rejected.items():
            rule = verifier_named(name)
            assert rule.chances is not None
            (siblings,) = rule.draw(chance, place.q_row, [ranks])
            found.append(1 - np.cumsum(rule.chances(place.p, place.q, siblings), dtype=float))
    means = {name: np.mean(found, axis=0) for name, found in rejected.items()}
    return {name: np.maximum(mean, _LEAST).round(6).tolist() for name, mean in means.items()}


def summary(settings: Settings, done: Done) -> ExperimentResult:
    series = list[Series]()
    rows = list[Mapping[str, Any]]()
    comparisons = list[Comparison]()
    for case, found in found_by_case(settings, done).items():
        mine = [_series(case, name, found) for name in RULES]
        series += mine
        rows += [_row(case, one) for one in mine]
        comparisons += _comparisons(case, found)
    return ExperimentResult(
        finding=_finding(rows, max((len(one.points) for one in series), default=0)),
        x=Axis("children", "children of a node", "log"),
        y=Axis("rejected", "probability that all are rejected", "log"),
        series=tuple(series),
        columns=(
            Column("case", "texts"),
            Column("verifier", "verifier"),
            Column("first", "first child rejected", "measured"),
            Column("last", "all children rejected", "measured"),
            Column("exponent", "b of the power law k^−b", "measured"),
            Column("fit", "R² of the power law", "measured"),
        ),
        rows=tuple(rows),
        comparisons=tuple(comparisons),
    )


def _series(case: Case, name: str, found: Found) -> Series:
    by_rank = zip(*(one[name] for one in found), strict=True)
    points = tuple(point(k, values) for k, values in enumerate(by_rank, 1))
    return Series(verifier_named(name).label, name, case.words, points)


def _row(case: Case, series: Series) -> Mapping[str, Any]:
    exponent, fit = power_law(series.points)
    return {
        "case": case.words,
        "verifier": series.name,
        "first": series.points[0].mean,
        "last": series.points[-1].mean,
        "exponent": round(exponent, 3),
        "fit": round(fit, 4),
    }


def power_law(points: Sequence[Point]) -> tuple[float, float]:
    """(b, R²) of the power law c * k**-b fitted to the points, by a least-squares line through
    their logarithms. Returns (0, 1) for fewer than two points."""
    if len(points) < 2:
        return 0.0, 1.0
    x = np.log([one.x for one in points])
    y = np.log([max(one.mean, _LEAST) for one in points])
    slope, start = np.polyfit(x, y, 1)
    spread = float(((y - y.mean()) ** 2).sum())
    missed = float(((y - start - slope * x) ** 2).sum())
    return -float(slope), 1 - missed / spread if spread else 1.0


def _comparisons(case: Case, found: Found) -> list[Comparison]:
    """How often Sequoia rejects all children, divided by how often another verifier does. A ratio
    below 1 means that Sequoia rejects them less often."""
    mine = [one[OURS][-1] for one in found]
    count = len(found[0][OURS])
    return [
        comparison(
            f"{case.words}, how often all {count} children are rejected: "
            f"{verifier_named(OURS).label} over {verifier_named(name).label}",
            mine,
            [one[name][-1] for one in found],
        )
        for name in RULES
        if name != OURS
    ]


def _finding(rows: Sequence[Mapping[str, Any]], count: int) -> str:
    """count: the largest number of children."""
    label = verifier_named(OURS).label
    mine = [row for row in rows if row["verifier"] == label]
    if not mine:
        return ""
    cases = (
        f"{row['case'].capitalize()}: from {row['first']:.1%} for one child to {row['last']:.1%} "
        f"for {count} children, roughly as k^−{row['exponent']:.2f} (R² {row['fit']:.3f})."
        for row in mine
    )
    return lines(
        f"With {label}, the probability that all of k children are rejected falls roughly as a "
        f"power of k. {_against_others(rows, mine, count)}",
        *cases,
    )


def _against_others(
    rows: Sequence[Mapping[str, Any]], mine: Sequence[Mapping[str, Any]], count: int
) -> str:
    """How `mine`, the rows of Sequoia, compare with the other verifiers in the same cases. count:
    the largest number of children."""
    label = verifier_named(OURS).label
    pairs = [
        (row["last"], other["last"])
        for row in mine
        for other in rows
        if other["case"] == row["case"] and other is not row
    ]
    if all(ours < theirs for ours, theirs in pairs):
        others = dict.fromkeys(row["verifier"] for row in rows if row["verifier"] != label)
        names = " and ".join(others)
        return f"In every case {label} rejects all {count} children less often than {names} do."
    if all(ours <= theirs for ours, theirs in pairs):
        return (
            f"In every case {label} rejects all {count} children less often than the other "
            "verifiers, or equally often."
        )
    return f"In some cases another verifier rejects all {count} children less often; see the table."


RANKS = Experiment(
    name="ranks",
    title="Rejection rate by number of children",
    question="How much does each further child of a node help?",
    sizes={
        "small": {
            "kinds": ["code"],
            "temperatures": [0.6],
            "prompts": 6,
            "tokens": 64,
            "ranks": 16,
        },
        "full": {
            "kinds": ["code", "prose"],
            "temperatures": [0.6, 1.0],
            "prompts": 12,
            "tokens": 128,
            "ranks": 32,
        },
    },
    units=text_units,
    run_unit=run_unit,
    summary=summary,
)

"""The words of the experiment `ranks`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sequoia.algorithm.verifiers import verifier_named
from sequoia.experiments.ranks import OURS, RULES, power_law
from sequoia.experiments.result import ExperimentResult, Ratio, Row
from ui.experiments.words.view import Axis, Column, Series, Words, case_words, grouped, point

NAMES = {name: verifier_named(name).label for name in RULES}


def _columns(label: str) -> Iterator[Column]:
    yield Column("case", "texts")
    yield Column("verifier", "verifier")
    yield Column("first", "first child rejected", label)
    yield Column("last", "all children rejected", label)
    yield Column("exponent", "b of the power law k^−b", label)
    yield Column("fit", "R² of the power law", label)


def _lines(result: ExperimentResult) -> dict[tuple[str, str], list[Row]]:
    return grouped(result.rows, lambda row: (case_words(row.at), row.lane))


def _series(result: ExperimentResult) -> Iterator[Series]:
    for (panel, lane), rows in _lines(result).items():
        points = tuple(point(row.at["children"], row.figures["rejected"]) for row in rows)
        yield Series(NAMES[lane], lane, panel, points)


def _rows(result: ExperimentResult) -> Iterator[dict[str, Any]]:
    for (case, lane), rows in _lines(result).items():
        rates = [row.figures["rejected"].mean for row in rows]
        exponent, fit = power_law([float(row.at["children"]) for row in rows], rates)
        yield {
            "case": case,
            "verifier": NAMES[lane],
            "first": rates[0],
            "last": rates[-1],
            "exponent": round(exponent, 3),
            "fit": round(fit, 4),
        }


def _compared(one: Ratio) -> str:
    where = f"{case_words(one.at)}, how often all {one.at['children']} children are rejected"
    return f"{where}: {NAMES[one.one]} over {NAMES[one.other]}"


def _finding(result: ExperimentResult) -> Iterator[str]:
    count = result.ratios[0].at["children"]
    yield (
        f"With {NAMES[OURS]}, the probability that all of k children are rejected falls roughly as "
        f"a power of k. {_against_others(result)}"
    )
    for row in _rows(result):
        if row["verifier"] == NAMES[OURS]:
            yield (
                f"{row['case'].capitalize()}: from {row['first']:.1%} for one child to "
                f"{row['last']:.1%} for {count} children, roughly as k^−{row['exponent']:.2f} "
                f"(R² {row['fit']:.3f})."
            )


def _against_others(result: ExperimentResult) -> str:
    count = result.ratios[0].at["children"]
    ours = f"{NAMES[OURS]} rejects all {count} children less often than"
    worst = max(one.ratio.mean for one in result.ratios)
    if worst < 1:
        others = " and ".join(name for lane, name in NAMES.items() if lane != OURS)
        return f"In every case {ours} {others} do."
    if worst == 1:
        return f"In every case {ours} the other verifiers, or equally often."
    return f"In some cases another verifier rejects all {count} children less often; see the table."


RANKS = Words(
    title="Rejection rate by number of children",
    x=Axis("children", "children of a node", "log"),
    y=Axis("rejected", "probability that all are rejected", "log"),
    columns=_columns,
    series=_series,
    rows=_rows,
    compared=_compared,
    finding=_finding,
)

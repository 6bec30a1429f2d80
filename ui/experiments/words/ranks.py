"""The words of the experiment `ranks`."""

from __future__ import annotations

from collections.abc import Iterator

from sequoia.algorithm.verifiers import verifier_named
from sequoia.experiments.ranks import OURS, RULES, power_law
from sequoia.experiments.result import ExperimentResult, Ratio, Row
from ui.experiments.words.view import (
    MEASURED,
    Axis,
    Column,
    Line,
    Place,
    Words,
    case_words,
    drawn_rows,
    places,
)

NAMES = {name: verifier_named(name).label for name in RULES}


def _rates(place: Place) -> list[float]:
    """By number of children."""
    return [row.figures["rejected"].mean for row in place.rows]


def _law(place: Place) -> tuple[float, float]:
    """b and R² of the power law."""
    exponent, fit = power_law([float(row.at["children"]) for row in place.rows], _rates(place))
    return round(exponent, 3), round(fit, 4)


def _by_line(row: Row) -> tuple[str, str]:
    return case_words(row.at), row.lane


def _compared(one: Ratio) -> str:
    where = f"{case_words(one.at)}, how often all {one.at['children']} children are rejected"
    return f"{where}: {NAMES[one.one]} over {NAMES[one.other]}"


def _finding(result: ExperimentResult) -> Iterator[str]:
    count = result.ratios[0].at["children"]
    yield (
        f"With {NAMES[OURS]}, the probability that all of k children are rejected falls roughly as "
        f"a power of k. {_against_others(result)}"
    )
    for place in places(result.rows, _by_line):
        if place.rows[0].lane == OURS:
            rates = _rates(place)
            exponent, fit = _law(place)
            yield (
                f"{case_words(place.at).capitalize()}: from {rates[0]:.1%} for one child to "
                f"{rates[-1]:.1%} for {count} children, roughly as k^−{exponent:.2f} "
                f"(R² {fit:.3f})."
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
    drawn=drawn_rows(
        lambda row: Line(case_words(row.at), NAMES[row.lane], row.lane, row.at["children"]),
        "rejected",
    ),
    together=_by_line,
    columns=(
        Column("texts", lambda place: case_words(place.at)),
        Column("verifier", lambda place: NAMES[place.rows[0].lane]),
        Column("first child rejected", lambda place: _rates(place)[0], MEASURED),
        Column("all children rejected", lambda place: _rates(place)[-1], MEASURED),
        Column("b of the power law k^−b", lambda place: _law(place)[0], MEASURED),
        Column("R² of the power law", lambda place: _law(place)[1], MEASURED),
    ),
    compared=_compared,
    finding=_finding,
)

"""What the page shows of an experiment's result, and parts that the words of several experiments
share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sequoia.experiments.estimates import score
from sequoia.experiments.result import At, Estimate, ExperimentResult, Ratio, Row

MEASURED = "measured"
CLEARLY = "“Clearly” means that the 95% interval of the ratio of speeds excludes 1."
BEFORE_REPEATING = "before the text repeats itself"


@dataclass(frozen=True)
class Axis:
    """name: the heading of its column in the CSV export. label: shown at the axis. scale: linear or
    log."""

    name: str
    label: str
    scale: str = "linear"


@dataclass(frozen=True)
class Line:
    """Where an estimate is drawn. panel: the small plot, such as "code, temperature 0". method:
    decides the colour of the line, `race-METHOD` in assets/colours.json."""

    panel: str
    name: str
    method: str
    x: str | float


@dataclass(frozen=True)
class Place:
    """The rows of a result that share a line of the table."""

    rows: Sequence[Row]

    @property
    def at(self) -> At:
        return self.rows[0].at

    @property
    def lanes(self) -> dict[str, Row]:
        return {row.lane: row for row in self.rows}

    def mean(self, lane: str, figure: str = "tokens") -> float:
        return self.lanes[lane].figures[figure].mean


@dataclass(frozen=True)
class Column:
    """A column of the table. kind: the label of its numbers ("" for settings and words); MEASURED
    stands for the label of the result."""

    label: str
    cell: Callable[[Place], str | float | None]
    kind: str = ""


def by_place(row: Row) -> Hashable:
    return (*row.at.items(),)


@dataclass(frozen=True)
class Words:
    """The words of an experiment.

    drawn: the estimates of the plots. together: rows with the same key share a line of the table.
    compared: a ratio in words, None to leave it out. finding: the answer to the experiment's
    question, then details; of a result with ratios. note: what a reader of the plots and tables has
    to know. table: what the numbers in the table are, if its columns do not say so. source: the
    label of the plotted numbers.
    """

    title: str
    x: Axis
    y: Axis
    drawn: Callable[[ExperimentResult], Iterable[tuple[Line, Estimate]]]
    columns: Sequence[Column]
    compared: Callable[[Ratio], str | None]
    finding: Callable[[ExperimentResult], Iterable[str]]
    together: Callable[[Row], Hashable] = by_place
    note: str = ""
    table: str = ""
    source: str = MEASURED

    def view(self, result: ExperimentResult) -> dict[str, Any]:
        """The result as the page shows it, for JSON."""
        about = ("name", "date", "target", "draft", "machine", "settings", "done", "total")
        finding = self.finding(result) if result.ratios else ()
        return {
            **{name: getattr(result, name) for name in about},
            "title": self.title,
            "finding": "\n".join(filter(None, finding)),
            "source": _label(self.source, result),
            "x": asdict(self.x),
            "y": asdict(self.y),
            "series": _series(self.drawn(result)),
            "columns": [
                {"name": str(i), "label": one.label, "kind": _label(one.kind, result)}
                for i, one in enumerate(self.columns)
            ],
            "rows": [
                {str(i): column.cell(place) for i, column in enumerate(self.columns)}
                for place in places(result.rows, self.together)
            ],
            "comparisons": [
                {"text": words, "ratio": mean, "low": low, "high": high}
                for one in result.ratios
                for mean, low, high, _ in [one.ratio]
                if (words := self.compared(one)) is not None
            ],
        }


def _label(kind: str, result: ExperimentResult) -> str:
    return result.label if kind == MEASURED else kind


def _series(drawn: Iterable[tuple[Line, Estimate]]) -> list[dict[str, Any]]:
    lines = dict[tuple[str, str], dict[str, Any]]()
    for line, found in drawn:
        names = {"name": line.name, "method": line.method, "panel": line.panel}
        series = lines.setdefault((line.panel, line.name), {**names, "points": []})
        series["points"].append({"x": float(line.x), **found._asdict()})
    for series in lines.values():
        series["points"].sort(key=lambda point: point["x"])
    return [*lines.values()]


def drawn_rows(
    line: Callable[[Row], Line | None], figure: str = "tokens"
) -> Callable[[ExperimentResult], Iterator[tuple[Line, Estimate]]]:
    """Plots a figure of each row. line: where, None to leave the row out."""

    def drawn(result: ExperimentResult) -> Iterator[tuple[Line, Estimate]]:
        for row in result.rows:
            if at := line(row):
                yield at, row.figures[figure]

    return drawn


def places(rows: Iterable[Row], key: Callable[[Row], Hashable] = by_place) -> list[Place]:
    """The rows by their key, in the order in which the keys first occur."""
    groups = dict[Hashable, list[Row]]()
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return [*map(Place, groups.values())]


def case_words(at: At) -> str:
    """For example "code, temperature 0.6, top-p 0.9"."""
    cut = f", top-p {at['top_p']:g}" if "top_p" in at else ""
    part = f", {BEFORE_REPEATING}" if "part" in at else ""
    return f"{at['kind']}, temperature {at['temperature']:g}{cut}{part}"


def clearly(ratios: Sequence[Ratio]) -> tuple[str, str]:
    """How often the first lane is clearly higher and clearly lower, such as ("17", "none")."""
    counts = score(ratios)
    return count_or_none(counts.higher), count_or_none(counts.lower)


def count_or_none(count: int) -> str:
    """`count` as it appears in a sentence, with "none" for 0, as in "slower in none"."""
    return str(count) if count else "none"


def signed_percent(share: float, digits: int = 0) -> str:
    """ "+13%" or "−2%" """
    words = f"{share:+.{digits}%}".replace("-", "−")
    return "0%" if words in ("+0%", "−0%") else words


def changes(ratios: Iterable[float]) -> str:
    """The range of ratios as changes, such as "+1% to +18%"."""
    found = [*ratios]
    return f"{signed_percent(min(found) - 1)} to {signed_percent(max(found) - 1)}"

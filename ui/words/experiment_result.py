"""What the page shows of an experiment's result, and words that several experiments share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sequoia.experiments.result import At, Estimate, ExperimentResult, Ratio, Row, score
from ui.words.figures import signed

MEASURED = "measured"
CLEARLY = "“Clearly” means that the 95% interval of the ratio excludes 1."
# how two lanes are compared, and what is so where their ratio is above 1, and where it is below
Comparison = tuple[str, str, str]
TOKENS: Comparison = ("emits {} tokens per step than", "clearly more", "clearly fewer")
SPEED: Comparison = ("is {} than", "clearly faster", "clearly slower")


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
    decides the colour of the line, `race-METHOD` (see ui/shared/colours.py)."""

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

    def mean(self, lane: str, figure: str = "tokens") -> float | None:
        """None if the lane did not run here."""
        return self.lanes[lane].figures[figure].mean if lane in self.lanes else None


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

    def label(self, result: ExperimentResult) -> str:
        """Where the plotted numbers of `result` come from."""
        return _label(self.source, result)

    def view(self, result: ExperimentResult) -> dict[str, Any]:
        """The result as the page shows it, for JSON."""
        about = ("name", "date", "target", "draft", "machine", "settings", "done", "total")
        finding = (*self.finding(result), CLEARLY) if result.ratios else ()
        return {
            **{name: getattr(result, name) for name in about},
            "title": self.title,
            "finding": "\n".join(finding),
            "source": self.label(result),
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
    part = ", before the text repeats itself" if "part" in at else ""
    return f"{at['kind']}, temperature {at['temperature']:g}{cut}{part}"


def case(place: Place) -> str:
    return case_words(place.at)


def by_other(ratios: Iterable[Ratio], one: str) -> dict[str, list[Ratio]]:
    """The ratios of the lane `one`, by the lane that it is compared with."""
    found = dict[str, list[Ratio]]()
    for ratio in ratios:
        if ratio.one == one:
            found.setdefault(ratio.other, []).append(ratio)
    return found


def answer(
    ratios: Sequence[Ratio], one: str, other: str, compared: Comparison, where: str = ""
) -> str:
    """In how many of `ratios` the lane `one` is clearly above `other` and in how many clearly
    below, the more frequent first, and the range of the differences. where: which cases are
    compared."""
    verb, above, below = compared
    counts = score(ratios)
    (most, first), (least, second) = sorted(
        ((counts.higher, above), (counts.lower, below)), key=lambda one: -one[0]
    )
    means = [ratio.ratio.mean - 1 for ratio in ratios]
    return (
        f"{one} {verb.format(first)} {other} in {most} of {counts.total} cases{where}, and "
        f"{second} in {least or 'none'} ({signed(min(means))} to {signed(max(means))})."
    )

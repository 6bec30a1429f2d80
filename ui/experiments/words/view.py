"""What the page shows of an experiment's result, and parts that the words of several experiments
share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from sequoia.experiments.estimates import score
from sequoia.experiments.result import At, Estimate, ExperimentResult, Ratio, Row

T = TypeVar("T", bound=Hashable)
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
class Point:
    x: float
    mean: float
    low: float | None
    high: float | None
    prompts: int


@dataclass(frozen=True)
class Series:
    """One line of a plot. method: decides its colour, `race-METHOD` in assets/colours.json. panel:
    the small plot that the line belongs to, such as "code, temperature 0"."""

    name: str
    method: str
    panel: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Column:
    """A column of the table. kind: the label of its numbers ("" for settings and words)."""

    name: str
    label: str
    kind: str = ""


@dataclass(frozen=True)
class Words:
    """The words of an experiment.

    columns: of the table, for a result whose measured numbers have this label. series, rows: of a
    result; rows are cells by column name. compared: a ratio in words, or None to leave it out.
    finding: the answer to the experiment's question, then details; of a result with ratios. note:
    what a reader of the plots and tables has to know. table: what the numbers in the table are, if
    its columns do not say so. source: the label of the plotted numbers, if they are not measured.
    """

    title: str
    x: Axis
    y: Axis
    columns: Callable[[str], Iterable[Column]]
    series: Callable[[ExperimentResult], Iterable[Series]]
    rows: Callable[[ExperimentResult], Iterable[dict[str, Any]]]
    compared: Callable[[Ratio], str | None]
    finding: Callable[[ExperimentResult], Iterable[str]]
    note: str = ""
    table: str = ""
    source: str = ""

    def view(self, result: ExperimentResult) -> dict[str, Any]:
        """The result as the page shows it, for JSON."""
        about = ("name", "date", "target", "draft", "machine", "settings", "done", "total")
        finding = self.finding(result) if result.ratios else ()
        return {
            **{name: getattr(result, name) for name in about},
            "title": self.title,
            "finding": "\n".join(filter(None, finding)),
            "source": self.source or result.label,
            "x": asdict(self.x),
            "y": asdict(self.y),
            "series": [asdict(one) for one in self.series(result)],
            "columns": [asdict(one) for one in self.columns(result.label)],
            "rows": [*self.rows(result)],
            "comparisons": [
                {"text": words, "ratio": one.ratio.mean, **_ends(one.ratio)}
                for one in result.ratios
                if (words := self.compared(one)) is not None
            ],
        }


def _ends(estimate: Estimate) -> dict[str, float | None]:
    return {"low": estimate.low, "high": estimate.high}


def point(x: str | float, found: Estimate) -> Point:
    return Point(float(x), *found)


def grouped(rows: Iterable[Row], key: Callable[[Row], T]) -> dict[T, list[Row]]:
    """The rows by their key, in the order in which the keys first occur."""
    groups = dict[T, list[Row]]()
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


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

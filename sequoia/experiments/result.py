"""The result of an experiment: series of points for a plot, rows of a table, and comparisons with
their intervals. It can be saved to a file and exported as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from sequoia.errors import BadTrace
from sequoia.saved_files.check_fields import list_of, text_of
from sequoia.validate_input import as_file, number, one_of, read_dict, read_file, whole, write_file

FORMAT = "experiment"
SOURCES = ("recorded", "measured", "simulated")
KINDS = ("recorded", "measured", "simulated", "predicted", "paper", "")
SCALES = ("linear", "log")
MAX_CHARS = 2_000_000
MAX_WORDS = 4000  # limit in characters (not words) for each text field of ExperimentResult
MAX_SERIES = 200
MAX_POINTS = 2000
MAX_ROWS = 2000
MAX_COLUMNS = 40
MAX_COMPARISONS = 500
_LARGEST = 1e12
T = TypeVar("T")
Cell = str | float | None
Settings = Mapping[str, Any]  # plain JSON values


@dataclass(frozen=True)
class Axis:
    """An axis of the plot. name: the heading of its column in the CSV export. label: shown at the
    axis. scale: one of SCALES."""

    name: str
    label: str
    scale: str = "linear"


@dataclass(frozen=True)
class Point:
    """mean: the mean over `prompts` prompts at x, or a ratio of two such means. low, high: the ends
    of its 95% confidence interval, None if there is no interval (as for a single prompt)."""

    x: float
    mean: float
    low: float | None = None
    high: float | None = None
    prompts: int = 0


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
    """A column of the table. kind: where its numbers come from, one of KINDS ("" for settings and
    words)."""

    name: str
    label: str
    kind: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same prompts. ratio: the first method's mean divided by the second's. low
    and high: the ends of its paired 95% confidence interval, None if there is no interval."""

    text: str
    ratio: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ExperimentResult:
    """The result of an experiment. It may be incomplete: it covers `done` of the experiment's
    `total` units of work.

    finding: the answer to the question, then details, each on a line of its own. source: where the
    plotted numbers come from, one of SOURCES. date: year-month-day. machine: a description in
    words. rows: cells by column name. The experiment's `summary` function fills in finding, source,
    x, y, series, columns, rows and comparisons. The runner fills in the rest.
    """

    name: str = ""
    title: str = ""
    question: str = ""
    finding: str = ""
    source: str = "measured"
    date: str = ""
    target: str = ""
    draft: str = ""
    machine: str = ""
    settings: Settings = field(default_factory=dict)
    x: Axis = Axis("x", "")
    y: Axis = Axis("y", "")
    series: tuple[Series, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[Mapping[str, Cell], ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    done: int = 0
    total: int = 0

    @property
    def is_complete(self) -> bool:
        return self.done == self.total

    def to_dict(self) -> dict[str, Any]:
        """The result as the content of a file with the format "sequoia-experiment"."""
        return as_file(asdict(self), FORMAT)

    def to_json(self) -> str:
        """The result as the text of a file. Raises BadTrace above MAX_CHARS characters."""
        return write_file(self.to_dict(), FORMAT, MAX_CHARS, BadTrace)

    @classmethod
    def from_dict(cls, data: Any) -> ExperimentResult:
        """The result in `data`, the content of a file as the JSON parser returns it. Raises
        BadTrace if `data` is anything else."""
        return read_dict(data, FORMAT, BadTrace, _result)

    @classmethod
    def from_json(cls, text: str) -> ExperimentResult:
        """The result that `to_json` turned into `text`. Raises BadTrace if `text` is anything
        else."""
        return read_file(text, FORMAT, MAX_CHARS, BadTrace, _result)


def to_csv(result: ExperimentResult) -> str:
    """A line of column names, then one line for each point. The columns of x and mean have the
    names of the axes."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(("experiment", "panel", "series", result.x.name, result.y.name, *_REST))
    for series in result.series:
        for point in series.points:
            ends = ("" if end is None else end for end in (point.low, point.high))
            place = (result.name, series.panel, series.name)
            out.writerow((*place, point.x, point.mean, *ends, point.prompts))
    return text.getvalue()


_REST = ("low", "high", "prompts")


# -- reading a file --------------------------------------------------------------------------------


def _result(data: Mapping[str, Any]) -> ExperimentResult:
    total = whole(data["total"], "total", 0, MAX_POINTS * MAX_SERIES, BadTrace)
    words = ("name", "title", "question", "finding", "date", "target", "draft", "machine")
    if not isinstance(data["settings"], dict):
        raise BadTrace("settings: expected a JSON object")
    columns = _several(data["columns"], "columns", MAX_COLUMNS, _column)
    return ExperimentResult(
        **{name: text_of(data[name], name, MAX_WORDS) for name in words},
        source=one_of(data["source"], "source", SOURCES, BadTrace),
        settings=data["settings"],
        x=_axis(data["x"]),
        y=_axis(data["y"]),
        series=_several(data["series"], "series", MAX_SERIES, _series),
        columns=columns,
        rows=_several(data["rows"], "rows", MAX_ROWS, lambda row: _row(row, columns)),
        comparisons=_several(data["comparisons"], "comparisons", MAX_COMPARISONS, _comparison),
        done=whole(data["done"], "done", 0, total, BadTrace),
        total=total,
    )


def _several(values: Any, what: str, most: int, read: Callable[[Any], T]) -> tuple[T, ...]:
    return tuple(map(read, list_of(values, what, most)))


def _axis(data: Mapping[str, Any]) -> Axis:
    scale = one_of(data["scale"], "scale", SCALES, BadTrace)
    return Axis(text_of(data["name"], "axis"), text_of(data["label"], "label"), scale)


def _series(data: Mapping[str, Any]) -> Series:
    words = (text_of(data[name], name) for name in ("name", "method", "panel"))
    return Series(*words, points=_several(data["points"], "points", MAX_POINTS, _point))


def _point(data: Mapping[str, Any]) -> Point:
    prompts = whole(data["prompts"], "prompts", 0, 1_000_000, BadTrace)
    return Point(_value(data["x"]), _value(data["mean"]), *_ends(data), prompts)


def _column(data: Mapping[str, Any]) -> Column:
    kind = one_of(data["kind"], "kind", KINDS, BadTrace)
    return Column(text_of(data["name"], "column"), text_of(data["label"], "label"), kind)


def _row(data: Mapping[str, Any], columns: tuple[Column, ...]) -> Mapping[str, Cell]:
    return {column.name: _cell(data.get(column.name)) for column in columns}


def _cell(value: Any) -> Cell:
    if value is None:
        return None
    return text_of(value, "cell") if isinstance(value, str) else _value(value)


def _comparison(data: Mapping[str, Any]) -> Comparison:
    return Comparison(text_of(data["text"], "comparison"), _value(data["ratio"]), *_ends(data))


def _ends(data: Mapping[str, Any]) -> tuple[float | None, float | None]:
    low, high = (None if data[end] is None else _value(data[end]) for end in ("low", "high"))
    return low, high


def _value(value: Any) -> float:
    return number(value, "number", -_LARGEST, _LARGEST, BadTrace)

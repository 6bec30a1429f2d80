"""The result of an experiment as numbers and codes: estimates by lane and place, and ratios of two
lanes at the same place. A place is a point of the experiment's grid."""

from __future__ import annotations

import csv
import io
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sequoia.errors import BadTrace

At = dict[str, str | int | float]


class Estimate(NamedTuple):
    """A mean over `prompts` prompts, or a ratio of two such means. low, high: the ends of its 95%
    confidence interval, None if there is none (as for a single prompt)."""

    mean: float
    low: float | None = None
    high: float | None = None
    prompts: int = 0


class Finite(BaseModel):
    """Values that cannot be changed and contain no infinity or NaN."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Row(Finite):
    """What was measured in one lane (a decoder) at one place. at: the place, by axis, such as
    {"kind": "code", "nodes": 16}. about: what is known of the lane there, such as its tree's nodes.
    figures: estimates by name, such as "tokens" (per step)."""

    lane: str
    at: At
    about: At = Field(default_factory=dict)
    figures: dict[str, Estimate]


class Ratio(Finite):
    """The mean of the lane `one` divided by that of the lane `other`, on the same prompts at the
    same place. The interval is paired."""

    one: str
    other: str
    at: At
    ratio: Estimate


class ExperimentResult(Finite):
    """A result. It covers `done` of the `total` units of work.

    label: where the measured numbers come from. date: year-month-day. machine: a description in
    words. settings: plain JSON values.
    """

    format: Literal["sequoia-experiment"] = "sequoia-experiment"
    version: Literal[2] = 2
    name: str
    label: Literal["measured", "recorded"] = "measured"
    date: str = ""
    target: str = ""
    draft: str = ""
    machine: str = ""
    settings: dict[str, Any]
    rows: tuple[Row, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    done: int
    total: int

    @property
    def is_complete(self) -> bool:
        return self.done == self.total

    @classmethod
    def from_json(cls, text: str | bytes) -> ExperimentResult:
        """The result that `model_dump_json` turned into `text`. Raises BadTrace if `text` is
        anything else."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as problem:
            first = problem.errors()[0]
            place = ".".join(map(str, first["loc"])) or "file"
            raise BadTrace(f"not the result of an experiment: {place}: {first['msg']}") from None


def to_csv(result: ExperimentResult) -> str:
    """A line of column names, then one line for each estimate."""
    columns = {name: None for row in result.rows for name in (*row.at, *row.about)}
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(("experiment", "lane", *columns, "figure", *Estimate._fields))
    for row in result.rows:
        place = [{**row.at, **row.about}.get(name, "") for name in columns]
        for figure, estimate in row.figures.items():
            ends = ("" if value is None else value for value in estimate)
            out.writerow((result.name, row.lane, *place, figure, *ends))
    return text.getvalue()

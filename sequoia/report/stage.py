"""A stage of the report, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# "cut": the time for the whole report ran out before the stage ended. If the report is run again in
# the same folder, such a stage starts again.
ENDS = ("done", "failed", "skipped")
STATUSES = (*ENDS, "cut")


@dataclass(frozen=True)
class Stage:
    """A Python module that runs in a separate process, in an empty folder.

    about: what the stage finds out. value: how much that is worth, from 1 to 100. If time is short,
    the stages with the greatest total value are run. seconds: how long the stage is expected to
    take on this machine. limit: seconds after which the stage is stopped. files: the files it must
    write in its folder. line: only for a module that does not write outcome.json. If such a stage
    succeeds, its result is the last printed line that contains this text. skip: why this machine
    cannot run the stage, empty if it can.
    """

    name: str
    about: str
    module: str
    arguments: tuple[str, ...]
    value: int
    seconds: float
    limit: float = 300.0
    files: tuple[str, ...] = ()
    line: str = ""
    skip: str = ""

    @property
    def obstacle(self) -> str:
        """Why the stage is not run on this machine. Empty if it can be run."""
        if self.skip or self.seconds <= self.limit:
            return self.skip
        return f"would take about {self.seconds:,.0f} s here; the limit is {self.limit:g} s"


@dataclass(frozen=True)
class Outcome:
    """How a stage ended or was cut. status: one of STATUSES. words: what the stage found, or why it
    found nothing. seconds: how long it ran. figures: measured values by name, as JSON values."""

    status: str
    words: str
    seconds: float = 0.0
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """The outcome that `to_dict` wrote as `data`. Raises KeyError, TypeError or ValueError for
        data that describe no outcome."""
        status = data["status"]
        if status not in STATUSES:
            raise ValueError(f"{status!r} is not one of {', '.join(STATUSES)}")
        try:
            seconds = float(data.get("seconds", 0.0))
        except OverflowError:  # an integer with more than 308 digits
            raise ValueError("seconds: the number is too large") from None
        return cls(status, str(data["words"]), seconds, dict(data.get("figures", {})))

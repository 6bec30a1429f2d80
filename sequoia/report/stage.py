"""A stage of the report, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# Ends of a stage. "cut" is not an end: the time was up, and the next run of the command repeats it.
ENDS = ("done", "failed", "skipped")
STATUSES = (*ENDS, "cut")


@dataclass(frozen=True)
class Stage:
    """A Python module that runs in a process of its own, in an empty folder.

    about: what it finds out. value: what that is worth, from 1 to 100; if time is short, the stages
    worth most in total are run. seconds: how long it is expected to take on this machine. limit:
    seconds after which it is stopped. files: those it must write in its folder. line: the table
    shows the last printed line that contains this. skip: why this machine cannot run it, "" if it
    can.
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
        """Why it is not run on this machine, "" if it can be."""
        if self.skip or self.seconds <= self.limit:
            return self.skip
        return f"takes about {self.seconds:,.0f} s here; a stage may take {self.limit:g} s"


@dataclass(frozen=True)
class Outcome:
    """How a stage ended. words: what it found, or why it found nothing. figures: measured values by
    name, as JSON values."""

    status: str
    words: str
    seconds: float = 0.0
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """Raises KeyError, TypeError or ValueError for other values."""
        status = data["status"]
        if status not in STATUSES:
            raise ValueError(f"{status!r} is not one of {', '.join(STATUSES)}")
        seconds = float(data.get("seconds", 0.0))
        return cls(status, str(data["words"]), seconds, dict(data.get("figures", {})))

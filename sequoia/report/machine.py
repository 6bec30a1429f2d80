"""The machine, as far as the choice of stages depends on it. A separate process examines it, so the
command itself never touches the graphics card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sequoia.errors import SequoiaError
from sequoia.report.folder import Folder
from sequoia.report.run_stage import run_stage
from sequoia.report.stage import Stage

QUIET_SECONDS = 6.0  # of that process on two cores of a quiet machine, mostly for imports
_LIMIT = 240.0


class NoMachine(SequoiaError):
    """The machine cannot be examined, for example because its driver crashes."""


@dataclass(frozen=True)
class Machine:
    """name: of the card, or of the processor. free_bytes: on the card, or without one in the
    machine's memory. slowness: how many times as long processes take as on a quiet machine; at
    least 1."""

    name: str
    card: bool
    free_bytes: float
    host_free_bytes: float
    operations_per_second: float
    bytes_per_second: float
    slowness: float = 1.0

    @classmethod
    def from_figures(cls, figures: Mapping[str, Any], seconds: float) -> Machine:
        """The machine with these figures, which a process found in so many seconds."""
        return cls(**figures, slowness=max(seconds / QUIET_SECONDS, 1.0))


def examined(folder: Folder) -> Machine:
    """This machine. Raises NoMachine."""
    stage = Stage("machine", "", "sequoia.report.tasks", ("machine",), 1, QUIET_SECONDS, _LIMIT)
    outcome = run_stage(stage, folder.work(stage.name), folder.scratch, _LIMIT)
    if outcome.status != "done":
        raise NoMachine(
            f"this machine cannot be examined: {outcome.words}. To run without its "
            "graphics card, set CUDA_VISIBLE_DEVICES to an empty value"
        )
    return Machine.from_figures(outcome.figures, outcome.seconds)

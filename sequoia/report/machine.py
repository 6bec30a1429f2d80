"""What the stages of a report need to know about the machine. The machine is examined in a separate
process, so that the process of the report itself never uses the graphics card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sequoia.errors import SequoiaError
from sequoia.report.folder import Folder
from sequoia.report.run_stage import run_stage
from sequoia.report.stage import Stage

# how long the examination takes on two cores of an idle machine; imports take most of this time
QUIET_SECONDS = 6.0
_LIMIT = 240.0  # seconds


class NoMachine(SequoiaError):
    """The machine cannot be examined, for example because its driver crashes."""


@dataclass(frozen=True)
class Machine:
    """card: whether there is a graphics card that can be used. If so, `name`, `free_bytes` and the
    two speeds are those of the card, otherwise those of the processor and its memory.

    host_free_bytes: free host memory. operations_per_second: the speed of a matrix product.
    bytes_per_second: bytes read and written per second by a copy in memory. slowness: the time that
    the examination took here, divided by QUIET_SECONDS; at least 1.
    """

    name: str
    card: bool
    free_bytes: float
    host_free_bytes: float
    operations_per_second: float
    bytes_per_second: float
    slowness: float = 1.0

    @classmethod
    def from_figures(cls, figures: Mapping[str, Any], seconds: float) -> Machine:
        """The machine with these `figures`. seconds: how long the examination took, from which the
        slowness is computed."""
        return cls(**figures, slowness=max(seconds / QUIET_SECONDS, 1.0))


def examined(folder: Folder) -> Machine:
    """This machine. Raises NoMachine if it cannot be examined."""
    stage = Stage("machine", "", "sequoia.report.tasks", ("machine",), 1, QUIET_SECONDS, _LIMIT)
    outcome = run_stage(stage, folder.work(stage.name), folder.scratch, _LIMIT)
    if outcome.status != "done":
        raise NoMachine(
            f"this machine cannot be examined: {outcome.words}. To run without its "
            "graphics card, set CUDA_VISIBLE_DEVICES to an empty value"
        )
    return Machine.from_figures(outcome.figures, outcome.seconds)

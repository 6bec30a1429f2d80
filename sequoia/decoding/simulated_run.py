"""A recorded run with the step times of another machine. Runs no model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.run_file import Run

# Entries of a run's meta about its speed-up over plain decoding on the machine where it ran.
_MEASURED_META = ("plain_seconds", "plain_label", "plain_spread", "plain_lane")


def simulated_run(run: Run, clock: SimulatedClock) -> Run:
    """`run` with the times of `clock` in place of its own. Tokens, trees and texts stay the same.

    In the meta, "label" becomes "simulated", "clock" becomes the clock's name, and the time of
    plain decoding in "plain_seconds" is simulated too. The other entries of _MEASURED_META are
    removed. All others stay, even "plain", which has measured times.
    """
    meta: dict[str, Any] = {
        name: value for name, value in run.meta.items() if name not in _MEASURED_META
    }
    meta |= {
        "label": "simulated",
        "clock": clock.name,
        "plain_seconds": clock.profile.plain_seconds,
        "plain_label": "simulated",
    }
    return replace(run, meta=meta, steps=tuple(map(clock.retimed, run.steps)))

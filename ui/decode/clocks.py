"""The clocks that a run can be timed on: that of this machine, which measures, and simulated ones,
which take step times from the ready profiles of other machines. Independent of Gradio."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from sequoia import StepTrace
from sequoia.errors import BadProfile
from sequoia.planning.named_profiles import profile_names
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.validate_input import shown
from ui.shared.saved_profiles import Entry, shipped

HERE = ""  # the key of this machine's own clock
LABEL = "Timed on"
_AN = re.compile(r"[AEIO]|[FHLMNRSX](?=[A-Z0-9])")  # names that begin with the sound of a vowel


@cache
def simulated_clocks() -> Mapping[str, Entry]:
    """The ready profiles whose times are all computed, by key. Times that were measured elsewhere,
    or published, are not among them: they would be called simulated."""
    found = {key: shipped()[key] for key in profile_names() if key in shipped()}
    return {key: entry for key, entry in found.items() if entry.profile.source == "simulated"}


def clock_choices() -> list[tuple[str, str]]:
    """The entries of the menu: what is shown, and the key."""
    simulated = [
        (f"as on {'an' if _AN.match(entry.name) else 'a'} {entry.name} (simulated)", key)
        for key, entry in simulated_clocks().items()
    ]
    return [("this machine (measured)", HERE), *simulated]


def checked_key(key: Any) -> str:
    """`key` if it is that of a clock. Raises BadProfile for any other value."""
    if isinstance(key, str) and key in (HERE, *simulated_clocks()):
        return key
    raise BadProfile(
        f"{LABEL}: {shown(key)} is not a clock; leave it empty for this machine or choose one of "
        f"{', '.join(simulated_clocks())}"
    )


def simulated_clock(key: str) -> SimulatedClock | None:
    """The clock of a checked `key`; None for this machine's own."""
    if key == HERE:
        return None
    entry = simulated_clocks()[key]
    return SimulatedClock(entry.profile, entry.name)


def key_of(name: str) -> str:
    """The key of the clock that is called `name` in a run's meta, which may come from a file.
    Raises BadProfile if there is none of that name."""
    if not name:
        return HERE
    for key, entry in simulated_clocks().items():
        if entry.name == name:
            return key
    raise BadProfile(f"{LABEL}: the run was timed on {shown(name)}, whose step times are unknown")


def retimed(trace: StepTrace, clock: SimulatedClock | None) -> StepTrace:
    """`trace` with the step times of `clock`; unchanged without one."""
    return clock.retimed(trace) if clock else trace


def clock_meta(key: str) -> dict[str, Any]:
    """What a run's meta says about the clock of a checked `key`: its label, and for a simulated
    clock its name and which of its figures are assumptions."""
    clock = simulated_clock(key)
    if clock is None:
        return {"label": "measured"}
    return {
        "label": "simulated",
        "clock": clock.name,
        "clock_note": simulated_clocks()[key].note,
    }

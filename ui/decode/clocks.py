"""The clocks that a run can be timed on: that of this machine, which measures, and simulated ones,
which take step times from the ready profiles of other machines. Independent of Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sequoia import StepTrace, Tree
from sequoia.errors import BadProfile, BadTree
from sequoia.planning.explain_plan import calibration_words
from sequoia.planning.named_profiles import profile_names
from sequoia.planning.simulated_step_times import SimulatedClock, with_article
from sequoia.validate_input import shown
from ui.shared.saved_profiles import SAVED, Entry, saved_entries, shipped

HERE = ""  # the key of this machine's own clock
LABEL = "Timed on"


def simulated_clocks(store: Any = None) -> dict[str, Entry]:
    """The profiles whose times are all computed, by key: those saved in the visitor's browser,
    whose content `store` is untrusted, and the ready ones. Times that were measured elsewhere, or
    published, are not among them: they would be called simulated."""
    saved = {SAVED + name: entry for name, entry in saved_entries(store).items()}
    return {**_simulated(saved), **_ready()}


@cache
def _ready() -> dict[str, Entry]:
    known = shipped()  # a damaged file is not among them
    return _simulated({key: known[key] for key in profile_names() if key in known})


def _simulated(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    return {key: entry for key, entry in entries.items() if entry.profile.source == "simulated"}


def clock_choices(store: Any = None) -> list[tuple[str, str]]:
    """The entries of the menu: what is shown, and the key."""
    simulated = [(clock_label(key, entry), key) for key, entry in simulated_clocks(store).items()]
    return [("this machine (measured)", HERE), *simulated]


def clock_label(key: str, entry: Entry) -> str:
    """What a menu calls the clock of the profile `entry`: its name, which is in quotation marks
    where a visitor chose it, and where its times come from."""
    if key.startswith(SAVED):
        return f"as on “{entry.name}” ({entry.profile.source})"
    return f"as on {with_article(entry.name)} ({entry.profile.source})"


def checked_clock(key: Any, store: Any = None) -> Entry | None:
    """The profile of the clock `key`; None for this machine's own. Raises BadProfile for any other
    value."""
    known = simulated_clocks(store)
    if key == HERE:
        return None
    if isinstance(key, str) and key in known:
        return known[key]
    raise BadProfile(
        f"{LABEL}: {shown(key)} is not a clock; leave it empty for this machine or choose one of "
        f"{', '.join(known)}"
    )


def require_timeable(clock: Entry | None, kind: str) -> None:
    """Raises BadTree if steps with trees of the menu's `kind` cannot be timed on the simulated
    clock of the profile `clock`."""
    if clock and kind == "dynamic":
        raise BadTree(
            "a dynamic tree cannot be timed on a simulated clock: a step may draft nodes that its "
            f"tree does not keep; choose another tree, or set “{LABEL}” to this machine"
        )


def simulated_clock(entry: Entry | None) -> SimulatedClock | None:
    """The clock of the profile `entry`; None for this machine's own."""
    return SimulatedClock(entry.profile, entry.name) if entry else None


def clock_name(key: Any, store: Any = None) -> str:
    """The name of the simulated clock `key`; empty for this machine, and for any other value."""
    entry = simulated_clocks(store).get(key) if isinstance(key, str) else None
    return entry.name if entry else ""


def key_of(name: str, store: Any = None) -> str:
    """The key of the clock that is called `name` in a run's meta, which may come from a file.
    Raises BadProfile if there is none of that name."""
    if not name:
        return HERE
    for key, entry in simulated_clocks(store).items():
        if entry.name == name:
            return key
    raise BadProfile(f"{LABEL}: the run was timed on {shown(name)}, whose step times are unknown")


def retimed(trace: StepTrace, clock: SimulatedClock | None) -> StepTrace:
    """`trace` with the step times of `clock`; unchanged without one."""
    return clock.retimed(trace) if clock else trace


def clock_meta(entry: Entry | None, tree: Tree | None = None) -> dict[str, Any]:
    """What a run's meta says about its clock: its label, and for a simulated clock its name, which
    of its figures are assumptions, and whether the time of `tree` is extrapolated. tree: that of
    every step; None if each step may have another one."""
    if entry is None:
        return {"label": "measured"}
    notes = [entry.note, calibration_words(tree, entry.profile) if tree else ""]
    return {
        "label": "simulated",
        "clock": entry.name,
        "clock_note": " ".join(filter(None, notes)),
    }

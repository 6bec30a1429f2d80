"""The clocks that a run can be timed on: this machine's own, whose step times are measured, and
simulated clocks, whose step times come from the profile of another machine. Independent of
Gradio."""

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
    """The profiles that can serve as a clock, by key: those saved in the visitor's browser
    (`store`, untrusted) and those shipped with the program. Only profiles with simulated times are
    included: times that were recorded or published would wrongly be labelled simulated."""
    saved = {SAVED + name: entry for name, entry in saved_entries(store).items()}
    return {**_simulated(saved), **_ready()}


@cache
def _ready() -> dict[str, Entry]:
    known = shipped()  # lacks damaged files, which `profile_names` may list
    return _simulated({key: known[key] for key in profile_names() if key in known})


def _simulated(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    return {key: entry for key, entry in entries.items() if entry.profile.source == "simulated"}


def clock_choices(store: Any = None) -> list[tuple[str, str]]:
    """The entries of the clock menu, each (label, key). This machine is the first."""
    simulated = [(clock_label(key, entry), key) for key, entry in simulated_clocks(store).items()]
    return [("this machine (measured)", HERE), *simulated]


def clock_label(key: str, entry: Entry) -> str:
    """The label of a clock in menus: the name of its profile `entry`, and where its times come
    from. A name that a visitor chose is in quotation marks."""
    if key.startswith(SAVED):
        return f"as on “{entry.name}” ({entry.profile.source})"
    return f"as on {with_article(entry.name)} ({entry.profile.source})"


def checked_clock(key: Any, store: Any = None) -> Entry | None:
    """The profile of the clock `key`; None for this machine's own. Raises BadProfile if `key` is
    not that of a clock."""
    known = simulated_clocks(store)
    if key == HERE:
        return None
    if isinstance(key, str) and key in known:
        return known[key]
    raise BadProfile(
        f"{LABEL}: {shown(key)} is not a clock; leave it out for this machine, or choose one of "
        f"{', '.join(known)}"
    )


def require_timeable(clock: Entry | None, kind: str) -> None:
    """Raises BadTree if a tree of the menu's `kind` cannot be timed on `clock`, the profile of a
    simulated clock; None is this machine's own, which can time every tree."""
    if clock and kind == "dynamic":
        raise BadTree(
            "a dynamic tree cannot be timed on a simulated clock, because a step may draft "
            "nodes that its final tree does not keep; choose another tree, or set "
            f"“{LABEL}” to this machine"
        )


def simulated_clock(entry: Entry | None) -> SimulatedClock | None:
    """The clock of the profile `entry`; None for this machine's own."""
    return SimulatedClock(entry.profile, entry.name) if entry else None


def clock_name(key: Any, store: Any = None) -> str:
    """The name of the simulated clock `key`; empty for this machine and for an unknown key."""
    entry = simulated_clocks(store).get(key) if isinstance(key, str) else None
    return entry.name if entry else ""


def key_of(name: str, store: Any = None) -> str:
    """The key of the clock called `name` in a run's meta, which may come from a file. An empty name
    is this machine's own clock. Raises BadProfile if no clock has this name."""
    if not name:
        return HERE
    for key, entry in simulated_clocks(store).items():
        if entry.name == name:
            return key
    raise BadProfile(
        f"{LABEL}: the run was timed on {shown(name)}, but no simulated profile has that name"
    )


def retimed(trace: StepTrace, clock: SimulatedClock | None) -> StepTrace:
    """`trace` with the step times of `clock`; unchanged if `clock` is None."""
    return clock.retimed(trace) if clock else trace


def clock_meta(entry: Entry | None, tree: Tree | None = None) -> dict[str, Any]:
    """The fields of a run's meta about its clock: the label of its times, and for a simulated clock
    also its name and a note. The note says which figures of the profile are assumptions, and
    whether the time of `tree` is extrapolated. tree: the one tree of all steps; None if the tree
    may change from step to step."""
    if entry is None:
        return {"label": "measured"}
    notes = [entry.note, calibration_words(tree, entry.profile) if tree else ""]
    return {
        "label": "simulated",
        "clock": entry.name,
        "clock_note": " ".join(filter(None, notes)),
    }

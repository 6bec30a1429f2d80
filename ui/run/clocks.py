"""The clocks that can time a run. The clock of this machine gives measured step times. A simulated
clock gives the step times that a simulated profile predicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sequoia import StepTrace, Tree
from sequoia.errors import BadProfile, BadTree
from sequoia.planning.named_profiles import profile_names
from sequoia.planning.paper_results import best_in_paper
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.run_meta import PaperResult, SharedMeta
from sequoia.validate_input import shown
from ui.shared.saved_profiles import SAVED, Entry, saved_entries, shipped
from ui.words.figures import machine_of
from ui.words.plans import calibration_words

HERE = ""  # the key of this machine's own clock
LABEL = "Timed on"  # the label of the clock menu


def simulated_clocks(store: Any = None) -> dict[str, Entry]:
    """The profiles that can serve as a clock, by key. store: those saved in the visitor's browser,
    untrusted. Only profiles with simulated times are included, because a run timed by a profile
    is labelled simulated. That would be wrong for recorded or published times."""
    saved = {SAVED + name: entry for name, entry in saved_entries(store).items()}
    return {**_simulated(saved), **_shipped_clocks()}


@cache
def _shipped_clocks() -> dict[str, Entry]:
    return _simulated({key: shipped()[key] for key in profile_names()})


def _simulated(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    return {key: entry for key, entry in entries.items() if entry.profile.source == "simulated"}


def clock_choices(store: Any = None) -> list[tuple[str, str]]:
    """The entries of the clock menu, each (label, key). This machine is the first."""
    simulated = [(clock_label(key, entry), key) for key, entry in simulated_clocks(store).items()]
    return [("this machine (measured)", HERE), *simulated]


def clock_label(key: str, entry: Entry) -> str:
    """The label of a clock in menus. The name of a profile that a visitor saved is in quotation
    marks. entry: the profile."""
    if key.startswith(SAVED):
        return f"as on “{entry.name}” ({entry.profile.source})"
    return f"as on the {entry.name} ({entry.profile.source})"


def checked_clock(key: Any, store: Any = None) -> Entry | None:
    """The profile of the clock with this key; None for this machine's own clock. Raises BadProfile
    if there is no such clock."""
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
    """Raises BadTree for a tree that a simulated clock cannot time. clock: the clock's profile;
    None for this machine's own clock. kind: the tree's kind in the menu."""
    if clock and kind == "dynamic":
        raise BadTree(
            "a dynamic tree cannot be timed on a simulated clock, because drafting it may take "
            "more passes than its final shape shows; choose another tree, or set "
            f"“{LABEL}” to this machine"
        )
    if clock and kind == "lookup":
        raise BadTree(
            "a run without a draft model cannot be timed on a simulated clock, which has the times "
            f"of a draft model; choose another tree, or set “{LABEL}” to this machine"
        )


def simulated_clock(entry: Entry | None) -> SimulatedClock | None:
    """The clock with the times of the profile `entry`; None for this machine's own clock."""
    return SimulatedClock(entry.profile, entry.name) if entry else None


def key_of(name: str, store: Any = None) -> str:
    """The key of the clock called `name`. An empty name is this machine's own clock. Raises
    BadProfile if no clock has this name, as can happen if the name comes from a saved run."""
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


def clock_meta(
    entry: Entry | None, models: tuple[str, str], tree: Tree | None = None
) -> SharedMeta:
    """The fields of a run's meta that describe its clock: the label of the times, and for a
    simulated clock also its name, its machine in words that fit into a sentence, a note about its
    figures, and the fields of `mixture_meta`. entry: the profile of a simulated clock; None for
    this machine's own clock. models: the names of the run's target and draft. tree: the tree of all
    steps; None if the tree may change from step to step."""
    if entry is None:
        return {"label": "measured"}
    notes = [entry.note, calibration_words(tree, entry.profile) if tree else ""]
    return {
        "label": "simulated",
        "clock": entry.name,
        "clock_machine": machine_of(entry.name),
        "clock_note": " ".join(filter(None, notes)),
        **mixture_meta(entry, models),
    }


def mixture_meta(entry: Entry, models: tuple[str, str]) -> SharedMeta:
    """The fields of a simulated run's meta that say whether it is a mixture.

    hypothetical: whether its times are of other models than its acceptance. paper: the best
    speed-up that the paper measured with the models and the card of the profile `entry`, missing if
    it did not. models: the names of the run's target and draft, each with its size after a comma.
    """
    own = tuple(name.split(",")[0].casefold() for name in models)
    timed = tuple(name.casefold() for name in entry.model_names)
    meta: SharedMeta = {"hypothetical": own != timed}
    if paper := best_in_paper(entry.profile):
        meta["paper"] = PaperResult(**paper)
    return meta


def mixture_in_file(meta: Mapping[str, Any], clock: str) -> SharedMeta:
    """`mixture_meta` for the meta of a run file whose simulated clock is called `clock`. A mixture
    is assumed if the profile does not come with the program, unless the file says otherwise."""
    models = str(meta.get("target", "")), str(meta.get("draft", ""))
    entry = next((one for one in _shipped_clocks().values() if one.name == clock), None)
    if entry is None:
        return {"hypothetical": meta.get("hypothetical") is not False}
    return mixture_meta(entry, models)

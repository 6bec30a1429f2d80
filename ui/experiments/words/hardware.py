"""The words of the experiment `hardware`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sequoia.experiments.result import ExperimentResult, Ratio, Row
from sequoia.planning.named_profiles import machine_name
from ui.experiments.words.view import (
    CLEARLY,
    MEASURED,
    Axis,
    Column,
    Line,
    Place,
    Words,
    case_words,
    clearly,
    drawn_rows,
    places,
)

_FOREIGN = "slowest of the trees planned for other machines"


def _speed(row: Row) -> float:
    return row.figures["speed"].mean


def _planned(place: Place) -> Row:
    return place.lanes[str(place.at["machine"])]


def _best(place: Place) -> Row:
    """The fastest of the trees of fixed sizes."""
    return max((row for row in place.rows if row.lane.isdigit()), key=_speed)


def _foreign(place: Place) -> Row:
    """The slowest of the trees planned for other machines."""
    own = place.at["machine"]
    others = (row for row in place.rows if row.lane != own and not row.lane.isdigit())
    return min(others, key=_speed)


def _words(place: Place) -> str:
    return f"{machine_name(str(place.at['machine']))}, {case_words(place.at)}"


def _line(row: Row) -> Line | None:
    panel = f"{machine_name(str(row.at['machine']))}: {case_words(row.at)}"
    if row.lane.isdigit():
        return Line(panel, "Trees with the most tokens per step", "other", row.about["nodes"])
    if row.lane == row.at["machine"]:
        return Line(panel, "Planned for the machine", "sequoia", row.about["nodes"])
    return None


def _rounded(row_of: Callable[[Place], Row]) -> Callable[[Place], float]:
    return lambda place: round(_speed(row_of(place)), 3)


def _planned_tree(place: Place) -> str:
    about = _planned(place).about
    return f"{about['nodes']}, {about['levels']}"


def _compared(one: Ratio) -> str:
    other = one.other
    tree = f"tree of {other} nodes" if other.isdigit() else f"tree for {machine_name(other)}"
    return f"{machine_name(one.one)}, {case_words(one.at)}: tree planned for it over {tree}"


_VARIED = {"machines": "machines", "kinds": "kinds of text", "temperatures": "temperatures"}


def _finding(result: ExperimentResult) -> Iterator[str]:
    gains = [one for one in result.ratios if one.other.isdigit()]
    found = places(result.rows)
    yield _against_one_size(gains, result.settings)
    means = [one.ratio.mean for one in gains]
    yield f"{CLEARLY} The ratios range from {min(means):.2f}× to {max(means):.2f}×."
    ratios = [_speed(_planned(one)) / _speed(_best(one)) for one in found]
    yield (
        "Compared with the best fixed size of each case, the planned tree runs at "
        f"{statistics.geometric_mean(ratios):.2f}× the speed on average and "
        f"{min(ratios):.2f}× at worst."
    )
    yield _sizes_in_words(found)
    yield _on_the_wrong_machine(found)


def _against_one_size(gains: Sequence[Ratio], settings: dict[str, Any]) -> str:
    higher, lower = clearly(gains)
    several = ", ".join(
        f"{len(settings[key])} {words}" for key, words in _VARIED.items() if len(settings[key]) > 1
    )
    is_complete = len(gains) == math.prod(len(settings[key]) for key in _VARIED)
    cases = f"{len(gains)} cases" + (f" ({several})" if several and is_complete else "")
    return (
        f"In {higher} of {cases}, the tree planned for the machine is clearly faster than a tree "
        f"of {gains[0].other} nodes, the best single size over all machines. It is clearly slower "
        f"in {lower}."
    )


def _sizes_in_words(found: Sequence[Place]) -> str:
    def size(place: Place) -> int:
        return int(_best(place).about["nodes"])

    least = min(found, key=size)
    most = max(found, key=size)
    if size(least) == size(most):
        return f"The best size is {size(most)} nodes everywhere."
    ends = (f"{size(one)} nodes ({_words(one)})" for one in (least, most))
    return f"The best size ranges from {' to '.join(ends)}."


def _on_the_wrong_machine(found: Sequence[Place]) -> str:
    def ratio(place: Place) -> float:
        return _speed(_foreign(place)) / _speed(_planned(place))

    worst = min(found, key=ratio)
    slow = "On the wrong machine a planned tree can be slow. " if ratio(worst) < 1 else ""
    return (
        f"{slow}{_words(worst)}: the tree planned for {machine_name(_foreign(worst).lane)} runs at "
        f"{ratio(worst):.2f}× the speed of the tree planned for this machine."
    )


HARDWARE = Words(
    title="Hardware-aware trees vs. trees of fixed size",
    x=Axis("nodes", "nodes of the tree", "log"),
    y=Axis("speed-up", "speed-up over plain decoding (simulated)"),
    drawn=drawn_rows(_line, "speed"),
    columns=(
        Column("machine", lambda place: machine_name(str(place.at["machine"]))),
        Column("texts", lambda place: case_words(place.at)),
        Column("planned tree: nodes, levels", _planned_tree, "predicted"),
        Column(
            "planned tree: tokens per step",
            lambda place: _planned(place).figures["tokens"].mean,
            MEASURED,
        ),
        Column("planned tree: speed-up", _rounded(_planned), "simulated"),
        Column("best fixed size (nodes)", lambda place: _best(place).about["nodes"], "simulated"),
        Column("best fixed size: speed-up", _rounded(_best), "simulated"),
        Column(_FOREIGN, lambda place: machine_name(_foreign(place).lane), "simulated"),
        Column(f"{_FOREIGN}: speed-up", _rounded(_foreign), "simulated"),
    ),
    compared=_compared,
    finding=_finding,
    note=(
        "A tree of fixed size has the most expected tokens per step of all trees of that size. Its "
        "levels are not limited, so a planned tree with fewer levels can be faster. The best fixed "
        "size of a case is the fastest of these sizes."
    ),
    source="simulated",
)

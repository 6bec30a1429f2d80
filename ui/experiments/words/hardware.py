"""The words of the experiment `hardware`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia.experiments.result import ExperimentResult, Ratio, Row
from sequoia.planning.named_profiles import machine_name
from ui.experiments.words.view import (
    CLEARLY,
    Axis,
    Column,
    Series,
    Words,
    case_words,
    clearly,
    grouped,
    point,
)


def _columns(label: str) -> Iterator[Column]:
    foreign = "slowest of the trees planned for other machines"
    yield Column("machine", "machine")
    yield Column("case", "texts")
    yield Column("tree", "planned tree: nodes, levels", "predicted")
    yield Column("tokens", "planned tree: tokens per step", label)
    yield Column("planned", "planned tree: speed-up", "simulated")
    yield Column("size", "best fixed size (nodes)", "simulated")
    yield Column("fixed", "best fixed size: speed-up", "simulated")
    yield Column("other", foreign, "simulated")
    yield Column("foreign", f"{foreign}: speed-up", "simulated")


@dataclass(frozen=True)
class _Here:
    """One machine and one case (a kind of prompt with sampling settings). planned: the tree planned
    for the machine. sizes: trees of fixed sizes. foreign: the slowest of the trees planned for
    other machines."""

    machine: str
    case: str
    planned: Row
    sizes: Sequence[Row]
    foreign: Row

    @property
    def best(self) -> Row:
        """The fastest of the trees of fixed sizes."""
        return max(self.sizes, key=_speed)

    @property
    def words(self) -> str:
        return f"{self.machine}, {self.case}"


def _speed(row: Row) -> float:
    return row.figures["speed"].mean


def _here(result: ExperimentResult) -> list[_Here]:
    places = grouped(result.rows, lambda row: (str(row.at["machine"]), case_words(row.at)))
    return [
        _Here(
            machine_name(machine),
            case,
            next(row for row in rows if row.lane == machine),
            [row for row in rows if row.lane.isdigit()],
            min((row for row in rows if _is_foreign(row, machine)), key=_speed),
        )
        for (machine, case), rows in places.items()
    ]


def _is_foreign(row: Row, machine: str) -> bool:
    return not row.lane.isdigit() and row.lane != machine


def _series(result: ExperimentResult) -> Iterator[Series]:
    for here in _here(result):
        panel = f"{here.machine}: {here.case}"
        sizes, planned = (
            tuple(point(row.about["nodes"], row.figures["speed"]) for row in rows)
            for rows in (here.sizes, [here.planned])
        )
        yield Series("Trees with the most tokens per step", "other", panel, sizes)
        yield Series("Planned for the machine", "sequoia", panel, planned)


def _rows(result: ExperimentResult) -> Iterator[dict[str, Any]]:
    for here in _here(result):
        about = here.planned.about
        speeds = {"planned": here.planned, "fixed": here.best, "foreign": here.foreign}
        yield {
            "machine": here.machine,
            "case": here.case,
            "tree": f"{about['nodes']}, {about['levels']}",
            "tokens": round(here.planned.figures["tokens"].mean, 3),
            "size": here.best.about["nodes"],
            "other": machine_name(here.foreign.lane),
            **{name: round(_speed(row), 3) for name, row in speeds.items()},
        }


def _compared(one: Ratio) -> str:
    other = one.other
    tree = f"tree of {other} nodes" if other.isdigit() else f"tree for {machine_name(other)}"
    where = f"{machine_name(one.one)}, {case_words(one.at)}"
    return f"{where}: tree planned for it over {tree}"


_VARIED = {"machines": "machines", "kinds": "kinds of text", "temperatures": "temperatures"}


def _finding(result: ExperimentResult) -> Iterator[str]:
    gains = [one for one in result.ratios if one.other.isdigit()]
    found = _here(result)
    yield _against_one_size(gains, result.settings)
    means = [one.ratio.mean for one in gains]
    yield f"{CLEARLY} The ratios range from {min(means):.2f}× to {max(means):.2f}×."
    ratios = [_speed(one.planned) / _speed(one.best) for one in found]
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


def _sizes_in_words(found: Sequence[_Here]) -> str:
    def size(here: _Here) -> int:
        return int(here.best.about["nodes"])

    least = min(found, key=size)
    most = max(found, key=size)
    if size(least) == size(most):
        return f"The best size is {size(most)} nodes everywhere."
    ends = (f"{size(one)} nodes ({one.words})" for one in (least, most))
    return f"The best size ranges from {' to '.join(ends)}."


def _on_the_wrong_machine(found: Sequence[_Here]) -> str:
    def ratio(here: _Here) -> float:
        return _speed(here.foreign) / _speed(here.planned)

    worst = min(found, key=ratio)
    slow = "On the wrong machine a planned tree can be slow. " if ratio(worst) < 1 else ""
    return (
        f"{slow}{worst.words}: the tree planned for {machine_name(worst.foreign.lane)} runs at "
        f"{ratio(worst):.2f}× the speed of the tree planned for this machine."
    )


HARDWARE = Words(
    title="Hardware-aware trees vs. trees of fixed size",
    x=Axis("nodes", "nodes of the tree", "log"),
    y=Axis("speed-up", "speed-up over plain decoding (simulated)"),
    columns=_columns,
    series=_series,
    rows=_rows,
    compared=_compared,
    finding=_finding,
    note=(
        "A tree of fixed size has the most expected tokens per step of all trees of that size. Its "
        "levels are not limited, so a planned tree with fewer levels can be faster. The best fixed "
        "size of a case is the fastest of these sizes."
    ),
    source="simulated",
)

"""The result of the experiment `chain`. For each machine, the speed of each decoder is divided by
that of the tuned chain: the chain of the length predicted to be fastest. The quotient is plotted
against how often the draft's first guess is accepted."""

from __future__ import annotations

from collections.abc import Iterator

from sequoia.experiments.chain_finding import finding
from sequoia.experiments.chain_settings import (
    CHAIN,
    METHODS,
    RIVALS,
    STOPPING,
    TREE,
    WIDE,
    Setting,
    cost_of_nodes,
    settings_done,
)
from sequoia.experiments.experiment import Done
from sequoia.experiments.result import (
    Axis,
    Cell,
    Column,
    ExperimentResult,
    Point,
    Series,
    Settings,
)
from sequoia.planning.named_profiles import machine_name

COLUMNS = (
    Column("machine", "machine"),
    Column("kind", "texts"),
    Column("temperature", "temperature"),
    Column("draft", "draft"),
    Column("first", "first guess accepted", "predicted"),
    Column("cost", f"time of a pass over {WIDE} nodes / over 1 node", "simulated"),
    Column("nodes", "tuned chain, nodes", "predicted"),
    Column("tree", "planned tree: nodes, levels, max children", "predicted"),
    Column(
        "stop", "stopping chain: max nodes, lowest draft probability (0: never stops)", "predicted"
    ),
    *(Column(key, f"{label}: speed-up", "simulated") for key, label in RIVALS.items()),
)


def summary(settings: Settings, done: Done) -> ExperimentResult:
    found = [*settings_done(settings, done)]
    return ExperimentResult(
        finding=finding(found) if found else "",
        source="simulated",
        x=Axis("first", "how often the draft's first guess is accepted"),
        y=Axis("ratio", "speed / tuned chain's speed (simulated)"),
        series=tuple(_series(settings, found)),
        columns=COLUMNS,
        rows=tuple(map(_row, found)),
        comparisons=tuple(
            setting.ratio(TREE, other) for other in (CHAIN, STOPPING) for setting in found
        ),
    )


def _series(settings: Settings, found: list[Setting]) -> Iterator[Series]:
    for machine in settings["machines"]:
        here = sorted((one for one in found if one.machine == machine), key=lambda one: one.first)
        for rival, label in RIVALS.items():
            points = tuple(_point(one, rival) for one in here if one.has(rival))
            if rival != CHAIN and points:
                yield Series(label, METHODS[rival], machine_name(machine), points)


def _point(setting: Setting, rival: str) -> Point:
    ratio = setting.ratio(rival, CHAIN)
    return Point(setting.first, ratio.ratio, ratio.low, ratio.high, len(setting.found))


def _row(setting: Setting) -> dict[str, Cell]:
    planned = setting.found[0]
    numbers = {
        rival: round(_mean(setting.speeds(rival)), 3) if setting.has(rival) else None
        for rival in RIVALS
    }
    return {
        "machine": machine_name(setting.machine),
        "kind": setting.kind,
        "temperature": setting.temperature,
        "draft": setting.draft,
        "first": round(setting.first, 3),
        "cost": round(cost_of_nodes(setting.machine), 2),
        "nodes": planned["chain"],
        "tree": ", ".join(map(str, planned["tree"])),
        "stop": ", ".join(f"{number:g}" for number in planned["stop"]),
        **numbers,
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)

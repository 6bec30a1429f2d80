"""Does planning a tree for the machine pay? The tree planned for each machine is compared with the
best trees of fixed sizes and with the trees planned for other machines (paper: Figures 7 and 8).
Tokens per step are measured. Times are simulated from each machine's profile."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.experiments.experiment import Done, Experiment, Unit
from sequoia.experiments.finding_words import count_or_none, lines
from sequoia.experiments.intervals import comparison, point, score
from sequoia.experiments.planned import planning_vector
from sequoia.experiments.result import (
    Axis,
    Cell,
    Column,
    Comparison,
    ExperimentResult,
    Point,
    Series,
    Settings,
)
from sequoia.experiments.text_units import (
    Case,
    case_of,
    found_by_case,
    params_of,
    text_units,
    tokens_per_step_along,
)
from sequoia.models.pair import Pair
from sequoia.planning.named_profiles import machine_name, named_profile
from sequoia.planning.plan_for_machine import best_plan
from sequoia.planning.simulated_step_times import step_seconds

COLUMNS = (
    Column("machine", "machine"),
    Column("case", "texts"),
    Column("tree", "planned tree: nodes, levels", "predicted"),
    Column("tokens", "planned tree: tokens per step", "measured"),
    Column("planned", "planned tree: speed-up", "simulated"),
    Column("size", "best fixed size (nodes)", "simulated"),
    Column("fixed", "best fixed size: speed-up", "simulated"),
    Column("other", "slowest of the trees planned for other machines", "simulated"),
    Column("foreign", "slowest of the trees planned for other machines: speed-up", "simulated"),
)


def run_unit(pair: Pair, unit: Unit) -> Mapping[str, Any]:
    """trees: [nodes, levels] of each tree. tokens: the tokens per step of each tree along one text.
    speed: for each machine, the speed-up of each tree over plain decoding. A tree's name is its
    size ("16"), or the machine that it is planned for."""
    acceptance = planning_vector(pair, case_of(unit).kind, params_of(unit))
    trees = _trees(acceptance, unit.work)
    lanes = {name: (tree, DEFAULT_VERIFIER) for name, tree in trees.items()}
    tokens = tokens_per_step_along(pair, unit, lanes)
    return {
        "trees": {name: [len(tree), tree.levels] for name, tree in trees.items()},
        "tokens": tokens,
        "speed": {
            machine: {
                name: round(tokens[name] / _plain_tokens(tree, machine), 5)
                for name, tree in trees.items()
            }
            for machine in unit.work["machines"]
        },
    }


def _trees(acceptance: Acceptance, work: Mapping[str, Any]) -> dict[str, Tree]:
    sizes = {str(nodes): best_tree(acceptance, nodes) for nodes in work["sizes"]}
    planned = {
        machine: best_plan(acceptance, named_profile(machine), max(work["sizes"])).tree
        for machine in work["machines"]
    }
    return {**sizes, **planned}


def _plain_tokens(tree: Tree, machine: str) -> float:
    """How many tokens plain decoding emits in the time of one step with `tree`."""
    profile = named_profile(machine)
    return step_seconds(tree, profile) / profile.plain_seconds


@dataclass(frozen=True)
class Here:
    """One machine and one case (a kind of prompt with sampling settings). found: what the units
    returned, one entry for each prompt."""

    machine: str
    case: Case
    found: Sequence[Mapping[str, Any]]

    def speeds(self, tree: str) -> list[float]:
        return [one["speed"][self.machine][tree] for one in self.found]

    def speed(self, tree: str) -> float:
        return statistics.fmean(self.speeds(tree))

    def gain(self, tree: str) -> Comparison:
        """The speed of the tree planned for this machine, over that of `tree` (a tree's name)."""
        other = f"tree of {tree} nodes" if tree.isdigit() else f"tree for {machine_name(tree)}"
        words = f"{machine_name(self.machine)}, {self.case.words}: tree planned for it over {other}"
        return comparison(words, self.speeds(self.machine), self.speeds(tree))


def summary(settings: Settings, done: Done) -> ExperimentResult:
    by_case = found_by_case(settings, done)
    found = [
        Here(machine, case, units)
        for machine in settings["machines"]
        for case, units in by_case.items()
    ]
    sizes = [str(nodes) for nodes in settings["sizes"]]
    fixed = max(sizes, key=lambda size: _mean_speed(found, size)) if found else ""
    return ExperimentResult(
        finding=_finding(found, sizes, fixed, settings) if found else "",
        source="simulated",
        x=Axis("nodes", "nodes of the tree", "log"),
        y=Axis("speed-up", "speed-up over plain decoding (simulated)"),
        series=tuple(series for one in found for series in _series(one, sizes)),
        columns=COLUMNS,
        rows=tuple(_row(one, sizes, settings) for one in found),
        comparisons=tuple(
            one.gain(tree) for one in found for tree in (fixed, _slowest_foreign(one, settings))
        ),
    )


def _mean_speed(found: Sequence[Here], tree: str) -> float:
    """The geometric mean of the speed-ups of `tree`, so that no machine dominates."""
    return math.exp(statistics.fmean(math.log(one.speed(tree)) for one in found))


def _slowest_foreign(here: Here, settings: Settings) -> str:
    others = [machine for machine in settings["machines"] if machine != here.machine]
    return min(others, key=here.speed)


def _best_size(here: Here, sizes: Sequence[str]) -> str:
    return max(sizes, key=here.speed)


def _series(here: Here, sizes: Sequence[str]) -> Iterator[Series]:
    panel = f"{machine_name(here.machine)}: {here.case.words}"
    points = tuple(point(int(size), here.speeds(size)) for size in sizes)
    yield Series("Trees with the most tokens per step", "other", panel, points)
    yield Series("Planned for the machine", SEQUOIA.key, panel, (_planned_point(here),))


def _planned_point(here: Here) -> Point:
    nodes, _ = here.found[0]["trees"][here.machine]
    return point(nodes, here.speeds(here.machine))


def _row(here: Here, sizes: Sequence[str], settings: Settings) -> dict[str, Cell]:
    size = _best_size(here, sizes)
    foreign = _slowest_foreign(here, settings)
    tokens = statistics.fmean(one["tokens"][here.machine] for one in here.found)
    return {
        "machine": machine_name(here.machine),
        "case": here.case.words,
        "tree": ", ".join(map(str, here.found[0]["trees"][here.machine])),
        "tokens": round(tokens, 3),
        "planned": round(here.speed(here.machine), 3),
        "size": float(size),
        "fixed": round(here.speed(size), 3),
        "other": machine_name(foreign),
        "foreign": round(here.speed(foreign), 3),
    }


_VARIED = {"machines": "machines", "kinds": "kinds of text", "temperatures": "temperatures"}


def _finding(found: Sequence[Here], sizes: Sequence[str], fixed: str, settings: Settings) -> str:
    gains = [one.gain(fixed) for one in found]
    return lines(
        _against_one_size(gains, fixed, settings),
        "“Clearly” means that the 95% interval of the ratio of speeds excludes 1. The ratios range "
        f"from {min(one.ratio for one in gains):.2f}× to {max(one.ratio for one in gains):.2f}×.",
        _against_hindsight(found, sizes),
        _sizes_in_words(found, sizes),
        _on_the_wrong_machine(found, settings),
    )


def _sizes_in_words(found: Sequence[Here], sizes: Sequence[str]) -> str:
    best = [(int(_best_size(one, sizes)), one) for one in found]
    least = min(best, key=lambda pair: pair[0])
    most = max(best, key=lambda pair: pair[0])
    if least[0] == most[0]:
        return f"The best size is {most[0]} nodes everywhere."
    ends = (
        f"{nodes} nodes ({machine_name(one.machine)}, {one.case.words})"
        for nodes, one in (least, most)
    )
    return f"The best size ranges from {' to '.join(ends)}."


def _against_one_size(gains: Sequence[Comparison], fixed: str, settings: Settings) -> str:
    counts = score(gains)
    several = ", ".join(
        f"{len(settings[key])} {words}" for key, words in _VARIED.items() if len(settings[key]) > 1
    )
    is_complete = counts.total == math.prod(len(settings[key]) for key in _VARIED)
    cases = f"{counts.total} cases" + (f" ({several})" if several and is_complete else "")
    return (
        f"In {count_or_none(counts.higher)} of {cases}, the tree planned for the machine is "
        f"clearly faster than a tree of {fixed} nodes, the best single size over all machines. It "
        f"is clearly slower in {count_or_none(counts.lower)}."
    )


def _against_hindsight(found: Sequence[Here], sizes: Sequence[str]) -> str:
    ratios = [one.speed(one.machine) / one.speed(_best_size(one, sizes)) for one in found]
    return (
        "Compared with the best fixed size of each case, the planned tree runs at "
        f"{statistics.geometric_mean(ratios):.2f}× the speed on average and "
        f"{min(ratios):.2f}× at worst."
    )


def _on_the_wrong_machine(found: Sequence[Here], settings: Settings) -> str:
    def ratio(here: Here) -> float:
        return here.speed(_slowest_foreign(here, settings)) / here.speed(here.machine)

    worst = min(found, key=ratio)
    slow = "On the wrong machine a planned tree can be slow. " if ratio(worst) < 1 else ""
    return (
        f"{slow}{machine_name(worst.machine)}, {worst.case.words}: the tree planned for "
        f"{machine_name(_slowest_foreign(worst, settings))} runs at {ratio(worst):.2f}× the speed "
        "of the tree planned for this machine."
    )


HARDWARE = Experiment(
    name="hardware",
    title="Hardware-aware trees vs. trees of fixed size",
    question="Does a tree planned for the machine beat a tree of fixed size?",
    sizes={
        "small": {
            "kinds": ["code"],
            "temperatures": [0.6],
            "machines": ["l40-llama-3-70b-offloaded", "m1-max-qwen3-8b"],
            "sizes": [4, 16, 64],
            "prompts": 4,
            "tokens": 48,
        },
        "full": {
            "kinds": ["code", "prose"],
            "temperatures": [0.0, 0.6],
            "machines": [
                "l40-llama-3-70b-offloaded",
                "h200-qwen3-32b",
                "rtx-4090-qwen3-8b",
                "a100-llama-2-7b-graphs",
                "m1-max-qwen3-8b",
                "epyc-2-cores-bundled",
            ],
            "sizes": [2, 4, 8, 16, 32, 64, 128, 256],
            "prompts": 8,
            "tokens": 80,
        },
    },
    units=text_units,
    run_unit=run_unit,
    summary=summary,
    note=(
        "A tree of fixed size has the most expected tokens per step of all trees of that size. Its "
        "levels are not limited, so a planned tree with fewer levels can be faster. The best fixed "
        "size of a case is the fastest of these sizes."
    ),
)

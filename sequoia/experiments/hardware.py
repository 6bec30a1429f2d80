"""Does planning a tree for the machine pay? The tree planned for each machine is compared with the
best trees of fixed sizes and with the trees planned for other machines (paper: Figures 7 and 8).
Tokens per step are measured. Times are simulated from each machine's profile."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit, grid
from sequoia.experiments.texts import KINDS, planning_vector, text_of, tokens_of_lanes
from sequoia.models.pair import Pair
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.plan_for_machine import best_plan
from sequoia.planning.simulated_step_times import speedup


def measure(pair: Pair, unit: Unit) -> Iterator[Entry]:
    """tokens: the tokens per step of each tree along one text. speed: its speed-up over plain
    decoding on each machine. A lane is the size of its tree ("16"), or the machine that the tree is
    planned for."""
    acceptance = planning_vector(pair, unit.kind, unit.params)
    trees = _trees(acceptance, unit.settings)
    lanes = {name: (tree, DEFAULT_VERIFIER) for name, tree in trees.items()}
    tokens = tokens_of_lanes(pair, text_of(pair, unit), lanes)
    for machine in unit.settings["machines"]:
        profile = named_profile(machine)
        for name, tree in trees.items():
            speed = speedup(tokens[name], tree, profile)
            yield Entry(
                lane=name,
                at={"machine": machine},
                about={"nodes": len(tree), "levels": tree.levels},
                figures={"tokens": tokens[name], "speed": round(speed, 5)},
            )


def _trees(acceptance: Acceptance, settings: Settings) -> dict[str, Tree]:
    sizes = {str(nodes): best_tree(acceptance, nodes) for nodes in settings["sizes"]}
    planned = {
        machine: best_plan(acceptance, named_profile(machine), max(settings["sizes"])).tree
        for machine in settings["machines"]
    }
    return {**sizes, **planned}


def pairs(settings: Settings, places: Places) -> Iterator[tuple[Cell, Cell]]:
    """The tree planned for a machine, with the best single size over all machines and with the
    slowest of the trees planned for other machines. For the best size, speeds are averaged
    geometrically, so that no machine dominates."""

    def mean_speed(size: str) -> float:
        return statistics.geometric_mean(lanes[size].mean("speed") for lanes in places)

    best = max(map(str, settings["sizes"]), key=mean_speed) if places else ""
    for lanes in places:
        machine = lanes[best].at["machine"]
        foreign = [lanes[one] for one in settings["machines"] if one != machine]
        yield lanes[str(machine)], lanes[best]
        yield lanes[str(machine)], min(foreign, key=lambda cell: cell.mean("speed"))


HARDWARE = Experiment(
    name="hardware",
    question="Does a tree planned for the machine beat a tree of fixed size?",
    sizes={
        "small": grid(
            kinds=["code"],
            prompts=4,
            tokens=48,
            temperatures=[0.6],
            machines=["l40-llama-3-70b-offloaded", "m1-max-qwen3-8b"],
            sizes=[4, 16, 64],
        ),
        "full": grid(
            kinds=KINDS,
            prompts=8,
            tokens=80,
            temperatures=[0.0, 0.6],
            machines=[
                "l40-llama-3-70b-offloaded",
                "h200-qwen3-32b",
                "rtx-4090-qwen3-8b",
                "a100-llama-2-7b-graphs",
                "m1-max-qwen3-8b",
                "epyc-2-cores-bundled",
            ],
            sizes=[2, 4, 8, 16, 32, 64, 128, 256],
        ),
    },
    measure=measure,
    pairs=pairs,
    compared="speed",
    version=2,
)

"""SpecInfer's trees with different numbers and lengths of sequences, each compared with Sequoia's
tree of as many nodes. The paper gives SpecInfer's speed-ups for several numbers and lengths in
Tables 5 and 6."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit, grid
from sequoia.experiments.texts import KINDS, planning_vector, text_of, tokens_of_lanes
from sequoia.models.pair import Pair

OURS = SEQUOIA.key
THEIRS = SPECINFER.key


def measure(pair: Pair, unit: Unit) -> Iterator[Entry]:
    """tokens: the expected tokens per step along one text, with `width` sequences of `depth` tokens
    and with Sequoia's tree of the same size."""
    acceptance = planning_vector(pair, unit.kind, unit.params)
    grid = [*product(unit.settings["widths"], unit.settings["depths"])]
    lanes = dict[str, tuple[Tree, str]]()
    for width, depth in grid:
        tree = Tree.sequences(width, depth)
        lanes[f"{width} x {depth}"] = (tree, THEIRS)
        lanes[f"planned {len(tree)}"] = (best_tree(acceptance, len(tree)), OURS)
    tokens = tokens_of_lanes(pair, text_of(pair, unit), lanes)
    for width, depth in grid:
        at = {"width": width, "depth": depth}
        names = {THEIRS: f"{width} x {depth}", OURS: f"planned {1 + width * depth}"}
        for lane, name in names.items():
            yield Entry(lane=lane, at=at, figures={"tokens": tokens[name]})


def pairs(_settings: Settings, places: Places) -> Iterator[tuple[Cell, Cell]]:
    return ((lanes[OURS], lanes[THEIRS]) for lanes in places)


SPECINFER_GRID = Experiment(
    name="specinfer",
    question=(
        "How many sequences work best, how long should they be, and is Sequoia's tree of the same "
        "size better?"
    ),
    sizes={
        "small": grid(["code"], 6, 64, temperatures=[0.6], widths=[1, 5, 16], depths=[2, 4, 8]),
        "full": grid(
            KINDS, 12, 128, temperatures=[0.6], widths=[1, 2, 5, 16], depths=[2, 4, 8, 16, 48]
        ),
    },
    measure=measure,
    pairs=pairs,
    version=2,
)

"""All experiments, in the order in which they are shown. To add an experiment, define it in a file
of its own, and list it in EXPERIMENTS; its words are in ui/words/experiments.py."""

from __future__ import annotations

from sequoia.errors import SequoiaError
from sequoia.experiments.budget import BUDGET
from sequoia.experiments.chain import TREE_OR_CHAIN
from sequoia.experiments.experiment import Experiment
from sequoia.experiments.hardware import HARDWARE
from sequoia.experiments.ranks import RANKS
from sequoia.experiments.specinfer import SPECINFER_GRID
from sequoia.experiments.verifiers import TEMPERATURE, TOP_P
from sequoia.validate_input import shown

EXPERIMENTS: dict[str, Experiment] = {
    one.name: one
    for one in (BUDGET, TEMPERATURE, TOP_P, RANKS, SPECINFER_GRID, HARDWARE, TREE_OR_CHAIN)
}


def experiment_named(name: str) -> Experiment:
    """The experiment called `name`. If there is none, raises a SequoiaError that lists the known
    names."""
    if not isinstance(name, str) or name not in EXPERIMENTS:
        known = ", ".join(EXPERIMENTS)
        raise SequoiaError(f"unknown experiment {shown(name)}; known: {known}")
    return EXPERIMENTS[name]

"""The probability that the first k children of a node are all rejected, as a function of k, and a
power law fitted to it (paper: Figure 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.verifiers import verifier_named
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.algorithm.verifiers.top_k_match import TOP_K_MATCH
from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit, grid
from sequoia.experiments.texts import KINDS, text_of
from sequoia.measuring.acceptance_teacher_forced import text_places
from sequoia.models.pair import Pair

OURS = SEQUOIA.key
RULES = (OURS, SPECINFER.key, TOP_K_MATCH.key)
_LEAST = 1e-6  # smaller rates are raised to this one: 0 has no logarithm


def measure(pair: Pair, unit: Unit) -> Iterator[Entry]:
    """rejected: the probability that children 1 to k are all rejected, averaged over the positions
    of a text."""
    text = text_of(pair, unit)
    ranks = min(unit.settings["ranks"], pair.draft.vocab)
    chance = Seeded(text.params.seed, pair.draft.device)
    rejected: dict[str, list[NDArray[np.float64]]] = {name: [] for name in RULES}
    for place in text_places(pair, text.prompt, text.tokens, text.params):
        for name, found in rejected.items():
            found.append(1 - np.cumsum(place.chances(verifier_named(name), ranks, chance)))
    for name, found in rejected.items():
        rates = np.maximum(np.mean(found, axis=0), _LEAST).round(6)
        for k, rate in enumerate(rates.tolist(), 1):
            yield Entry(lane=name, at={"children": k}, figures={"rejected": rate})


def power_law(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """(b, R²) of the power law c * x**-b fitted to `y`, by a least-squares line through the
    logarithms. Returns (0, 1) for fewer than two points."""
    if len(x) < 2:
        return 0.0, 1.0
    log_x = np.log(x)
    log_y = np.log(np.maximum(y, _LEAST))
    slope, start = np.polyfit(log_x, log_y, 1)
    spread = float(((log_y - log_y.mean()) ** 2).sum())
    missed = float(((log_y - start - slope * log_x) ** 2).sum())
    return -float(slope), 1 - missed / spread if spread else 1.0


def pairs(_settings: Settings, places: Places) -> Iterator[tuple[Cell, Cell]]:
    """How often all children are rejected. A ratio below 1 means that Sequoia rejects them less
    often."""
    most = max((int(lanes[OURS].at["children"]) for lanes in places), default=0)
    for lanes in places:
        if lanes[OURS].at["children"] == most:
            yield from ((lanes[OURS], lanes[name]) for name in RULES if name != OURS)


RANKS = Experiment(
    name="ranks",
    question="How much does each further child of a node help?",
    sizes={
        "small": grid(["code"], 6, 64, temperatures=[0.6], ranks=16),
        "full": grid(KINDS, 12, 128, temperatures=[0.6, 1.0], ranks=32),
    },
    measure=measure,
    pairs=pairs,
    compared="rejected",
    version=2,
)

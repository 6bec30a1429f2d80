"""All verifiers at several temperatures (paper: Figure 4, right), and when top-p cuts off the least
probable tokens (paper: Table 8): tree verifiers on trees of the same size, and token and block
verification on a chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.algorithm.verifiers.top_k_match import TOP_K_MATCH
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit, grid
from sequoia.experiments.steps_along import steps_along
from sequoia.experiments.texts import (
    KINDS,
    Text,
    planning_vector,
    step_starts,
    text_of,
    tokens_per_step,
)
from sequoia.models.pair import Pair
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.simulated_step_times import speedup

OURS = SEQUOIA.key
CHAIN = "chain"  # token verification on a chain
BLOCK = "block"  # block verification on the same chain: Traversal, on a chain
WALKS = (OURS, SPECINFER.key, TOP_K_MATCH.key)  # go down the tree child by child
LANES = (*WALKS, TRAVERSAL.key, CHAIN, BLOCK)
# a lane that tests whole paths -> the lane that it is compared with, on the tree of the latter
PATHS = {TRAVERSAL.key: OURS, BLOCK: CHAIN}
_COMPARED = ((OURS, SPECINFER.key), (OURS, TOP_K_MATCH.key), (OURS, TRAVERSAL.key), (BLOCK, CHAIN))
# nodes: size of each tree. chain: size of the chain. every: Traversal and block verification are
# measured only at every 8th token. profile: the machine that the speed-up is predicted for.
_FIXED = {"nodes": 64, "chain": 8, "every": 8, "profile": "a100-llama2-7b-jf68m"}


def measure(pair: Pair, unit: Unit) -> Iterator[Entry]:
    """tokens: the expected tokens per step along one text. speed: the predicted speed-up over plain
    decoding on the machine of the settings' profile."""
    rates = {rule: planning_vector(pair, unit.kind, unit.params, rule) for rule in WALKS}
    trees = {rule: best_tree(rates[rule], unit.settings["nodes"]) for rule in WALKS}
    trees[CHAIN] = Tree.chain(unit.settings["chain"])
    text = text_of(pair, unit)
    rules = {**dict.fromkeys(trees, OURS), **{rule: rule for rule in WALKS}}
    starts = step_starts(pair, text, {name: (tree, rules[name]) for name, tree in trees.items()})
    tokens = {name: tokens_per_step(one, text) for name, one in starts.items()}
    for name, base in PATHS.items():
        gain = traversal_gain(pair, text, trees[base], starts[base], unit.settings["every"])
        tokens[name] = round(tokens[base] * gain, 5)
        trees[name] = trees[base]
    profile = named_profile(unit.settings["profile"])
    for name in LANES:
        speed = speedup(tokens[name], trees[name], profile)
        yield Entry(lane=name, figures={"tokens": tokens[name], "speed": round(speed, 5)})


def traversal_gain(
    pair: Pair, text: Text, tree: Tree, starts: Sequence[float], every: int
) -> float:
    """Traversal's tokens per step divided by those of Algorithm 2 (Sequoia's verifier), both on the
    same drafted trees. For each tree, the expected number of accepted tokens is computed exactly.

    Both are averages over every `every`-th token of `text` after the warm-up. starts: the weight of
    each token, which is the probability that a step of Algorithm 2 starts there. Returns 1 at
    temperature 0, where both verifiers accept the same path, and if all weights are 0.
    """
    if text.params.temperature == 0:
        return 1.0
    places = range(text.warm_up, len(starts), every)
    steps = steps_along(pair, text, tree, (OURS, TRAVERSAL.key), places)
    weighted = [(starts[at], step.tokens) for at, (step, *_) in zip(places, steps, strict=True)]
    algorithm_2, traversal = (sum(weight * made[i] for weight, made in weighted) for i in range(2))
    return traversal / algorithm_2 if algorithm_2 else 1.0


def pairs(_settings: Settings, places: Places) -> Iterator[tuple[Cell, Cell]]:
    """Above temperature 0; at 0 the two verifiers of each pair accept the same tokens."""
    hot = [lanes for lanes in places if float(lanes[OURS].at["temperature"]) > 0]
    if hot:
        yield from ((_all(hot, one), _all(hot, other)) for one, other in PATHS.items())
    for lanes in hot:
        yield from ((lanes[one], lanes[other]) for one, other in _COMPARED)


def _all(places: Places, lane: str) -> Cell:
    """A lane's sums over all cases of a kind, for each prompt of each kind. A single case has too
    few drafted trees to show a gain of a few per cent."""
    by_kind = dict[str | float, list[list[float]]]()
    for lanes in places:
        cell = lanes[lane]
        by_kind.setdefault(cell.at["kind"], []).append(cell.values("tokens"))
    sums = [{"tokens": sum(one)} for some in by_kind.values() for one in zip(*some, strict=False)]
    return Cell(lane, {"cases": len(places)}, found=[*sums])


TEMPERATURE = Experiment(
    name="temperature",
    question="Which verifier emits the most tokens per step, from temperature 0 upwards?",
    sizes={
        "small": grid(["code"], 4, 64, temperatures=[0.0, 0.6, 1.0], **_FIXED),
        "full": grid(KINDS, 12, 112, temperatures=[0.0, 0.3, 0.6, 1.0, 1.2], **_FIXED),
    },
    measure=measure,
    pairs=pairs,
    version=2,
)

_CUT = {**_FIXED, "temperatures": [1.0], "top_ps": [0.8, 0.9, 1.0]}
TOP_P = Experiment(
    name="top-p",
    question="Which verifier emits the most tokens per step, with and without top-p?",
    sizes={
        "small": grid(["code"], 4, 64, **_CUT),
        "full": grid(KINDS, 12, 112, **_CUT),
    },
    measure=measure,
    pairs=pairs,
    version=2,
)

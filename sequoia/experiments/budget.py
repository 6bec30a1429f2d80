"""Tokens per step as a function of the number of nodes, for trees of several shapes (paper: Figure
4, left). Of each shape and maximum size there are several trees; the one with the most tokens per
step on the planning texts is measured."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.expected_tokens import fitted
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit, grid
from sequoia.experiments.texts import (
    KINDS,
    Text,
    new_tokens,
    planning_texts,
    planning_vector,
    step_starts,
    text_of,
    tokens_of_lanes,
    tokens_per_step,
)
from sequoia.models.pair import Pair

OURS = SEQUOIA.key
SHAPES = (OURS, "chain", "sequences", "kary", SPECINFER.key)
WIDTHS = (2, 4, 8, 16)  # numbers of sequences
ARITIES = (2, 3, 4)  # children of each inner node of a k-ary tree
PROMPTS = 4  # number of planning texts
NEW = "new"  # the part of a text before it begins to repeat itself


def measure(pair: Pair, unit: Unit) -> Iterator[Entry]:
    """tokens: the expected tokens per step of each shape at each budget (max nodes), along a text.
    At temperature 0 the texts of small models soon repeat themselves, and repeated text is easy to
    draft. So there are more entries for the part before that; share: its fraction of the text."""
    text = text_of(pair, unit)
    trees = planned_shapes(pair, unit.kind, unit.params, unit.settings["budgets"])
    names = {f"{shape} {nodes}": (shape, nodes) for shape, nodes in trees}
    lanes = {name: (trees[key], DEFAULT_VERIFIER) for name, key in names.items()}
    starts = step_starts(pair, text, lanes)
    for name, (shape, nodes) in names.items():
        figures = {"tokens": tokens_per_step(starts[name], text)}
        yield Entry(lane=shape, at={"nodes": nodes}, figures=figures)
    if text.params.temperature == 0:
        new = new_tokens(text)
        share = round(new / len(text.tokens), 4)
        for name, (shape, nodes) in names.items():
            figures = {"tokens": round(new / sum(starts[name][:new]), 5), "share": share}
            yield Entry(lane=shape, at={"part": NEW, "nodes": nodes}, figures=figures)


def planned_shapes(
    pair: Pair, kind: str, params: SamplingParams, budgets: Sequence[int]
) -> dict[tuple[str, int], Tree]:
    """For each shape and each of `budgets`, a tree of at most that many nodes. A budget must be at
    least 9, the size of the smallest tree in SpecInfer's shape. The planning texts have
    `params.max_new_tokens` tokens. For a small pair, planning takes a few seconds. The trees are
    planned once for each pair and the other arguments."""
    params = replace(params, seed=0)
    key = ("planned shapes", kind, params, tuple(budgets))
    return pair.measured.once(key, lambda: _planned(pair, kind, params, budgets))


def _planned(
    pair: Pair, kind: str, params: SamplingParams, budgets: Sequence[int]
) -> dict[tuple[str, int], Tree]:
    texts = list(planning_texts(pair, kind, params, PROMPTS))
    rates = planning_vector(pair, kind, params)
    trees = {str(nodes): best_tree(rates, nodes) for nodes in budgets}
    made = _mean_tokens(pair, texts, trees)
    fit = {nodes: fitted(rates, trees[str(nodes)], made[str(nodes)]) for nodes in budgets}
    tried = {
        (shape, nodes): some
        for nodes in budgets
        for shape, some in candidates([rates, fit[nodes]], nodes).items()
    }
    lanes = {f"{key}: {i}": tree for key, some in tried.items() for i, tree in enumerate(some)}
    tokens = _mean_tokens(pair, texts, lanes)
    return {
        key: some[max(range(len(some)), key=lambda i: tokens[f"{key}: {i}"])]
        for key, some in tried.items()
    }


def candidates(rates: Sequence[Acceptance], nodes: int) -> dict[str, list[Tree]]:
    """For each of SHAPES, the candidate trees, with at most `nodes` nodes each. nodes: at least 9.
    rates: the acceptance vectors with which the candidates for Sequoia's tree are planned."""
    wide = max((nodes - 3) // 6, 1)  # SpecInfer's shape is <1, 1, 3, 1, 1, 1, 1, 1>
    return {
        OURS: [best_tree(one, nodes) for one in rates],
        "chain": [Tree.chain(nodes)],
        "sequences": [Tree.sequences(k, (nodes - 1) // k) for k in WIDTHS if k < nodes],
        "kary": [Tree((-1, *((node - 1) // k for node in range(1, nodes)))) for k in ARITIES],
        SPECINFER.key: [Tree.from_branching([1, 1, wide, 1, 1, 1, 1, 1])],
    }


def _mean_tokens(pair: Pair, texts: Sequence[Text], trees: Mapping[str, Tree]) -> dict[str, float]:
    """The tokens per step of each tree, averaged over the texts."""
    lanes = {name: (tree, DEFAULT_VERIFIER) for name, tree in trees.items()}
    found = [tokens_of_lanes(pair, text, lanes) for text in texts]
    return {name: statistics.fmean(one[name] for one in found) for name in trees}


def pairs(_settings: Settings, places: Places) -> Iterator[tuple[Cell, Cell]]:
    for lanes in places:
        for shape, cell in lanes.items():
            if shape != OURS:
                yield lanes[OURS], cell


BUDGET = Experiment(
    name="budget",
    question=(
        "Does Sequoia's tree emit more tokens per step than other trees of at most the same size?"
    ),
    sizes={
        "small": grid(["code"], 6, 64, temperatures=[0.6], budgets=[16, 64, 256]),
        "full": grid(KINDS, 12, 128, temperatures=[0.0, 0.6], budgets=[16, 32, 64, 128, 256, 512]),
    },
    measure=measure,
    pairs=pairs,
    version=3,
)

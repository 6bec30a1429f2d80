"""The trees of the experiment `budget`. For each shape and maximum size there are candidate trees.
The one with the most tokens per step on the planning texts is chosen. Planning texts continue
prompts that the experiment does not measure with."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.experiments.continuations import continuation
from sequoia.experiments.planned import planning_vector
from sequoia.experiments.prompts import planning_prompts
from sequoia.experiments.text_units import Text, step_starts_along, tokens_per_step
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.fit_acceptance import fitted

OURS = "Sequoia"
# name -> the method of its series in the plot, which decides the colour of the series
SHAPES = {
    OURS: SEQUOIA.key,
    "chain": "chain",
    "sequences": "sequences",
    "k-ary": "kary",
    "SpecInfer": SPECINFER.key,
}
# name -> label in results
LABELS = {
    OURS: "Sequoia's tree",
    "chain": "chain",
    "sequences": "k independent sequences",
    "k-ary": "k-ary tree",
    "SpecInfer": "SpecInfer's tree",
}
WIDTHS = (2, 4, 8, 16)  # numbers of sequences
ARITIES = (2, 3, 4)  # children of each inner node of a k-ary tree
PROMPTS = 4  # number of planning texts
Shapes = dict[str, Tree]  # by shape and max nodes, such as "chain 16"
_Key = tuple[str, SamplingParams, tuple[int, ...]]
# draft -> its trees. The draft is enough to identify a pair, because no two pairs of an experiment
# share a draft. An entry lives as long as its draft.
_KNOWN: WeakKeyDictionary[TreeModel, dict[_Key, Shapes]] = WeakKeyDictionary()


def planned_shapes(pair: Pair, kind: str, params: SamplingParams, budgets: Sequence[int]) -> Shapes:
    """For each shape and each of `budgets`, a tree of at most that many nodes. A budget must be at
    least 9, the size of the smallest tree in SpecInfer's shape. The planning texts have
    `params.max_new_tokens` tokens. For a small pair, planning takes a few seconds. The trees are
    reused by calls with the same arguments while the draft is in memory."""
    found = _KNOWN.setdefault(pair.draft, {})
    key = (kind, params, tuple(budgets))
    if key not in found:
        found[key] = _planned(pair, kind, params, budgets)
    return found[key]


def _planned(pair: Pair, kind: str, params: SamplingParams, budgets: Sequence[int]) -> Shapes:
    texts = list(_texts(pair, kind, params))
    rates = planning_vector(pair, kind, params)
    trees = {str(nodes): best_tree(rates, nodes) for nodes in budgets}
    made = _tokens(pair, texts, trees)
    fit = {nodes: fitted(rates, trees[str(nodes)], made[str(nodes)]) for nodes in budgets}
    tried = {
        f"{shape} {nodes}": some
        for nodes in budgets
        for shape, some in candidates([rates, fit[nodes]], nodes).items()
    }
    lanes = {
        f"{name}: {i}": tree for name, all_of in tried.items() for i, tree in enumerate(all_of)
    }
    tokens = _tokens(pair, texts, lanes)
    return {
        name: all_of[max(range(len(all_of)), key=lambda i: tokens[f"{name}: {i}"])]
        for name, all_of in tried.items()
    }


def candidates(rates: Sequence[Acceptance], nodes: int) -> dict[str, list[Tree]]:
    """For each shape in SHAPES, the candidate trees, with at most `nodes` nodes each. nodes: at
    least 9. rates: the acceptance vectors with which the candidates for Sequoia's tree are
    planned."""
    return {
        OURS: [best_tree(one, nodes) for one in rates],
        "chain": [Tree.chain(nodes)],
        "sequences": [Tree.sequences(k, (nodes - 1) // k) for k in WIDTHS if k < nodes],
        "k-ary": [_kary(k, nodes) for k in ARITIES],
        "SpecInfer": [_specinfer(nodes)],
    }


def _kary(k: int, nodes: int) -> Tree:
    """The first `nodes` nodes of the complete tree with `k` children at each node."""
    return Tree((-1, *((node - 1) // k for node in range(1, nodes))))


def _specinfer(nodes: int) -> Tree:
    """A tree with eight levels below the root, like SpecInfer's <1, 1, 3, 1, 1, 1, 1, 1>, which
    lists the children per node at each depth. Here the node at depth 2 has as many children as fit
    into `nodes`."""
    return Tree.from_branching([1, 1, max((nodes - 3) // 6, 1), 1, 1, 1, 1, 1])


def _texts(pair: Pair, kind: str, params: SamplingParams) -> Iterator[Text]:
    for number, prompt in enumerate(planning_prompts(kind)[:PROMPTS]):
        mine = params.further(number)
        yield Text(pair.encode(prompt), continuation(pair, prompt, mine), mine)


def _tokens(pair: Pair, texts: Sequence[Text], trees: Mapping[str, Tree]) -> dict[str, float]:
    """The tokens per step of each tree, averaged over the texts."""
    lanes = {name: (tree, DEFAULT_VERIFIER) for name, tree in trees.items()}
    found = [step_starts_along(pair, text, lanes) for text in texts]
    return {
        name: statistics.fmean(
            tokens_per_step(starts[name], text.params)
            for text, starts in zip(texts, found, strict=True)
        )
        for name in trees
    }

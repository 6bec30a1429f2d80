"""Compares passes that use CUDA graphs with eager passes, on random trees. Graphs captured at one
prefix length are also replayed at others. After each tree, a random path is kept in the KV
cache."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from fakes import tiny_model

from sequoia.algorithm.tree import Tree
from sequoia.loading.load import load_pair
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.cuda_graphs import STEP
from sequoia.models.tree_forward import Context, TreeModel

PREFIXES = (3, 1, 2, 7, 100, STEP - 1, STEP, STEP + 1, 700, 2 * STEP + 1, 1600)
_NODES = 24
_STEPS = 3
_GARBAGE = 2**22  # number of NaNs left in freed memory, to expose reads outside a tensor
# Largest difference allowed, by dtype, as a share of the logits' standard deviation. It applies to
# the worst of thousands of logits. A wrong mask or position gives about 1.
_ALLOWED = {"float32": 1e-3, "bfloat16": 0.3}


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", _ALLOWED)
def test_the_bundled_models_give_the_same_logits_with_and_without_graphs(dtype: str) -> None:
    pair = load_pair(dtype=dtype, online=False)
    for model in (pair.target, pair.draft):
        assert largest_difference(model, PREFIXES) <= _ALLOWED[dtype]
        assert model.graphs
        assert not model.graphs.failed


def test_a_forward_that_is_wrong_after_one_prefix_is_found() -> None:
    model = TreeModel(tiny_model("llama"), "llama")
    assert largest_difference(model, (3, 1, 60)) < 1e-4
    assert largest_difference(_wrong_after(model, 60), (3, 1)) < 1e-4
    assert largest_difference(_wrong_after(model, 60), (3, 1, 60)) > 0.5


def test_a_forward_that_gives_nan_is_found() -> None:
    model = TreeModel(tiny_model("llama"), "llama")
    usual = model.forward
    broken = model.with_forward(lambda *given: usual(*given) * torch.nan)
    assert not largest_difference(broken, (3,)) <= 0.3


def _wrong_after(model: TreeModel, prefix: int) -> TreeModel:
    """`model` with a forward that is wrong after exactly `prefix` tokens, as a graph captured for
    one length could be."""
    usual = model.forward

    def forward(ids: Any, positions: Any, mask: Any, kv_cache: Any, last_only: bool) -> Any:
        found = usual(ids, positions, mask, kv_cache, last_only)
        return found.roll(1, -1) if kv_cache.length == prefix and not last_only else found

    return model.with_forward(forward)


def largest_difference(model: TreeModel, prefixes: Sequence[int], seed: int = 0) -> float:
    """The largest difference between the logits of `model` and those of eager passes of the forward
    that its graphs repeat, as a share of the standard deviation of the eager logits. Without
    graphs, they are those of `transformers`. NaN if any logit is NaN."""
    eager = TreeModel(model.hf, model.name, model.device)
    eager.vocab = model.vocab
    if model.graphs:
        eager.forward = model.graphs.plain
    chance = random.Random(seed)
    most = min(max(prefixes), model.limit - _STEPS * _NODES)
    found = [
        _difference(model, eager, min(prefix, most), most, chance)
        for prefix in dict.fromkeys(prefixes)
    ]
    return float(torch.tensor(found).max())


def _difference(
    model: TreeModel, eager: TreeModel, prefix: int, most: int, chance: random.Random
) -> float:
    """The largest difference in _STEPS steps after `prefix` tokens. Each step has a random tree and
    keeps a random path of it. most: the longest prefix of all comparisons; it sets the length of
    the KV cache."""
    contexts = [one.open(most + _STEPS * _NODES) for one in (model, eager)]
    for context in contexts:
        context.extend([i % 250 for i in range(prefix)])
    worst = []
    for _ in range(_STEPS):
        tree = random_tree(_NODES, chance)
        tokens = [chance.randrange(model.vocab) for _ in range(len(tree))]
        path = random_path(tree, chance)
        torch.full((_GARBAGE,), torch.nan, device=model.device)  # freed immediately
        ours, usual = (_step(context, tree, tokens, path) for context in contexts)
        worst.append((ours - usual).abs().amax(-1) / usual.std(-1).clamp(min=1e-9))
    return float(torch.cat(worst).max())


def _step(context: Context, tree: Tree, tokens: Sequence[int], path: Sequence[int]) -> torch.Tensor:
    """The logits of `tree`, (nodes, vocab). Only the nodes of `path` stay in the KV cache."""
    with context.model.capturing():
        logits = context.forward(tokens, TreeLayout(context, tree)).double()
    context.keep(path)
    return logits


def random_tree(nodes: int, chance: random.Random) -> Tree:
    """A tree of `nodes` nodes with random parents."""
    return Tree((-1, *sorted(chance.randrange(node) for node in range(1, nodes))))


def random_path(tree: Tree, chance: random.Random) -> list[int]:
    """The nodes from the root down to a random leaf."""
    path = [0]
    while below := tree.children[path[-1]]:
        path.append(chance.choice(below))
    return path

"""The forward pass over a tree, with KV cache and mask, against `transformers` alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from doors import (
    KINDS,
    Context,
    Tree,
    bare_logits,
    empty,
    faster,
    in_parts_of,
    layout,
    model,
    pair,
    three_passes,
)
from shapes import random_tree


def apart(
    got: torch.Tensor, context: Context, tree: Tree, tokens: list[int], prefix: list[int]
) -> float:
    """The greatest difference between the logits `got` of a tree pass and those of `transformers`
    alone, which processes the text up to each leaf separately."""
    worst = 0.0
    for leaf in (node for node in range(len(tree)) if not tree.children[node]):
        path = list(tree.path(leaf))
        text = prefix + [tokens[node] for node in path]
        expected = bare_logits(context.model, text)[len(prefix) :]
        worst = max(worst, float((got[path] - expected).abs().max()))
    return worst


@pytest.mark.parametrize(("dtype", "bound"), [("float64", 1e-10), ("float32", 1e-4)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_forward_equals_a_forward_over_each_of_its_texts(
    kind: str, dtype: str, bound: float
) -> None:
    """After each of four prefixes, three trees are processed in turn with the same KV cache. After
    each pass, the cache keeps the path to a random node of the tree."""
    rng = np.random.default_rng(3)
    context = pair(kind, dtype).target.open(256)
    for _ in range(4):
        empty(context)
        prefix = rng.integers(context.model.vocab, size=rng.integers(1, 12)).tolist()
        context.extend(prefix)
        for _ in range(3):
            tree = random_tree(rng, 2, 20)
            tokens = rng.integers(context.model.vocab, size=len(tree)).tolist()
            got = context.forward(tokens, layout(context, tree))
            assert apart(got, context, tree, tokens, prefix) < bound
            path = tree.path(int(rng.integers(len(tree))))
            context.keep(path)
            prefix += [tokens[node] for node in path]


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_level_by_level_gives_the_same_logits(kind: str) -> None:
    """The draft works like this: the root goes with the prefix, then each level has one pass. Here
    the leaves pass through the model too, so that their logits can be compared."""
    rng = np.random.default_rng(4)
    context = pair(kind, "float64").target.open(64)
    prefix = rng.integers(context.model.vocab, size=5).tolist()
    tree = Tree.from_branching([3, 2, 2])
    tokens = rng.integers(context.model.vocab, size=len(tree)).tolist()
    root = context.extend([*prefix, tokens[0]])[None]
    below = layout(context, tree, range(1, len(tree)), below=1)
    levels = [
        [node for node in range(1, len(tree)) if tree.depths[node] == depth]
        for depth in range(1, tree.levels)
    ]
    parts = [context.forward([tokens[node] for node in level], below) for level in levels]
    got = torch.cat([root, *parts])  # (nodes, vocab)
    assert apart(got, context, tree, tokens, prefix) < 1e-10


# -- prompts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_in_parts_equals_one_pass(kind: str) -> None:
    tiny = model(kind, torch.float64)
    tokens = [7, 3, 99, 3, 250, 12, 0]
    whole = tiny.open(16)
    parts = tiny.open(16)
    expected = whole.extend(tokens)
    for part in (tokens[:1], tokens[1:3], tokens[3:6]):
        parts.extend(part)
    assert float((parts.extend(tokens[6:]) - expected).abs().max()) < 1e-10


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 13])
def test_a_long_prompt_takes_several_passes(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mask of 40,000 tokens at once would take 6 GB."""
    in_parts_of(monkeypatch, 3)
    tiny = model(dtype=torch.float64)
    rows = []
    forward = tiny.forward
    tokens = [5 * i % 288 for i in range(n)]
    context = tiny.open(16)
    monkeypatch.setattr(
        tiny, "forward", lambda ids, *rest: rows.append(ids.shape[1]) or forward(ids, *rest)
    )
    got = context.extend(tokens)
    assert rows == [3] * ((n - 1) // 3) + [(n - 1) % 3 + 1]
    assert context.length == n
    assert float((got - bare_logits(tiny, tokens)[-1]).abs().max()) < 1e-10


# -- the faster forward on a CPU -------------------------------------------------------------------


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
def test_same_logits_as_transformers(kind: str, kv_heads: int) -> None:
    """Checks every step of the fast forward: norms, biases, head norms, positions, grouped
    heads, mask, residuals."""
    tiny = model(kind, kv_heads=kv_heads)
    usual = three_passes(tiny)
    assert faster(tiny).forward_name == "fast"
    torch.testing.assert_close(three_passes(tiny), usual, atol=1e-4, rtol=1e-4)


def test_bfloat16_is_as_near_to_float32_as_transformers() -> None:
    """The fast forward's residual stream is float32, so in bfloat16 its error must not be larger
    than that of the forward of `transformers`, apart from noise."""
    exact = three_passes(model())
    half = model(dtype=torch.bfloat16)
    usual = (three_passes(half).float() - exact).abs().mean()
    assert faster(half).forward_name == "fast"
    assert (three_passes(half).float() - exact).abs().mean() <= 1.2 * usual


def test_positions_past_the_first_table() -> None:
    """The table of rotations grows for a prompt that is longer than the first table."""
    tiny = model(context=2048)
    tokens = [i % 200 for i in range(1500)]
    usual = tiny.open(1600).extend(tokens)
    torch.testing.assert_close(faster(tiny).open(1600).extend(tokens), usual, atol=1e-4, rtol=1e-4)

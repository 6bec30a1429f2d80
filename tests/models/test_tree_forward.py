"""KV cache, tree attention mask and self-test: which slots are kept, which nodes are seen, and
models that cannot run a tree."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from fakes import KINDS, pair_of, tiny_model, tiny_tokenizer
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import BertConfig, BertLMHeadModel

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadModel, BadPrompt
from sequoia.models import kv_cache as kv_cache_module
from sequoia.models.kv_cache import KVCache
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import TreeModel
from sequoia.models.tree_mask import DynamicTreeLayout, TreeLayout, TreeMask

# -- the KV cache ----------------------------------------------------------------------------------


def write(kv_cache: KVCache, values: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Write one slot for each of `values` in every layer. In layer i, the keys are `values` plus
    100 * i; the attention's values are the negatives of its keys. Returns the keys and values that
    the last layer's attention would see."""
    # (1, heads, rows, head_dim)
    rows = torch.tensor(values, dtype=torch.float32)[None, None, :, None].expand(1, 2, -1, 3)
    kv_cache.reserve(len(values))
    for layer in range(len(kv_cache.layers)):
        seen = kv_cache.update(rows + 100 * layer, -rows - 100 * layer, layer)
    return seen


def held(kv_cache: KVCache, layer: int = 0) -> list[int]:
    return kv_cache.layers[layer].keys[0, 0, : kv_cache.length, 0].int().tolist()


def test_update_returns_all_slots_so_far_and_writes_after_them() -> None:
    kv_cache = KVCache(2, 16)
    write(kv_cache, [1, 2, 3])
    kv_cache.keep(range(3))
    write(kv_cache, [4, 5])
    keys, values = write(kv_cache, [6])
    assert keys.shape == (1, 2, 6, 3)
    assert keys[0, 1, :, 2].int().tolist() == [101, 102, 103, 104, 105, 106]
    assert torch.equal(values, -keys)


@pytest.mark.parametrize(
    "kept", [[], [0], [0, 1, 2, 3, 4], [4], [0, 2, 3], [1, 4], [0, 1, 4], [2, 3, 4]]
)
def test_kept_slots_are_moved_behind_the_prefix(kept: list[int]) -> None:
    """Some copies overlap their source: for example, slots 2, 3, 4 are moved to 0, 1, 2."""
    kv_cache = KVCache(2, 16)
    write(kv_cache, [1, 2])
    kv_cache.keep(range(2))
    write(kv_cache, [10, 11, 12, 13, 14])
    kv_cache.keep(kept)
    assert (kv_cache.length, kv_cache.written) == (2 + len(kept), 0)
    for layer in range(2):
        assert held(kv_cache, layer) == [
            row + 100 * layer for row in (1, 2, *(10 + row for row in kept))
        ]
        assert torch.equal(
            kv_cache.layers[layer].values[:, :, : kv_cache.length],
            -kv_cache.layers[layer].keys[:, :, : kv_cache.length],
        )
    write(kv_cache, [20])
    kv_cache.keep([0])
    assert held(kv_cache) == [1, 2, *(10 + row for row in kept), 20]


def test_random_writes_and_keeps_equal_a_list() -> None:
    """After any calls of `write` and `keep`, the cache holds what a list would hold. There may be
    several writes before a keep, because a draft writes level by level."""
    rng = np.random.default_rng(0)
    kv_cache = KVCache(1, 400)
    model = []
    for _ in range(40):
        written: list[int] = []
        for _ in range(rng.integers(1, 4)):
            values = rng.integers(1000, size=rng.integers(1, 6)).tolist()
            write(kv_cache, values)
            written += values
        kept = sorted(
            rng.choice(
                len(written), size=rng.integers(0, min(len(written), 6) + 1), replace=False
            ).tolist()
        )
        kv_cache.keep(kept)
        model += [written[row] for row in kept]
        assert held(kv_cache) == model


def test_the_cache_says_how_long_it_is() -> None:
    kv_cache = KVCache(1, 16)
    write(kv_cache, [1, 2, 3])
    kv_cache.keep([0, 2])
    kv_cache.reserve(4)
    assert kv_cache.get_seq_length() == 2
    assert kv_cache.layers[0].get_mask_sizes(4) == (6, 0)
    assert kv_cache.layers[0].get_max_length() == 16


# -- masks -----------------------------------------------------------------------------------------


def test_mask_views_equal_a_mask_made_by_hand() -> None:
    """Every prefix length, and every range of nodes, of random trees."""
    rng = np.random.default_rng(1)
    capacity = 6
    for _ in range(20):
        tree = Tree.from_parents(
            [-1, *(int(rng.integers(node)) for node in range(1, rng.integers(2, 8)))]
        )
        n = len(tree)
        mask = TreeMask(
            torch.from_numpy(tree.ancestor_mask), capacity, torch.float32, torch.device("cpu")
        )
        for prefix in range(capacity + 1):
            for first in range(n):
                for last in range(first + 1, n + 1):
                    expected = [
                        [
                            column < prefix or column - prefix in tree.path(row)
                            for column in range(prefix + last)
                        ]
                        for row in range(first, last)
                    ]
                    view = mask.view(prefix, first, last)
                    assert view.shape == (1, 1, last - first, prefix + last)
                    assert (view[0, 0] == 0).tolist() == expected
                    assert bool(((view == 0) | (view == torch.finfo(torch.float32).min)).all())


def test_a_layout_of_some_nodes_lets_them_see_their_ancestors() -> None:
    tree = Tree.from_branching([2, 2, 1])
    context = TreeModel(tiny_model(), "tiny").open(16)
    layout = TreeLayout(tree, [1, 2, 3, 6], context, below=1)
    assert layout.depths.tolist() == [0, 0, 1, 1]
    assert (layout.mask.view(2, 0, 4)[0, 0, :, 2:] == 0).tolist() == [
        [True, False, False, False],
        [False, True, False, False],
        [True, False, True, False],
        [False, True, False, True],
    ]


def test_a_dynamic_layout_equals_that_of_the_grown_tree() -> None:
    """Random trees, one after the other in the same layout, without their roots and leaves. Nodes
    of earlier trees must not be seen."""
    rng = np.random.default_rng(2)
    context = TreeModel(tiny_model(), "tiny").open(6)
    dynamic = DynamicTreeLayout(context, 9)
    for _ in range(20):
        tree = Tree.from_parents(
            [-1, *(int(rng.integers(node)) for node in range(1, rng.integers(3, 10)))]
        )
        nodes = [node for level in tree.inner[1:] for node in level]
        dynamic.clear()
        for level in tree.inner[1:]:
            dynamic.add(
                [nodes.index(parent) if (parent := tree.parents[node]) else None for node in level]
            )
        fixed = TreeLayout(tree, nodes, context, below=1)
        assert len(dynamic) == len(nodes)
        assert dynamic.depths[: len(nodes)].tolist() == fixed.depths.tolist()
        assert dynamic.mask.view(5, 0, len(nodes)).equal(fixed.mask.view(5, 0, len(nodes)))


# -- the context -----------------------------------------------------------------------------------


def test_text_that_does_not_fit_is_refused_and_nothing_changes() -> None:
    context = TreeModel(tiny_model(), "tiny").open(4)
    context.extend([1, 2, 3])
    with pytest.raises(BadPrompt, match="5 tokens do not fit in this run's 4 cache slots"):
        context.extend([4, 5])
    assert (context.length, context.kv_cache.written) == (3, 0)
    context.extend([4])
    assert context.length == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_in_parts_equals_one_pass(kind: str) -> None:
    model = TreeModel(tiny_model(kind).double(), "tiny")
    tokens = [7, 3, 99, 3, 250, 12, 0]
    whole = model.open(16)
    parts = model.open(16)
    expected = whole.extend(tokens)
    for part in (tokens[:1], tokens[1:3], tokens[3:6]):
        parts.extend(part)
    assert float((parts.extend(tokens[6:]) - expected).abs().max()) < 1e-10


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 13])
def test_a_long_prompt_takes_several_passes(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mask of 40,000 tokens at once would take 6 GB."""
    monkeypatch.setattr("sequoia.models.tree_forward.PREFILL_CHUNK", 3)
    model = TreeModel(tiny_model().double(), "tiny")
    rows = []
    forward = model.forward
    tokens = [5 * i % 288 for i in range(n)]
    context = model.open(16)
    monkeypatch.setattr(
        model, "forward", lambda ids, *rest: rows.append(ids.shape[1]) or forward(ids, *rest)
    )
    got = context.extend(tokens)
    assert rows == [3] * ((n - 1) // 3) + [(n - 1) % 3 + 1]
    assert context.length == n
    with torch.inference_mode():
        assert float((got - model.hf(torch.tensor([tokens])).logits[0, -1]).abs().max()) < 1e-10


def test_a_vocabulary_padded_on_one_side_is_cut_to_the_common_part() -> None:
    """No token that pads the larger vocabulary is drafted or emitted."""
    target = tiny_model(vocab=320)
    draft = tiny_model(vocab=288)
    with torch.no_grad():
        target.lm_head.weight[288:] *= 20  # without the cut, a padding token would win
    pair = pair_of(target, draft, tiny_tokenizer(288))
    assert pair.target.vocab == pair.draft.vocab == 288
    steps = list(
        run(
            Decoder(
                pair,
                "abc",
                SamplingParams(max_new_tokens=32, ignore_eos=True),
                Tree.from_branching([4, 2]),
            )
        )
    )
    assert max(max(*step.tokens, *step.emitted) for step in steps) < 288
    with torch.inference_mode():
        assert int(pair.target.hf(torch.tensor([pair.encode("abc")])).logits[0, -1].argmax()) >= 288


# -- the self-test ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
def test_the_self_test_accepts_the_five_classes(kind: str, dtype: torch.dtype) -> None:
    """The model classes of KINDS in fakes.py."""
    self_test(TreeModel(tiny_model(kind).to(dtype), kind))


def broken(**changes: object) -> TreeModel:
    """A model whose forward gets changed arguments."""
    hf = tiny_model()
    forward = hf.forward

    def changed(**given: object) -> object:
        return forward(
            **{
                name: changes[name](value) if name in changes else value
                for name, value in given.items()
            }
        )

    hf.forward = changed
    return TreeModel(hf, "broken")


def row_by_row(positions: torch.Tensor) -> torch.Tensor:
    """Consecutive positions, as in models that count positions themselves."""
    return positions[:, :1] + torch.arange(positions.shape[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"attention_mask": torch.zeros_like},
        {"attention_mask": lambda mask: None},
        {"attention_mask": lambda mask: causal(mask)},
        {"position_ids": row_by_row},
        {"position_ids": torch.zeros_like},
    ],
    ids=["sees all", "no mask", "causal mask", "positions by row", "no positions"],
)
def test_the_self_test_refuses_a_model_that_changes_its_mask_or_positions(changes: dict) -> None:
    with pytest.raises(BadModel, match="cannot run a tree"):
        self_test(broken(**changes))


def causal(mask: torch.Tensor) -> torch.Tensor:
    rows, columns = mask.shape[-2:]
    seen = torch.ones(rows, columns).tril(columns - rows).bool()
    return torch.zeros(rows, columns).masked_fill(~seen, torch.finfo(mask.dtype).min)[None, None]


@pytest.mark.parametrize("call", range(1, 6))
def test_the_self_test_refuses_a_model_whose_logits_are_nan(call: int) -> None:
    """At the start of a text, the self-test makes six passes and compares the logits of all but the
    first. Here one of these five passes gives NaN. NaN compares false with everything, so Python's
    max may miss it."""
    hf = tiny_model()
    calls = itertools.count()
    forward = hf.forward

    def failing(**given: object) -> object:
        result = forward(**given)
        if next(calls) == call:
            result.logits.fill_(torch.nan)
        return result

    hf.forward = failing
    with pytest.raises(BadModel, match=r"cannot run a tree: its logits are NaN or infinite"):
        self_test(TreeModel(hf, "broken"))


def test_the_self_test_refuses_a_model_that_sees_ahead() -> None:
    """BERT loads as a causal model, but lets tokens attend to later tokens. Our mask prevents that.
    The self-test also runs the model without our mask, and those logits differ."""
    config = BertConfig(
        vocab_size=288,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
    )
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = BertLMHeadModel(config)
        for weight in model.parameters():
            weight.normal_(std=0.3)
    with pytest.raises(BadModel, match="cannot run a tree"):
        self_test(TreeModel(model, "bert"))


def test_the_message_of_the_self_test_names_the_model_the_value_and_the_bound() -> None:
    with pytest.raises(
        BadModel,
        match=r"broken cannot run a tree: .* by [\d.e+-]+ standard deviations; the limit is 0.001",
    ):
        self_test(broken(position_ids=row_by_row))


def test_the_self_test_leaves_the_model_unchanged() -> None:
    model = TreeModel(tiny_model(), "tiny")
    before = {name: weight.clone() for name, weight in model.hf.state_dict().items()}
    self_test(model)
    assert all(torch.equal(weight, before[name]) for name, weight in model.hf.state_dict().items())
    assert not model.hf.training


# -- models and their contexts ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_limit_of_a_model_is_its_context_length(kind: str) -> None:
    assert TreeModel(tiny_model(kind, context=77), kind).limit == 77


def test_contexts_of_one_model_share_nothing_but_the_weights() -> None:
    model = TreeModel(tiny_model(), "tiny")
    one = model.open(8)
    other = model.open(8)
    one.extend([1, 2, 3])
    assert (one.length, other.length) == (3, 0)
    assert float((other.extend([1, 2, 3]) - model.open(8).extend([1, 2, 3])).abs().max()) == 0


# -- keys and values of all layers together -------------------------------------------------------


class Operations(TorchDispatchMode):
    """Counts operations that a GPU would launch a kernel or a copy for."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "aten" and not func.is_view:
            self.count += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("layers", [2, 6])
def test_keeping_a_path_takes_few_operations_for_any_number_of_layers(layers: int) -> None:
    model = TreeModel(tiny_model("gpt_neox", layers=layers), "neox")
    context = model.open(40)
    context.extend(range(5))
    context.forward([1, 2, 3, 4], TreeLayout(Tree.from_branching([3]), range(4), context))
    tensors = context.kv_cache._tensors()
    assert len(tensors) == 2
    with Operations() as made:
        kv_cache_module._move_on_devices(tensors, [5, 8], 5)
    assert made.count <= 5


def test_the_slots_of_layers_that_differ_after_all_are_kept_too() -> None:
    """The cache was created for layers of one shape (alike=True), but the second layer has another
    shape."""
    kv_cache = KVCache(3, 8, alike=True)
    kv_cache.reserve(3)
    for i, dim in enumerate((4, 6, 4)):
        states = torch.arange(3.0)[None, None, :, None].expand(1, 2, 3, dim)
        kv_cache.update(states, states + 10 * i, i)
    kv_cache.keep([0, 2])
    for i, layer in enumerate(kv_cache.cache_layers):
        assert layer.keys[0, 1, :2, 0].tolist() == [0, 2]
        assert layer.values[0, 1, :2, 0].tolist() == [10 * i, 10 * i + 2]
    kv_cache.clear()
    assert not any(layer.values.any() for layer in kv_cache.cache_layers)


def test_an_emptied_cache_has_no_damaged_slots() -> None:
    kv_cache = KVCache(1, 8)
    kv_cache.has_damaged_slots = True
    kv_cache.clear()
    assert not kv_cache.has_damaged_slots

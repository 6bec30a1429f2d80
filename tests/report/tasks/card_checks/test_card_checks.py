"""Five checks of a graphics card, run here on a CPU. Correct code passes them, wrong code fails."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
import torch
from fakes import tiny_model, tiny_pair

from sequoia.errors import SequoiaError
from sequoia.exactness.same_distribution import FirstTokens
from sequoia.models import choose_forward
from sequoia.models.cuda_capture import Replay
from sequoia.models.cuda_graphs import GraphedForward
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel, transformers_forward
from sequoia.report.tasks.card_checks import attention, distribution, graphs, offload, recovery
from sequoia.report.tasks.card_checks.graphs import largest_difference, random_path, random_tree

CPU = torch.device("cpu")


def wrong_at(model: TreeModel, prefix: int) -> TreeModel:
    """`model` with a forward that is wrong after exactly `prefix` tokens, as a graph captured for
    one length could be."""
    usual = model.forward

    def forward(ids: Any, positions: Any, mask: Any, kv_cache: Any, last_only: bool) -> Any:
        found = usual(ids, positions, mask, kv_cache, last_only)
        return found.roll(1, -1) if kv_cache.length == prefix and not last_only else found

    return model.with_forward(forward)


def test_a_forward_that_is_wrong_at_one_prefix_is_found() -> None:
    model = TreeModel(tiny_model("llama"), "llama")
    assert largest_difference(model, (3, 1, 60)) < 1e-4
    assert largest_difference(wrong_at(model, 60), (3, 1)) < 1e-4
    assert largest_difference(wrong_at(model, 60), (3, 1, 60)) > 0.5


def test_a_forward_that_gives_nan_is_found() -> None:
    model = TreeModel(tiny_model("llama"), "llama")
    usual = model.forward
    broken = model.with_forward(lambda *given: usual(*given) * torch.nan)
    assert not largest_difference(broken, (3,)) <= 0.3


@pytest.mark.parametrize("is_captured", [True, False])
def test_a_comparison_without_graphs_has_not_passed(
    monkeypatch: pytest.MonkeyPatch, is_captured: bool
) -> None:
    def load(dtype: str, online: bool) -> Pair:
        pair = tiny_pair(dtype=dtype)
        for model in (pair.target, pair.draft) if is_captured else (pair.target,):
            plain = partial(transformers_forward, model.hf)
            model.forward = GraphedForward(plain, captured)
        return pair

    monkeypatch.setattr(graphs, "load_pair", load)
    monkeypatch.setattr(graphs, "PREFIXES", (3,))
    found = graphs.graphs()
    assert found.is_right == is_captured
    without = "no graphs to compare: draft, float32; draft, bfloat16"
    assert (found.words == without) != is_captured


def captured(work: Replay) -> Replay:
    """A stand-in for a capture that succeeds: a replay does the work again."""
    work()
    return work


def not_captured(_: Replay) -> Replay:
    raise RuntimeError("operation not permitted when stream is capturing")


def test_recovery_is_checked_only_after_a_failed_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TreeModel, "may_use_graphs", True)
    pair = tiny_pair()
    monkeypatch.setattr(choose_forward, "CudaCapture", lambda _: not_captured)
    recovery._failed_capture(pair)
    monkeypatch.setattr(choose_forward, "CudaCapture", lambda _: captured)
    with pytest.raises(SequoiaError, match="no capture failed"):
        recovery._failed_capture(pair)


def test_random_trees_have_random_paths() -> None:
    chance = random.Random(0)
    for _ in range(20):
        tree = random_tree(12, chance)
        path = random_path(tree, chance)
        assert len(tree) == 12
        assert not tree.children[path[-1]]
        assert [tree.parents[node] for node in path[1:]] == path[:-1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_is_right_on_this_machine(dtype: torch.dtype) -> None:
    assert attention.largest_error(CPU, dtype, (1, 33)) <= attention._ALLOWED[dtype]


def test_wrong_attention_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_mask(q: Any, k: Any, v: Any, attn_mask: Any) -> Any:
        return (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1) @ v

    monkeypatch.setattr(attention, "scaled_dot_product_attention", without_mask)
    assert attention.largest_error(CPU, torch.float32, (33,)) > 0.1


def test_streamed_passes_equal_the_whole_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offload, "checked_device", lambda _: CPU)
    found = offload.offload("2")
    assert found.is_right
    assert found.words == "0 of 6 streamed runs differ from the whole model"


def test_a_copy_that_comes_too_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoCopy(offload.DelayedCopier):
        def begin(self, host: torch.Tensor, buffer: torch.Tensor) -> None:
            buffer.zero_()

    monkeypatch.setattr(offload, "checked_device", lambda _: CPU)
    monkeypatch.setattr(offload, "DelayedCopier", NoCopy)
    found = offload.offload("1")
    assert not found.is_right


def test_children_are_drawn_with_their_exact_probabilities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(distribution, "_PAIRS", 20_000)
    assert distribution.drawn_pairs(CPU).verdict == "fits"
    monkeypatch.setattr(
        distribution.Seeded,
        "successive",
        lambda self, q, k: torch.stack([q[:, :1], 1 - q[:, :1]], 1).argsort(1)[..., 0],
    )
    assert distribution.drawn_pairs(CPU).verdict == "differs"


def test_a_test_with_too_few_draws_has_not_passed() -> None:
    half = torch.tensor([0.5, 0.5], dtype=torch.float64)
    enough = FirstTokens(half, {0: 50, 1: 50})
    found = distribution.summary({"one": enough, "two": enough}, "of 100 draws")
    assert found.words == "2 tests of 100 draws; lowest p-value 1 (one)"
    assert found.is_right
    found = distribution.summary({"one": enough, "two": FirstTokens(half, {0: 1})}, "of 100 draws")
    assert found.words.endswith("(one); too few draws for two")
    assert found.figures["two"] is None
    assert not found.is_right
    assert not distribution.summary({"one": FirstTokens(half, {0: 99, 1: 1})}, "").is_right
    assert not distribution.summary({"two": FirstTokens(half)}, "of 0 draws").is_right

"""If a text differs from plain decoding's (without a draft), rounding or a bug may be the reason.
For a target with a router (mixture of experts) in bfloat16, the prompt is decoded again in float32
to decide this. Also tested: the verdict if the run in float32 is not possible or not needed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from decoded import emitted
from toy_pairs import toy_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import plain
from sequoia.decoding.tree_choice import FixedTree
from sequoia.errors import OutOfMemory
from sequoia.exactness import same_tokens
from sequoia.exactness.float32_rerun import in_float32, tokens_of
from sequoia.exactness.same_tokens import TIE_ULP, TextMatch, check_text, reference_logits
from sequoia.models.compare_logits import own_logits, own_logits_from
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.sweep.toy_models import noisy
from sequoia.this_machine import memory

PROMPT = "def add(a, b):"
LENGTH = 12
AT = 5
TREE = Tree.from_branching([2, 2, 1])
made = cache(toy_pair)  # shared by all tests, so no test may change a pair


def routed() -> Pair:
    """Every token goes to all experts: there is a router, but rounding cannot change its choice."""
    return made("mixtral", num_experts_per_tok=4)


def changed(pair: Pair) -> tuple[list[int], list[int]]:
    """Plain decoding's tokens twice: with the token at AT replaced by the least probable one, and
    unchanged."""
    right = emitted(plain(pair, PROMPT, SamplingParams(max_new_tokens=LENGTH, ignore_eos=True)))
    worst = int(reference_logits(pair, PROMPT, right[:AT]).argmin())
    return [*right[:AT], worst, *right[AT + 1 :]], right


def checked(
    pair: Pair,
    tree: Tree | Callable[[], FixedTree] = TREE,
    should_stop: Callable[[], bool] = lambda: False,
) -> TextMatch:
    found = check_text(pair, PROMPT, *changed(pair), tree, "sequoia", should_stop)
    assert found.index == AT
    assert found.margin > TIE_ULP
    return found


@pytest.mark.slow
def test_the_copy_is_in_float32_and_the_target_is_not_changed() -> None:
    pair = made("mixtral", tie_word_embeddings=True)
    wide = in_float32(pair).target
    text = [5, 6, 7, 8]
    expected = TreeModel(copy.deepcopy(pair.target.hf).float(), "expected")
    assert torch.equal(own_logits(wide, text), own_logits(expected, text))
    assert {one.dtype for one in wide.hf.parameters()} == {wide.dtype} == {torch.float32}
    assert {one.dtype for one in pair.target.hf.parameters()} == {torch.bfloat16}
    assert wide.hf.get_input_embeddings().weight is wide.hf.get_output_embeddings().weight
    assert wide.vocab == pair.target.vocab


def test_a_difference_that_rounding_cannot_explain_is_undecided() -> None:
    """Neither a tie nor a bug: rounding is too small, but the run in float32 is right."""
    found = checked(routed())
    assert found.verdict == "undecided"
    assert "The same run in float32 equals plain decoding's." in found.sentence
    assert found.sentence.endswith("more than twice the second (both measured): undecided.")


@pytest.mark.slow
def test_a_difference_that_rounding_can_explain_is_a_tie(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A float32 copy with very different weights imitates rounding that changes logits a lot."""

    def far_apart(pair: Pair) -> Pair:
        wide = in_float32(pair)
        model = noisy(noisy(noisy(wide.target.hf, 1), 2), 3)
        for weight in model.parameters():
            weight.data.mul_(-3)
        return replace(wide, target=TreeModel(model, "far"))

    monkeypatch.setattr(same_tokens, "in_float32", far_apart)
    found = checked(routed())
    assert found.verdict == "tie"
    assert found.sentence.endswith(
        "at most twice the second (both measured): a tie, decided by rounding."
    )


def test_a_run_that_is_wrong_in_float32_too_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong_with_a_tree(pair: Pair, prompt: str, count: int, tree: Tree, *rest: object) -> object:
        right = tokens_of(pair, prompt, count, Tree.chain(1), "sequoia", lambda: False)
        return right if len(tree) == 1 else [right[0] ^ 1, *right[1:]]

    monkeypatch.setattr(same_tokens, "tokens_of", wrong_with_a_tree)
    found = checked(routed())
    assert found.verdict == "bug"
    assert "The same run in float32 differs too (Token 1 is" in found.sentence
    assert found.sentence.endswith("a bug): a bug.")


def test_without_memory_for_float32_the_verdict_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda _: 50_000)
    found = checked(routed())
    assert found.verdict == "undecided"
    assert "a float32 copy of the target needs about" in found.sentence
    assert "on cpu; 0.1 MB is free: undecided." in found.sentence


def test_without_memory_for_the_reference_passes_the_verdict_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_room(*_: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(same_tokens, "own_logits_from", no_room)
    found = checked(routed())
    assert found.verdict == "undecided"
    assert found.sentence.endswith("because there is not enough memory: undecided.")


def test_weights_on_several_devices_are_not_copied() -> None:
    pair = routed()
    target = copy.copy(pair.target)
    target.placement = "6 of 8 layers on the CPU"
    pair = replace(pair, target=target)
    with pytest.raises(OutOfMemory, match="6 of 8 layers"):
        in_float32(pair)
    assert checked(pair).verdict == "undecided"


@pytest.mark.parametrize("looks", [0, 1, 3])
def test_a_stopped_check_is_undecided(looks: int) -> None:
    """Stopped before the copy is made (looks=0), or after a step of the run in float32."""
    seen = []

    def stops() -> bool:
        seen.append(1)
        return len(seen) > looks

    found = checked(routed(), should_stop=stops)
    assert found.verdict == "undecided"
    assert found.sentence.endswith("because it was stopped: undecided.")
    assert len(seen) == looks + 1


def test_a_check_that_is_stopped_between_the_reference_passes_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passes = []

    def counted(*given: Any) -> torch.Tensor:
        passes.append(1)
        return own_logits_from(*given)

    monkeypatch.setattr(same_tokens, "own_logits_from", counted)
    found = checked(routed(), should_stop=lambda: bool(passes))
    assert found.verdict == "undecided"
    assert found.sentence.endswith("because it was stopped: undecided.")
    assert passes == [1]


@pytest.mark.slow
def test_the_run_in_float32_gets_a_tree_choice_of_its_own() -> None:
    calls = []
    checked(routed(), lambda: calls.append(1) or FixedTree(TREE))
    assert calls == [1]


def test_a_difference_of_a_dense_target_is_a_bug_without_a_run_in_float32(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda _: 50_000)
    found = checked(made("llama"))
    assert (found.verdict, found.in_float32) == ("bug", "")


def test_a_target_that_is_in_float32_already_needs_no_second_run() -> None:
    found = checked(in_float32(routed()))
    assert (found.verdict, found.in_float32) == ("bug", "")
    assert found.dtype == torch.float32

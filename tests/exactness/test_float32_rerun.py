"""If a text differs from plain decoding's (without a draft), rounding or a bug may be the reason.
For a target with a router (mixture of experts) in bfloat16, the prompt is decoded again in float32
to decide this. Also tested: the verdict if the run in float32 is not possible or not needed."""

from __future__ import annotations

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
from sequoia.exactness import same_tokens
from sequoia.exactness.same_tokens import (
    Place,
    TextMatch,
    check_text,
    in_float32,
    reference_logits,
    tokens_of,
)
from sequoia.models.pair import Pair

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
    should_stop: Callable[[], bool] = lambda: False,
) -> TextMatch:
    found = check_text(pair, PROMPT, *changed(pair), TREE, "sequoia", should_stop)
    assert found.index == AT
    assert not found.first.is_tie
    return found


def test_a_difference_that_rounding_cannot_explain_is_undecided() -> None:
    """Neither a tie nor a bug: rounding is too small, but the run in float32 is right."""
    found = checked(routed())
    assert found.verdict == "undecided"
    assert found.in_float32.index is None
    assert not found.worst.is_tie


def test_a_difference_that_rounding_can_explain_is_a_tie(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somewhere in the text, rounding is made to change the logits a lot, as if it had changed the
    experts there."""
    real = same_tokens.place

    def far_apart(index: int, *given: Any) -> Place:
        found = real(index, *given)
        return replace(found, error=100.0) if index == AT + 2 else found

    monkeypatch.setattr(same_tokens, "place", far_apart)
    found = checked(routed())
    assert found.verdict == "tie"
    assert (found.worst.error, found.worst.is_tie) == (100, True)


def test_a_run_that_is_wrong_in_float32_too_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong_with_a_tree(pair: Pair, prompt: str, count: int, tree: Tree, *rest: object) -> object:
        right = tokens_of(pair, prompt, count, Tree.chain(1), "sequoia", lambda: False)
        return right if len(tree) == 1 else [right[0] ^ 1, *right[1:]]

    monkeypatch.setattr(same_tokens, "tokens_of", wrong_with_a_tree)
    found = checked(routed())
    assert found.verdict == "bug"
    assert (found.in_float32.verdict, found.in_float32.index) == ("bug", 0)


def test_without_memory_for_the_reference_passes_the_verdict_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_room(*_: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(same_tokens, "own_logits_from", no_room)
    found = check_text(routed(), PROMPT, [1, 2], [1, 3])
    assert (found.verdict, found.index, found.first) == ("undecided", 1, None)
    assert found.problem == "there is not enough memory"


@pytest.mark.parametrize("looks", [0, 3])
def test_a_stopped_check_is_undecided(looks: int) -> None:
    """Stopped before the copy is made (looks=0), or after a step of the run in float32."""
    seen = []

    def stops() -> bool:
        seen.append(1)
        return len(seen) > looks

    found = checked(routed(), should_stop=stops)
    assert found.verdict == "undecided"
    assert found.problem == "it was stopped"
    assert len(seen) == looks + 1


def test_a_target_that_is_in_float32_already_needs_no_second_run() -> None:
    found = checked(in_float32(routed()))
    assert (found.verdict, found.in_float32) == ("bug", None)
    assert found.dtype == "float32"

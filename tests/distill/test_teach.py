"""What the target teaches: its answers, and its distributions along them."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.distill import teach
from sequoia.distill.shards import Taught
from sequoia.distill.teach import TOP, answers, prompts, read

NEW = 12
PROMPTS = torch.tensor([[5, 6, 7, 8], [100, 200, 300, 400], [9, 9, 9, 9]])


@pytest.fixture(scope="module")
def target() -> Any:
    return AutoModelForCausalLM.from_pretrained(BUNDLED_PAIR / "target", dtype=torch.float32).eval()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teach, "_TOKENS", NEW)


def answered(target: Any, temperature: float, stop: int) -> list[Taught]:
    torch.manual_seed(0)
    return answers(target, PROMPTS, torch.full((3, 1), temperature), frozenset({stop}))


def logs_along(target: Any, tokens: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return target(tokens.long()[None]).logits[0].log_softmax(-1)


def test_answers_at_a_low_temperature_are_greedy(target: Any) -> None:
    with torch.inference_mode():
        expected = target.generate(PROMPTS, max_new_tokens=NEW, do_sample=False, eos_token_id=None)
    found = [text.tokens.tolist() for text in answered(target, 1e-4, -1)]
    assert found == expected.tolist()


def test_answers_end_with_a_stop_token_and_the_others_go_on(target: Any) -> None:
    """Each row of the cache must stay with its text when other texts end."""
    straight = [text.tokens[4:].tolist() for text in answered(target, 1e-4, -1)]
    stop = straight[0][3]
    found = [text.tokens[4:].tolist() for text in answered(target, 1e-4, stop)]
    ends = [next((i + 1 for i, t in enumerate(row) if t == stop), NEW) for row in straight]
    assert found == [row[:end] for row, end in zip(straight, ends, strict=True)]
    assert min(ends) < max(ends)


def test_an_answer_has_the_targets_distributions(target: Any) -> None:
    for text in answered(target, 1.0, 0):
        logs = logs_along(target, text.tokens)
        for at in range(text.begin, len(text.tokens) - 1):
            assert torch.allclose(text.logs[at].float(), logs[at].topk(TOP).values, atol=0.02)
            assert torch.allclose(logs[at][text.ids[at].long()], logs[at].topk(TOP).values)


def test_a_text_has_the_targets_distributions(target: Any) -> None:
    for text, row in zip(read(target, PROMPTS), PROMPTS, strict=True):
        best = logs_along(target, row).topk(TOP).values
        assert text.begin == 0
        assert torch.allclose(text.logs.float(), best, atol=0.02)


def test_held_out_topics_are_in_no_other_prompt() -> None:
    held_out, others = ({*islice(prompts(1, held), 3000)} for held in (True, False))
    assert len(held_out) > 1000
    assert any("sea" in prompt for prompt in held_out)
    assert not any("photosynthesis" in prompt for prompt in held_out)
    assert not held_out & others

"""The check of greedy runs finds a bug in wrong decoders, for bfloat16 targets with and without a
router.

Each wrong decoder (mutant) has one error in its forward passes over trees, or in what the KV cache
keeps after them. Plain decoding and prefill are not changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from decoded import emitted
from toy_pairs import toy_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import TextMatch, check_text
from sequoia.models.tree_forward import Context

TREE = Tree.from_branching([3, 2, 2, 1])
PROMPTS = ("def add(a, b):", "Hello, wörld! 你")
GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)
DENSE = ("llama", "qwen3", "starcoder2")
ROUTED = ("mixtral", "qwen3_moe", "granitemoe")
NEAR, FAR = 0.5, 1.25  # logits; rounding changes those of the toy models by 0.1, typically

forward = Context.forward
keep = Context.keep


def parents_position(self: Context, tokens: Any, rows: Any) -> torch.Tensor:
    """Every drafted token has the position of its parent."""
    depths = (rows.depths - 1).clamp(min=0)
    return forward(self, tokens, SimpleNamespace(depths=depths, mask=rows.mask))


def one_row_without_the_text(self: Context, tokens: Any, rows: Any) -> torch.Tensor:
    """In the target, the root's first child attends only to the tree, not to the text before it."""

    def view(length: int, start: int, end: int) -> torch.Tensor:
        mask = rows.mask.view(length, start, end).clone()
        if start <= 1 < end:
            mask[..., 1 - start, :length] = torch.finfo(mask.dtype).min
        return mask

    return forward(
        self, tokens, SimpleNamespace(depths=rows.depths, mask=SimpleNamespace(view=view))
    )


def one_row_further(self: Context, rows: Sequence[int]) -> None:
    """In place of the last accepted drafted node, the cache keeps the node with the next number, if
    there is one."""
    kept = list(rows)
    if len(kept) > 1 and kept[-1] + 1 < self.kv_cache.written:
        kept[-1] += 1
    keep(self, kept)


def tokens_swapped(self: Context, tokens: Any, rows: Any) -> torch.Tensor:
    """In each row of a pass over several tokens, the best token swaps logits with the best of the
    tokens that are at least NEAR below it, unless the two logits are over FAR apart."""
    logits = forward(self, tokens, rows).clone()
    for row in logits:
        below = row.max() - row
        other = int(below.masked_fill(below < NEAR, torch.inf).argmin())
        if len(tokens) > 1 and below[other] <= FAR:
            row[[int(row.argmax()), other]] = row[[other, int(row.argmax())]]
    return logits


MUTANTS: dict[str, Callable[..., Any]] = {
    "forward positions": parents_position,
    "forward mask": one_row_without_the_text,
    "keep": one_row_further,
    "forward swap": tokens_swapped,
}


def caught(mutant: str, kind: str, runs: int, monkeypatch: pytest.MonkeyPatch) -> list[TextMatch]:
    """The verdicts on `runs` runs of a mutant."""
    pairs = [toy_pair(kind, seed) for seed in range(-(-runs // len(PROMPTS)))]
    monkeypatch.setattr(Context, mutant.split()[0], MUTANTS[mutant])
    found = []
    for pair, prompt in itertools.islice(itertools.product(pairs, PROMPTS), runs):
        tokens = emitted(run(Decoder(pair, prompt, GREEDY, TREE)))
        expected = emitted(plain(pair, prompt, GREEDY))
        found.append(check_text(pair, prompt, tokens, expected, TREE))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", [DENSE[0], ROUTED[0]])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_decoder_is_called_a_bug(
    mutant: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a target with a router, the verdict also needs the check in float32."""
    (found,) = caught(mutant, kind, 1, monkeypatch)
    assert found.verdict == "bug"
    assert bool(found.in_float32) == (kind in ROUTED)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [*DENSE, *ROUTED])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_every_run_of_a_wrong_decoder_is_called_a_bug(
    mutant: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [one.verdict for one in caught(mutant, kind, 4, monkeypatch)]
    print(f"\n{mutant} of {kind}: {found}")
    assert set(found) == {"bug"}

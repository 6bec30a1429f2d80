"""Texts to measure along: the target's own continuations of prompts, and both models'
distributions after each of their tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.decoding.engine import plain
from sequoia.measuring.acceptance_teacher_forced import logits_along
from sequoia.models.pair import Pair


@dataclass(frozen=True)
class Place:
    """A position of a text. token: the one that follows. p, q (vocab,): the target's distribution
    and the draft's. q_row (1, vocab): the draft's, as children are drawn from it."""

    token: int
    p: NDArray[np.float64]
    q: NDArray[np.float32]
    q_row: torch.Tensor


def continuation(pair: Pair, prompt: str, params: SamplingParams) -> tuple[int, ...]:
    """What the target alone emits after `prompt`."""
    return tuple(emitted_tokens(plain(pair, prompt, params)))


def places(
    pair: Pair, prompt: Sequence[int], text: Sequence[int], params: SamplingParams
) -> Iterator[Place]:
    """Each position of `text`, which follows `prompt`. Raises BadModel if a model overflows."""
    context = (*prompt, *text[:-1])
    token = iter(text)
    for target, draft in zip(
        logits_along(pair.target, context, len(prompt)),
        logits_along(pair.draft, context, len(prompt)),
        strict=True,
    ):
        p = target_rows(target, params).cpu().numpy()  # (positions, vocab)
        q_rows = draft_rows(draft, params)
        q = q_rows.cpu().numpy()
        for row in range(len(p)):
            yield Place(next(token), p[row], q[row], q_rows[row : row + 1])

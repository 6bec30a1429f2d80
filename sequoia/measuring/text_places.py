"""The target's and the draft's distribution for each token of a given text. Each model reads the
text once, and nothing is sampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.measuring.acceptance_teacher_forced import logits_along
from sequoia.models.pair import Pair


@dataclass(frozen=True)
class TextPlace:
    """A place in a text. token: the id of the token that follows. p, q: (vocab,) the target's and
    the draft's distribution for that token, given the text before it. q_row: (1, vocab) q as the
    tensor that children are drawn from."""

    token: int
    p: NDArray[np.float64]
    q: NDArray[np.float32]
    q_row: torch.Tensor


def text_places(
    pair: Pair, prompt: Sequence[int], text: Sequence[int], params: SamplingParams
) -> Iterator[TextPlace]:
    """The place before each token of `text`, which follows `prompt`. Raises BadModel if a model's
    logits overflow."""
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
            yield TextPlace(next(token), p[row], q[row], q_rows[row : row + 1])

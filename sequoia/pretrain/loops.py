"""The training objective for a target during its learning-rate decay. It teaches the target not to
repeat a passage endlessly.

When a small model has repeated a passage, each further repetition makes the model surer of it,
until hardly anything else is sampled. So in part of the rows a passage is repeated on purpose. The
model learns to find each token less probable than one repetition earlier (Xu et al. 2022, "Learning
to Break the Loop", arXiv 2206.02369).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch.nn import functional as F

from .model import Forward, Objective, logits, next_token

REPEATED_ROWS = 0.25  # fraction of the rows in which a passage is repeated
FACTOR = 0.5  # wanted probability of a token, divided by its probability one repetition earlier
WEIGHT = 0.3  # usual weight of `fading`, relative to the cross-entropy
SHORTEST = 4  # minimum tokens of a repeated passage; the maximum is about a quarter of the row


class Repetitions(NamedTuple):
    """Rows in which a passage repeats until the end.

    rows: tokens (rows, width). starts: where the passage first starts in each row, (rows, 1).
    periods: the passage's number of tokens, (rows, 1).
    """

    rows: torch.Tensor
    starts: torch.Tensor
    periods: torch.Tensor


def ending_loops(weight: float) -> Objective:
    """Objective of a target's decay: cross-entropy with the next tokens, in nats per token, plus
    `weight` times `fading`. A passage is repeated in the first rows: a fraction REPEATED_ROWS of
    all rows, rounded down. These rows do not count towards the cross-entropy. If there are no such
    rows, the objective is the cross-entropy alone."""

    def objective(network: Forward, windows: torch.Tensor) -> torch.Tensor:
        count = int(REPEATED_ROWS * len(windows))
        if count == 0:
            return next_token(network, windows)
        found = repetitions(windows[:count])
        real = windows[count:]
        scores = logits(network, torch.cat([found.rows, real])[:, :-1])
        repeated, others = scores.split([found.rows[:, 1:].numel(), real[:, 1:].numel()])
        loss = F.cross_entropy(others, real[:, 1:].flatten())
        return loss + weight * fading(found, repeated.unflatten(0, found.rows[:, 1:].shape))

    return objective


def repetitions(windows: torch.Tensor) -> Repetitions:
    """`windows` (rows, width) with a passage of each row repeated until the row's end. The place
    and the length of the passage depend only on the row's tokens, so that a resumed run gives the
    same result."""
    width = windows.shape[1]
    places = torch.arange(width, device=windows.device)[None]
    number = (windows * (places + 1)).sum(1, keepdim=True).double()
    longest = max(SHORTEST, width // 4)
    lengths = SHORTEST * (longest / SHORTEST) ** (number * math.sqrt(5) % 1)
    periods = lengths.long()
    starts = (width // 4 * (number * math.sqrt(2) % 1)).long()
    sources = torch.where(places < starts, places, starts + (places - starts) % periods)
    return Repetitions(windows.gather(1, sources), starts, periods)


def fading(found: Repetitions, scores: torch.Tensor) -> torch.Tensor:
    """Mean of -log(1 - |p - FACTOR * p one repetition earlier|) over the repeated tokens. p is a
    token's probability. The first repetition of a row's first token is left out, because that
    first token has no p. No gradient flows through the earlier p.

    scores: logits (rows, width - 1, vocab) for the tokens after the first of each row.
    """
    chosen = scores.log_softmax(-1).gather(-1, found.rows[:, 1:, None])[..., 0].exp()
    places = torch.arange(1, found.rows.shape[1], device=scores.device)[None]
    earlier = (places - 1 - found.periods).clamp(min=0)
    wanted = FACTOR * chosen.detach().gather(1, earlier)
    losses = -(1 - (chosen - wanted).abs()).clamp(min=1e-6).log()
    is_repeated = (places >= found.starts + found.periods) & (places > found.periods)
    return losses[is_repeated].mean()

"""How well a draft predicts its target on held-out texts: the sum of min(p, q), which is the
probability that a token drawn from the draft is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

import torch

from sequoia.distill.shards import Taught, kind_of, read_shard
from sequoia.measuring.acceptance_teacher_forced import overlaps
from sequoia.models.pair import Pair

TEMPERATURES = (0.0, 0.6, 1.0)
_SURE = 1.96  # standard errors on each side of a 95% interval


def measured(pair: Pair, folder: Path) -> Iterator[str]:
    """A line for each shard in `folder` and each of TEMPERATURES: the mean over the texts of the
    sum of min(p, q), with a 95% interval."""
    for path in sorted(folder.glob("*.pt")):
        texts = read_shard(path)
        for temperature in TEMPERATURES:
            values = [_mean(pair, text, temperature) for text in texts]
            error = _SURE * stdev(values) / len(values) ** 0.5
            words = f"{fmean(values):.3f} +- {error:.3f} ({len(values)} texts)"
            yield f"{kind_of(path.name)}, T={temperature:g}: {words}"


def _mean(pair: Pair, text: Taught, temperature: float) -> float:
    tokens = text.tokens.tolist()[: -1 if text.begin else None]
    return float(torch.cat([*overlaps(pair, tokens, text.begin + 1, temperature)]).mean())

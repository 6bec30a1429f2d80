"""How well a draft predicts its target on held-out texts: the sum of min(p, q), which is the
probability that a token drawn from the draft is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

import torch

from sequoia.algorithm.distributions import target_rows
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.distill.shards import Taught, kind_of, read_shard
from sequoia.measuring.acceptance_teacher_forced import logits_along
from sequoia.models.pair import Pair

TEMPERATURES = (0.0, 0.6, 1.0)
_SURE = 1.96  # standard errors on each side of a 95% interval


def overlaps(pair: Pair, folder: Path) -> Iterator[str]:
    """A line for each shard in `folder` and each of TEMPERATURES: the mean over the texts of the
    sum of min(p, q), with a 95% interval. At temperature 0, this is how often the most probable
    tokens agree."""
    for path in sorted(folder.glob("*.pt")):
        found = [_along(pair, text) for text in read_shard(path)]
        for temperature, values in zip(TEMPERATURES, zip(*found, strict=True), strict=True):
            error = _SURE * stdev(values) / len(values) ** 0.5
            words = f"{fmean(values):.3f} +- {error:.3f}"
            yield f"{kind_of(path.name)}, T={temperature:g}: {words} ({len(values)} texts)"


def _along(pair: Pair, text: Taught) -> list[float]:
    """The mean sum of min(p, q) along `text` at each of TEMPERATURES."""
    tokens = text.tokens.tolist()[: -1 if text.begin else None]
    both = [
        torch.cat([*logits_along(model, tokens, text.begin + 1)])
        for model in (pair.target, pair.draft)
    ]
    found = list[float]()
    for temperature in TEMPERATURES:
        p, q = (target_rows(logits, SamplingParams(temperature)) for logits in both)
        found.append(float(torch.minimum(p, q).sum(-1).mean()))
    return found

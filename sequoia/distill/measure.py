"""How well a draft predicts its target on held-out texts: the sum of min(p, q), which is the
probability that a token drawn from the draft is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch

from sequoia.distill.shards import Shard, kind_of
from sequoia.distill.teacher import Taught
from sequoia.distill.train import draft_states

TEMPERATURES = (0.0, 0.6, 1.0)
_SURE = 1.96  # standard errors on each side of a 95% interval


def measured(target: Any, draft: Any, folder: Path, texts: int | None = None) -> list[str]:
    """A line for each shard in `folder`: the sum of min(p, q) at each of TEMPERATURES, with a 95%
    interval. texts: how many of a shard are measured, None for all."""
    return [
        f"{kind_of(path):6}"
        + "".join(f"  {words}" for words in _of_shard(target, draft, path, texts))
        for path in sorted(folder.glob("*.safetensors"))
    ]


def _of_shard(target: Any, draft: Any, path: Path, texts: int | None) -> list[str]:
    shard = Shard(path)
    found = [overlaps(target, draft, shard[i]) for i in range(len(shard))[:texts]]
    return [
        f"T={temperature:g}: {_interval(values)}"
        for temperature, values in zip(TEMPERATURES, zip(*found, strict=True), strict=True)
    ]


def _interval(values: Sequence[float]) -> str:
    error = stdev(values) / len(values) ** 0.5
    return f"{fmean(values):.3f} +- {_SURE * error:.3f}"


@torch.inference_mode()
def overlaps(target: Any, draft: Any, text: Taught) -> list[float]:
    """The mean sum of min(p, q) along `text` at each of TEMPERATURES."""
    tokens = text.tokens.long().to(target.device)[None]
    end = tokens.shape[1] - bool(text.begin)
    at = torch.arange(text.begin, end, device=target.device)
    states = target.model(tokens, use_cache=False).last_hidden_state
    ours = target.lm_head(states[0, at]).float()
    its = draft.lm_head(draft_states(draft, tokens)[0, at].to(target.dtype)).float()
    return [overlap(ours, its, temperature) for temperature in TEMPERATURES]


def overlap(ours: torch.Tensor, its: torch.Tensor, temperature: float) -> float:
    """The mean sum of min(p, q) of two models' logits (positions, vocab). At temperature 0, how
    often both have the same most probable token."""
    if temperature == 0:
        return float((ours.argmax(-1) == its.argmax(-1)).float().mean())
    p, q = ((logits / temperature).softmax(-1) for logits in (ours, its))
    return float(torch.minimum(p, q).sum(-1).mean())

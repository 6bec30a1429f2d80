"""The tokens that runs emitted, and the distribution that they should follow."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from sequoia import Pair, SamplingParams, StepTrace


def emitted(steps: Iterable[StepTrace]) -> list[int]:
    return [token for step in steps for token in step.emitted]


def joint(
    pair: Pair, prompt: str, params: SamplingParams, length: int
) -> dict[tuple[int, ...], float]:
    """The target's joint distribution of the next `length` tokens, computed by its `transformers`
    model without our KV cache or tree mask."""
    distribution = {(): 1.0}
    for _ in range(length):
        grown = {}
        for text, share in distribution.items():
            with torch.inference_mode():
                logits = (
                    pair.target.hf(torch.tensor([[*pair.encode(prompt), *text]]))
                    .logits[0, -1]
                    .double()
                )
            probs = nucleus_by_hand(torch.softmax(logits / params.temperature, -1), params.top_p)
            grown.update({(*text, token): share * float(p) for token, p in enumerate(probs)})
        distribution = grown
    return distribution


def nucleus_by_hand(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    kept = torch.zeros_like(probs)
    for token in probs.argsort(descending=True).tolist():
        if kept.sum() >= top_p:
            break
        kept[token] = probs[token]
    return kept / kept.sum()

"""A pair with a better or a worse draft. The better draft is a copy of the target with noise added
to its weights. The worse draft is a noisy copy of the draft. Use these pairs to measure acceptance,
not times: the copy of the target is slower than the draft."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import torch

from sequoia.errors import BadPair
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.pair import Pair, PairCache
from sequoia.models.rounded_copy import RoundedLinear
from sequoia.models.tree_forward import TreeModel

# By name: the model whose weights are used, and the standard deviation of the added noise as a
# multiple of the weight tensor's own.
QUALITIES: dict[str, tuple[str, float]] = {
    "worse": ("draft", 0.3),
    "as it is": ("draft", 0.0),
    "better": ("target", 0.1),
}


def with_draft(pair: Pair, quality: str) -> Pair:
    """`pair` with a draft of the given quality, a key of QUALITIES. Later calls return the same
    pair. Raises BadPair for a better draft if the target is spread over devices or streamed."""
    source, noise = QUALITIES[quality]
    if not noise:
        return pair
    return pair.measured.once(("draft", quality), lambda: _noisy_pair(pair, source, noise))


def _noisy_pair(pair: Pair, source: str, noise: float) -> Pair:
    model = {"draft": pair.draft, "target": pair.target}[source]
    if model.placement:
        raise BadPair(
            "the better draft would be a copy of the target, whose weights are not all on one "
            f"device ({model.placement})"
        )
    draft = TreeModel(
        _noisy(model.hf, noise), f"{model.name} with noise", model.device, model.layer_devices
    )
    draft.vocab = model.vocab
    return replace(pair, draft=use_fast_forward(draft), known=(), measured=PairCache())


def _noisy(model: Any, noise: float) -> Any:
    copied = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in copied.parameters():
            weight.add_(_noise(weight, noise, generator))
        for module in copied.modules():
            if isinstance(module, RoundedLinear):
                weight = module.weight
                module.round(weight + _noise(weight, noise, generator))
    return copied


def _noise(weight: torch.Tensor, noise: float, generator: torch.Generator) -> torch.Tensor:
    drawn = torch.randn(weight.shape, generator=generator)
    return (noise * float(weight.float().std(correction=0)) * drawn).to(weight)

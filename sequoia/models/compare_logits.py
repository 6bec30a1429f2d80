"""The logits of the bare model, which is the model of `transformers` without our cache, mask and
positions; and the distance between logits, in units of their spread. The spread of logits is their
standard deviation over the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import torch

from sequoia.models.attention_kernels import without_cudnn_attention
from sequoia.models.tree_forward import TreeModel
from sequoia.models.wider import Precision

EXACT = 1e-3  # the largest distance in float32 that rounding explains; faults cause larger ones
# The largest median of distances for a rounded copy (see rounded_copy.py). This is only to see that
# it is the same model: verification is exact for any draft distribution.
SANE = 0.5


def own_logits(model: TreeModel, tokens: Sequence[int]) -> torch.Tensor:
    """Logits (vocab,) in float64 after `tokens`, from the bare model with its own positions."""
    return _bare_logits(model, [tokens], 1)[0, -1].double()


def own_logits_from(model: TreeModel, tokens: Sequence[int], first: int, keep: int) -> torch.Tensor:
    """Logits (keep, vocab) in float64 at the last `keep` of `tokens`, from the bare model. first:
    the position of the first token."""
    positions = torch.arange(first, first + len(tokens), device=model.device)[None]
    return _bare_logits(model, [tokens], keep, position_ids=positions)[0, -keep:].double()


def own_logits_of_all(
    model: TreeModel, texts: Sequence[Sequence[int]], first: int = 0
) -> torch.Tensor:
    """Logits (texts, tokens, vocab) after each token of each of `texts`, from one pass of the bare
    model. Shorter texts are padded at the end, where padding changes nothing before it. first: the
    position of the first token; if it is 0, the model counts the positions itself."""
    longest = max(map(len, texts))
    padded = [[*text, *[text[-1]] * (longest - len(text))] for text in texts]
    positions = torch.arange(first, first + longest, device=model.device).expand(len(texts), -1)
    return _bare_logits(model, padded, 0, **({"position_ids": positions} if first else {}))


@torch.inference_mode()
def _bare_logits(
    model: TreeModel, texts: Sequence[Sequence[int]], keep: int, **options: torch.Tensor
) -> torch.Tensor:
    ids = torch.tensor(texts, device=model.device)
    is_wider = model.dtype != model.hf.dtype  # see wider.py
    with without_cudnn_attention(), Precision(model.dtype) if is_wider else nullcontext():
        found = model.hf(input_ids=ids, use_cache=False, logits_to_keep=keep, **options)
    return found.logits[..., : model.vocab]


def is_half(dtype: torch.dtype) -> bool:
    """Whether `dtype` is less precise than float32."""
    return dtype not in (torch.float32, torch.float64)


def distances(found: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The difference of each logit (rows, vocab) from `expected`, in spreads of its row there. A
    token that all rows rule out, with the logit -infinity, is left out."""
    possible = ~((found == -torch.inf) & (expected == -torch.inf)).all(0)
    found, expected = (one[:, possible].double() for one in (found, expected))
    return (found - expected).abs() / expected.std(-1, keepdim=True).clamp(min=1e-9)

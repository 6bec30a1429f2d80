"""Logits of a model compared with others of the same text: those of a tree, of the tokens in a row,
of the bare model; and how far apart rounding alone may put them."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from sequoia.algorithm.tree import Tree
from sequoia.models.attention_kernels import without_cudnn_attention
from sequoia.models.tree_forward import TreeModel
from sequoia.models.tree_mask import whole_tree_layout

INT8_TOLERANCE = 0.5  # of the logits' spread: still the same model, though not to the last digit


def branched(
    model: TreeModel, tokens: Sequence[int], before: Sequence[int] = (), first: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Two rows of logits (vocab,) for a tree of three `tokens`, a root with two children, after the
    tokens `before`, or after the same three where none are given: after the second child, and after
    the first token once that branch is kept. first: the position of the text's first token."""
    before = before or tokens
    context = model.open(len(before) + 13, first)
    context.extend(before)
    branch = context.forward(tokens, whole_tree_layout(context, Tree((-1, 0, 0))))[2].double()
    context.keep([0, 2])
    return branch, context.extend(tokens[:1]).double()


def own_logits(model: TreeModel, tokens: Sequence[int]) -> torch.Tensor:
    """(vocab,) float64 logits after `tokens` from the bare model: batch of one, no cache, mask or
    positions of ours."""
    return _bare_logits(model, tokens, 1)[-1]


def own_logits_from(model: TreeModel, tokens: Sequence[int], first: int, keep: int) -> torch.Tensor:
    """(keep, vocab) float64 logits after the last `keep` of `tokens`, the first of which is at
    position `first`, from the bare model: batch of one, no cache or mask of ours."""
    positions = torch.arange(first, first + len(tokens), device=model.device)[None]
    return _bare_logits(model, tokens, keep, position_ids=positions)


@torch.inference_mode()
def _bare_logits(
    model: TreeModel, tokens: Sequence[int], keep: int, **options: torch.Tensor
) -> torch.Tensor:
    ids = torch.tensor([tokens], device=model.device)
    with without_cudnn_attention():
        found = model.hf(input_ids=ids, use_cache=False, logits_to_keep=keep, **options)
    return found.logits[0, -keep:, : model.vocab].double()


def is_half(dtype: torch.dtype) -> bool:
    """Whether numbers of `dtype` have fewer digits than float32."""
    return dtype not in (torch.float32, torch.float64)


def tolerance(dtype: torch.dtype) -> float:
    """The difference of logits that rounding explains, as a share of their spread."""
    return 0.1 if is_half(dtype) else 1e-3


def sample_tokens(model: TreeModel) -> list[int]:
    """Three tokens to try `model` with, which any vocabulary has."""
    return [token % model.vocab for token in (1, 2, 3)]


def sample_logits(model: TreeModel) -> list[torch.Tensor]:
    """(vocab,) logits of a tree's branch after three tokens and after seven; only the first where
    the weights are in several places, as passes are slow there."""
    tokens = sample_tokens(model)
    texts = [(), (tokens * 3)[:7]]
    return [branched(model, tokens, text)[0] for text in texts[: 1 if model.placement else 2]]


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """The greatest difference of two logit rows (vocab,), relative to the spread of the second."""
    return float((one - other).abs().max() / other.std().clamp(min=1e-9))

"""Compares the logits that a model computes in a tree with those of the bare model after the same
tokens.

The bare model is the model of `transformers` without our cache and mask. The spread of logits is
their standard deviation over the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import torch

from sequoia.algorithm.tree import Tree
from sequoia.models.attention_kernels import without_cudnn_attention
from sequoia.models.tree_forward import TreeModel
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.models.wider import Precision


def branched(
    model: TreeModel, tokens: Sequence[int], before: Sequence[int] = (), first: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Two rows of float64 logits (vocab,) from a tree of three `tokens` a, b, c: the root a with
    the children b and c. The first row is after a, c. The root and c are then kept, and the second
    row is after a, c, a.

    before: the tokens before the tree, by default `tokens`. first: the position of the first token
    in `before`.
    """
    before = before or tokens
    context = model.open(len(before) + 13, first)
    context.extend(before)
    branch = context.forward(tokens, whole_tree_layout(context, Tree((-1, 0, 0))))[2].double()
    context.keep([0, 2])
    return branch, context.extend(tokens[:1]).double()


def own_logits(model: TreeModel, tokens: Sequence[int]) -> torch.Tensor:
    """Logits (vocab,) in float64 after `tokens`, from the bare model with its own positions."""
    return _bare_logits(model, tokens, 1)[-1]


def own_logits_from(model: TreeModel, tokens: Sequence[int], first: int, keep: int) -> torch.Tensor:
    """Logits (keep, vocab) in float64 at the last `keep` of `tokens`, from the bare model. first:
    the position of the first token."""
    positions = torch.arange(first, first + len(tokens), device=model.device)[None]
    return _bare_logits(model, tokens, keep, position_ids=positions)


@torch.inference_mode()
def _bare_logits(
    model: TreeModel, tokens: Sequence[int], keep: int, **options: torch.Tensor
) -> torch.Tensor:
    ids = torch.tensor([tokens], device=model.device)
    is_wider = model.dtype != model.hf.dtype  # see wider.py
    with without_cudnn_attention(), Precision(model.dtype) if is_wider else nullcontext():
        found = model.hf(input_ids=ids, use_cache=False, logits_to_keep=keep, **options)
    return found.logits[0, -keep:, : model.vocab].double()


def is_half(dtype: torch.dtype) -> bool:
    """Whether `dtype` is less precise than float32."""
    return dtype not in (torch.float32, torch.float64)


def tolerance(dtype: torch.dtype) -> float:
    """The largest difference of logits that rounding explains, as a fraction of their spread."""
    return 0.1 if is_half(dtype) else 1e-3


def sample_tokens(model: TreeModel) -> list[int]:
    """Three token ids for tests. They exist in the model's vocabulary."""
    return [token % model.vocab for token in (1, 2, 3)]


def sample_logits(model: TreeModel) -> list[torch.Tensor]:
    """Two rows of logits (vocab,) at a branch of a tree, with three tokens before the tree and with
    seven. If not all weights are on one device, passes are slow, so the second row is omitted."""
    tokens = sample_tokens(model)
    texts = [(), (tokens * 3)[:7]]
    return [branched(model, tokens, text)[0] for text in texts[: 1 if model.placement else 2]]


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference between two rows of logits (vocab,), divided by the spread of
    `other`. Tokens that both rows rule out, with the logit -infinity, do not count."""
    possible = (one > -torch.inf) | (other > -torch.inf)
    one, other = one[possible], other[possible]
    return float((one - other).abs().max() / other.std().clamp(min=1e-9))

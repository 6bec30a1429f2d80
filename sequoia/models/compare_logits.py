"""How far the logits of a forward pass are from those of the bare model, which is the model of
`transformers` without our cache, mask and positions, in float32 or wider. Distances are in units of
the spread of the logits, their standard deviation over the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from sequoia.models.cuda_graphs import Forward
from sequoia.models.tree_forward import TreeModel, transformers_forward, without_cudnn_attention


def wider(model: TreeModel, forward: Forward | None = None) -> TreeModel:
    """A model with the weights of `model` that computes in float32, or in float64 if `model` is not
    in half precision. forward: None for that of `transformers`."""
    other = model.with_forward(model.forward)
    other.dtype = torch.float32 if is_half(model.dtype) else torch.float64
    forward = forward or partial(transformers_forward, model.hf)
    other.forward = partial(_forward, other.dtype, forward)
    return other


def _forward(dtype: torch.dtype, forward: Forward, *given: Any) -> torch.Tensor:
    with Precision(dtype):
        return forward(*given)


class Precision(TorchFunctionMode):
    """A context in which the operations of torch get floating-point arguments of at least `dtype`:
    narrower ones are converted. Operations that write into a narrower tensor are not changed."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self._dtype = dtype

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if _writes(func):
            return func(*args, **(kwargs or {}))
        args, kwargs = tree_map(self._converted, (args, kwargs or {}))
        if func is torch._grouped_mm and self._dtype == torch.float64:  # exists up to float32 only
            return func(*tree_map(_narrowed, args), **kwargs).double()
        return func(*args, **kwargs)

    def _converted(self, value: Any) -> Any:
        if isinstance(value, torch.dtype):
            return self._dtype if self._is_narrow(value) else value
        is_narrow = isinstance(value, torch.Tensor) and self._is_narrow(value.dtype)
        return value.to(self._dtype) if is_narrow else value

    def _is_narrow(self, dtype: torch.dtype) -> bool:
        return dtype.is_floating_point and dtype.itemsize < self._dtype.itemsize


def _narrowed(value: Any) -> Any:
    is_wide = isinstance(value, torch.Tensor) and value.dtype == torch.float64
    return value.float() if is_wide else value


def _writes(func: Callable[..., Any]) -> bool:
    """Whether `func` changes its first argument, as `x.add_(y)`, `x[i] = y` and `x.data = y` do."""
    name = getattr(func, "__name__", "")
    return name in ("__set__", "__setitem__") or (name.endswith("_") and not name.endswith("__"))


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
    is_wider = model.dtype != model.hf.dtype  # see `wider`
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

"""Runs a model with more precision than its weights have: in float32, or in float64 if the weights
are in float32. Each operation converts the weights that it uses, so there is never a second copy of
the whole model in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from sequoia.models.cuda_graphs import Forward
from sequoia.models.tree_forward import TreeModel, transformers_forward


def wider(model: TreeModel, forward: Forward | None = None) -> TreeModel:
    """A model with the weights of `model` that computes in float32, or in float64 if `model`
    computes in float32. forward: None for that of `transformers`."""
    other = model.with_forward(model.forward)
    other.dtype = torch.float64 if model.dtype == torch.float32 else torch.float32
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

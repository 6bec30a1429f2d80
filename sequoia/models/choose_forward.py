"""Chooses the forward of a model: a faster one, where there is one that gives the same logits as
that of `transformers` on this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from sequoia.models.compare_logits import INT8_TOLERANCE, distance, sample_logits, tolerance
from sequoia.models.cuda_graphs import CudaCapture, Forward, GraphedForward
from sequoia.models.fast_llama import fast_forward
from sequoia.models.graph_check import graph_problem
from sequoia.models.grouped_attention import has_groups, with_grouped_attention
from sequoia.models.tree_forward import TreeModel, transformers_forward

# what the fast forward raises for a model that is built differently from the rest of its family
_BUILT_DIFFERENTLY = (RuntimeError, AttributeError, TypeError, IndexError)
_log = logging.getLogger(__name__)


def use_fast_forward(model: TreeModel, int8: bool = False) -> TreeModel:
    """Use the fast forward, or on CUDA the one with graphs, where `model` has one and it gives the
    same logits as the `transformers` one; for a model on several devices, the one with grouped
    attention. Where it doesn't, `no_fast_forward` and the log say why. Returns `model`.

    int8: the one with rounded weights, for drafts. Its logits may differ by more, as verification
    is exact for any draft distribution.
    """
    usual = model.forward
    bound = INT8_TOLERANCE if int8 else tolerance(model.dtype)
    why = ""
    for make in _faster_forwards(model, int8):
        if why:
            _log.warning("%s: another faster forward is tried, as %s", model.name, why)
        why = _problem_with(model, make, usual, bound)
        if not why:
            return model
    if why:
        _use(model, usual, f"CUDA graphs off: {why}" if model.may_use_graphs else why)
    return model


def use_no_graphs(model: TreeModel, why: str) -> None:
    """Use the plain forward from now on, where `model` uses CUDA graphs."""
    if model.graphs:
        _use(model, partial(transformers_forward, model.hf), f"CUDA graphs off: {why}")


def _faster_forwards(model: TreeModel, int8: bool) -> list[Callable[[], Forward | None]]:
    """Makes the faster forwards that may exist for `model`, the fastest first."""
    if model.placement:  # its weights are in several places: neither captured nor packed
        return [partial(_grouped, model)]
    if not model.may_use_graphs:
        return [partial(fast_forward, model.hf, int8)]
    plain = partial(transformers_forward, model.hf)
    forwards = filter(None, (_grouped(model), plain))
    return [partial(_with_graphs, forward, model.device) for forward in forwards]


def _with_graphs(forward: Forward, device: torch.device) -> GraphedForward:
    """`forward` as CUDA graphs."""
    return GraphedForward(forward, CudaCapture(device))


def _grouped(model: TreeModel) -> Forward | None:
    """The forward with grouped attention; None for a model without groups."""
    return partial(grouped_forward, model.hf) if has_groups(model.config) else None


def grouped_forward(hf: Any, *given: Any) -> torch.Tensor:
    """`transformers_forward` with grouped attention."""
    with with_grouped_attention(hf.config.get_text_config()):
        return transformers_forward(hf, *given)


def _problem_with(
    model: TreeModel, make: Callable[[], Forward | None], usual: Forward, bound: float
) -> str:
    """Use the forward that `make` makes, if it makes one. Returns why it must not be used, or
    ""."""
    try:
        model.forward = make() or usual
        return _disagreement(model, usual, bound)
    except _BUILT_DIFFERENTLY as problem:
        return " ".join(f"{type(problem).__name__}: {problem}".split())[:200]


def _disagreement(model: TreeModel, usual: Forward, bound: float) -> str:
    """How the logits of the forward in use differ from those of `usual` by more than `bound` of
    their spread; "" where they don't."""
    if model.forward is usual:
        return ""
    plain = model.with_forward(usual)
    if model.graphs:
        return graph_problem(model, plain, bound)
    for found in map(distance, sample_logits(model), sample_logits(plain)):
        if not found <= bound:
            return f"its logits differ by {found:.2g} of their spread, {bound:g} is allowed"
    return ""


def _use(model: TreeModel, plain: Forward, why: str) -> None:
    """Use the plain forward, and say why in `no_fast_forward` and in the log."""
    model.forward = plain
    model.no_fast_forward = why
    _log.warning("%s runs without its faster forward: %s", model.name, why)

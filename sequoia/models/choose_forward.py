"""Chooses a model's forward, which is the function that computes a pass. A faster forward is used
if, on this machine, it gives the same logits as the forward of `transformers`, up to rounding."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from sequoia.models.compare_logits import distance, sample_logits, tolerance
from sequoia.models.cuda_capture import CudaCapture
from sequoia.models.cuda_graphs import Forward, GraphedForward
from sequoia.models.fast_llama import fast_forward
from sequoia.models.graph_check import graph_problem
from sequoia.models.grouped_attention import has_groups, with_grouped_attention
from sequoia.models.tree_forward import TreeModel, transformers_forward

# a faster forward raises these for a model that is built differently from others of its family
_BUILT_DIFFERENTLY = (RuntimeError, AttributeError, TypeError, IndexError)
_log = logging.getLogger(__name__)


def use_fast_forward(model: TreeModel) -> TreeModel:
    """Make `model` use a faster forward if there is one with the same logits as the forward of
    `transformers`, and return `model`. The log says why a faster forward was rejected. If all are
    rejected, `no_fast_forward` says why the last one was.

    The faster forward is FastLlama on a CPU, CUDA graphs on one GPU, and grouped attention for a
    model whose weights are in several places.
    """
    usual = model.forward
    bound = tolerance(model.computes_in)
    why = ""
    for make in _faster_forwards(model):
        if why:
            _log.warning(
                "%s: trying another faster forward; the last was rejected: %s", model.name, why
            )
        why = _problem_with(model, make, usual, bound)
        if not why:
            return model
    if why:
        why = f"CUDA graphs off: {why}" if model.may_use_graphs else why
        _use(model, usual, why)
    return model


def use_no_graphs(model: TreeModel, why: str) -> None:
    """If `model` uses CUDA graphs, make it use the forward of `transformers` from now on. why: the
    reason, for the log and `no_fast_forward`."""
    if model.graphs:
        plain = partial(transformers_forward, model.hf)
        _use(model, plain, f"CUDA graphs off: {why}")


def _faster_forwards(model: TreeModel) -> list[Callable[[], Forward | None]]:
    """Functions that make the faster forwards to try for `model`, the fastest first. Each returns
    None if that forward does not support the model."""
    if model.placement:  # CUDA graphs and FastLlama need all weights in one place
        return [partial(_grouped, model)]
    if not model.may_use_graphs:
        return [partial(fast_forward, model.hf)]
    plain = partial(transformers_forward, model.hf)
    forwards = filter(None, (_grouped(model), plain))
    return [partial(_with_graphs, forward, model.device) for forward in forwards]


def _with_graphs(forward: Forward, device: torch.device) -> GraphedForward:
    return GraphedForward(forward, CudaCapture(device))


def _grouped(model: TreeModel) -> Forward | None:
    """The forward with grouped attention, None if `model` cannot use it (see `has_groups`)."""
    return partial(grouped_forward, model.hf) if has_groups(model.config) else None


def grouped_forward(hf: Any, *given: Any) -> torch.Tensor:
    """`transformers_forward` with grouped attention."""
    with with_grouped_attention(hf.config.get_text_config()):
        return transformers_forward(hf, *given)


def _problem_with(
    model: TreeModel, make: Callable[[], Forward | None], usual: Forward, bound: float
) -> str:
    """Make `model` use the forward from `make`, or `usual` if `make` returns None. Returns
    why that forward must not be used, "" if it may."""
    try:
        model.forward = make() or usual
        return _disagreement(model, usual, bound)
    except _BUILT_DIFFERENTLY as problem:
        return " ".join(f"{type(problem).__name__}: {problem}".split())[:200]


def _disagreement(model: TreeModel, usual: Forward, bound: float) -> str:
    """How the forward in use fails its comparison with `usual`, "" if it passes. bound: the largest
    difference of logits allowed, divided by their standard deviation."""
    if model.forward is usual:
        return ""
    plain = model.with_forward(usual)
    if model.graphs:
        return graph_problem(model, plain, bound)
    for found in map(distance, sample_logits(model), sample_logits(plain)):
        if not found <= bound:
            return (
                f"that forward's logits are off by {found:.2g} standard deviations "
                f"(allowed: {bound:g})"
            )
    return ""


def _use(model: TreeModel, plain: Forward, why: str) -> None:
    """Make `model` use the forward `plain`. why: the reason that a faster one is not used."""
    model.forward = plain
    model.no_fast_forward = why
    _log.warning("%s runs without its faster forward in %s: %s", model.name, model.numbers, why)

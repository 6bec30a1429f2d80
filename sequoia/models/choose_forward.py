"""Chooses the forward of a model, the function that computes a pass: the fastest that passes the
self-test. Passes replayed from CUDA graphs must also equal the same passes without graphs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch

from sequoia.algorithm.tree import Tree
from sequoia.errors import BadModel, OutOfMemory
from sequoia.models.compare_logits import EXACT, SampleText, Walk, distances, is_half
from sequoia.models.cuda_graphs import STEP, CudaCapture, Forward, GraphedForward
from sequoia.models.grouped_attention import grouped_forward
from sequoia.models.native.library import NoLibrary
from sequoia.models.native.native_llama import NativeLlama, native_forward
from sequoia.models.packed_llama import fast_forward, is_llama_like
from sequoia.models.self_test import FASTER, USUAL, Wrong, self_test, tested
from sequoia.models.tree_forward import TreeModel

# makes a faster forward of a model of `transformers`; None if it does not support the model
Make = Callable[[Any], Forward | None]

_log = logging.getLogger(__name__)


def use_fast_forward(model: TreeModel, text: Sequence[int] = ()) -> TreeModel:
    """Make `model` use the fastest forward that passes the self-test, and return `model`. The log
    says why a faster forward was rejected. If all are, `no_fast_forward` says why the last one was.
    Raises BadModel if the forward of `transformers` fails too.

    The faster forward is NativeLlama, or else FastLlama, on a CPU; on one GPU, CUDA graphs of
    FusedLlama (checked in Triton's interpreter, not yet timed on a card), or else of
    `transformers`; and grouped attention for a model whose weights are in several places. If one
    was rejected before the one in use, `not_the_fastest` says why. text: token ids of an ordinary
    text (see SampleText).
    """
    usual = model.forward
    why = ""
    for make in _faster_forwards(model):
        if why:
            _log.warning(
                "%s: trying another faster forward; the last was rejected: %s", model.name, why
            )
        try:
            if _is_used(model, make, SampleText(text, model.vocab)):
                model.not_the_fastest = why
                return model
        except Exception as problem:
            # A model may be built differently from others of its family, or a kernel may not
            # compile. Such errors are of many kinds.
            why = _in_words(problem)
        model.forward = usual
    if why:
        model.no_fast_forward = f"CUDA graphs off: {why}" if model.may_use_graphs else why
        _log.warning(
            "%s runs without its faster forward in %s: %s",
            model.name,
            model.numbers,
            model.no_fast_forward,
        )
    self_test(model, text)
    return model


def use_rounded_weights(draft: TreeModel, of: TreeModel, text: Sequence[int] = ()) -> TreeModel:
    """Make `draft` read the weights of `of` rounded to seven bits, if the forward of `of` is native
    and the rounded one passes the self-test, and return `draft`. of: itself, or the model that it
    is a rounded copy of. text: as in `use_fast_forward`."""
    if not isinstance(of.forward, NativeLlama):
        return draft
    usual = draft.forward
    draft.forward = of.forward.rounded(of.hf)
    try:
        self_test(draft, text)
    except BadModel as problem:
        draft.forward = usual
        draft.not_the_fastest = str(problem)
    return draft


def _in_words(problem: Exception) -> str:
    if isinstance(problem, (NoLibrary, OutOfMemory, Wrong)):
        return str(problem)
    return " ".join(f"{type(problem).__name__}: {problem}".split())[:200]


def _faster_forwards(model: TreeModel) -> Sequence[Make]:
    """The faster forwards to try for `model`, the fastest first."""
    if model.placement:  # CUDA graphs and FastLlama need all weights in one place
        return [grouped_forward]
    if not model.may_use_graphs:
        return [native_forward, fast_forward]
    return [fused_forward, grouped_forward, lambda _: model.forward]


def fused_forward(hf: Any) -> Forward | None:
    """The fused forward of `hf`, or None if `hf` is of a kind that it does not support."""
    if not is_llama_like(hf) or hasattr(hf, "rounding") or hf.dtype == torch.float64:
        return None
    from sequoia.models.fused.fused_llama import FusedLlama  # some systems have no Triton

    return FusedLlama(hf)


def _is_used(model: TreeModel, make: Make, sample: SampleText) -> bool:
    """Make `model` use the forward that `make` returns, on one GPU as CUDA graphs. Returns whether
    there is one. Raises Wrong, among others, if it must not be used."""
    usual = model.forward
    forward = make(model.hf)
    if forward is None:
        return False
    model.forward = forward
    if model.may_use_graphs:
        eager = model.with_forward(GraphedForward(forward, lambda work: work))
        model.forward = GraphedForward(forward, CudaCapture(model.device))
        _test_graphs(model, eager, sample)
    model.tested = tested(model, sample, USUAL if forward is usual else FASTER)
    return True


_TREE = Tree((-1, 0, 0, 1, 1, 2, 5))
# Graphs are captured after the first prefix and replayed after all of them. Each can attend to STEP
# slots (see cuda_graphs.py), so the last two prefixes need new graphs.
_WALKS = tuple(Walk(prefix, _TREE, 6) for prefix in (3, 7, 41, STEP + 3, STEP + 29))
# The largest difference of logits allowed, in their standard deviation, by whether the model has 16
# bits. Usually there is none, because the kernels are the same.
_BOUND = {False: EXACT, True: 0.1}


def _test_graphs(graphed: TreeModel, eager: TreeModel, sample: SampleText) -> None:
    """Raises Wrong if something is wrong with the CUDA graphs of `graphed`. eager: the same model
    with the same kernels and shapes, without a capture."""
    for walk in _WALKS:
        if walk.span <= graphed.limit:
            _test_replays(walk, graphed, eager, sample)
    for one in (graphed, eager):
        one.forget()


def _test_replays(walk: Walk, graphed: TreeModel, eager: TreeModel, sample: SampleText) -> None:
    tokens = walk.tokens(sample.piece(walk.places, 0))
    rows = [walk.logits(one, tokens).double() for one in (graphed, eager)]
    difference = float(distances(*rows).max())
    bound = _BOUND[is_half(graphed.dtype)]
    if not difference <= bound:
        raise Wrong(
            f"after {walk.prefix} tokens, the replay differed by {difference:.2g} standard "
            f"deviations (allowed: {bound:g})"
        )
    graphs = graphed.graphs
    if graphs is None or graphs.failed:
        raise Wrong(f"a pass cannot be captured: {graphs.failed if graphs else ''}")
    if not graphs.count:
        raise Wrong("no memory was left to test CUDA graphs")

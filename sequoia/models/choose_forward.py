"""Chooses a model's forward, which is the function that computes a pass. A faster forward is used
if its logits are as near to those in float32 as the logits of the forward of `transformers`."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch

from sequoia.algorithm.tree import Tree
from sequoia.errors import OutOfMemory
from sequoia.models import cuda_graphs
from sequoia.models.cache_and_mask import whole_tree_layout
from sequoia.models.compare_logits import EXACT, SANE, distances, is_half, wider
from sequoia.models.cuda_capture import CudaCapture
from sequoia.models.cuda_graphs import Forward, GraphedForward
from sequoia.models.fast_llama import fast_forward
from sequoia.models.grouped_attention import has_groups, with_grouped_attention
from sequoia.models.layers import only_first_layers
from sequoia.models.tree_forward import Context, TreeModel, transformers_forward
from sequoia.models.walk import TRIES, SampleText, Walk
from sequoia.this_machine.memory import allocated_bytes, size

# makes a faster forward of a model; None if the model does not support it
Make = Callable[[TreeModel], Forward | None]

FARTHER = 1.25  # how many times farther from float32 a faster forward may be than the usual one
# 64 and more rows of an ordinary text, without its first tokens. These may have far larger
# activations than the others, so rounding decides their logits.
_WALK = Walk(6, Tree.from_branching([4, 1, 1, 1, 1, 1, 1, 1]), 30)
# a faster forward raises these for a model that is built differently from others of its family
_BUILT_DIFFERENTLY = (RuntimeError, AttributeError, TypeError, IndexError)
_log = logging.getLogger(__name__)


def use_fast_forward(model: TreeModel, text: Sequence[int] = ()) -> TreeModel:
    """Make `model` use a faster forward if there is one that is as near to float32 as the forward
    of `transformers`, and return `model`. The log says why a faster forward was rejected. If all
    are rejected, `no_fast_forward` says why the last one was.

    The faster forward is FastLlama on a CPU, CUDA graphs on one GPU, and grouped attention for a
    model whose weights are in several places. text: token ids of an ordinary text (see SampleText).
    """
    usual = model.forward
    sample = SampleText(text, model.vocab)
    why = ""
    for make in _faster_forwards(model):
        if why:
            _log.warning(
                "%s: trying another faster forward; the last was rejected: %s", model.name, why
            )
        why = _problem_with(model, make, usual, sample)
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


def _faster_forwards(model: TreeModel) -> list[Make]:
    """The faster forwards to try for `model`, the fastest first."""
    if model.placement:  # CUDA graphs and FastLlama need all weights in one place
        return [_grouped]
    if not model.may_use_graphs:
        return [lambda one: fast_forward(one.hf, one.dtype)]
    return [*([_grouped] if has_groups(model.config) else []), lambda _: None]


def _grouped(model: TreeModel) -> Forward | None:
    """The forward with grouped attention, None if `model` cannot use it (see `has_groups`)."""
    return partial(grouped_forward, model.hf) if has_groups(model.config) else None


def grouped_forward(hf: Any, *given: Any) -> torch.Tensor:
    """`transformers_forward` with grouped attention."""
    with with_grouped_attention(hf.config.get_text_config()):
        return transformers_forward(hf, *given)


def _problem_with(model: TreeModel, make: Make, usual: Forward, sample: SampleText) -> str:
    """Make `model` use the forward from `make`, or `usual` if `make` returns None; on one GPU, as
    CUDA graphs. Returns why that forward must not be used, "" if it may."""
    try:
        model.forward = make(model) or usual
        why = "" if model.forward is usual else _disagreement(model, make, usual, sample)
        if why or not model.may_use_graphs:
            return why
        eager = model.with_forward(GraphedForward(model.forward, lambda work: work))
        model.forward = GraphedForward(model.forward, CudaCapture(model.device))
        return graph_problem(model, eager)
    except _BUILT_DIFFERENTLY as problem:
        return " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
    except OutOfMemory as problem:
        return str(problem)


def _disagreement(model: TreeModel, make: Make, usual: Forward, sample: SampleText) -> str:
    """How the forward in use fails its comparison, "" if it passes with one of TRIES texts."""
    plain = model.with_forward(usual)
    has_16_bits = is_half(model.dtype) and not model.rounding
    exact = wider(plain) if has_16_bits else plain
    copied = wider(plain, make(exact)) if has_16_bits else model
    why = ""
    with only_first_layers(model.hf) if model.placement else nullcontext():
        for number in range(TRIES):
            tokens = _WALK.tokens(sample.piece(_WALK.places, number))
            expected = _WALK.logits(exact, tokens)
            why = _off(copied, tokens, expected)
            if not why and has_16_bits:
                why = _too_far(model, plain, tokens, expected)
            if not why:
                break
    return why


def _off(fast: TreeModel, tokens: Sequence[int], expected: torch.Tensor) -> str:
    """How the logits of `fast` differ from those `expected`, which have the same precision. "" if
    by rounding only."""
    found = distances(_WALK.logits(fast, tokens), expected)
    off, allowed = (found.median(), SANE) if fast.rounding else (found.max(), EXACT)
    if off <= allowed:
        return ""
    where = "" if fast.rounding else " in float32"
    return (
        f"that forward's logits are off by {off:.2g} standard deviations{where} "
        f"(allowed: {allowed:g})"
    )


def _too_far(
    fast: TreeModel, plain: TreeModel, tokens: Sequence[int], expected: torch.Tensor
) -> str:
    """How much farther from float32 the logits of `fast` are than those of `plain`, "" if not too
    much. expected: the logits in float32."""
    far, usual = (
        float(distances(_WALK.logits(one, tokens), expected).median()) for one in (fast, plain)
    )
    if far <= FARTHER * usual:
        return ""
    return (
        f"that forward's logits are {far:.2g} standard deviations from those in float32, those of "
        f"the usual forward {usual:.2g} (allowed: {FARTHER:g} times as many)"
    )


def _use(model: TreeModel, plain: Forward, why: str) -> None:
    """Make `model` use the forward `plain`. why: the reason that a faster one is not used."""
    model.forward = plain
    model.no_fast_forward = why
    _log.warning("%s runs without its faster forward in %s: %s", model.name, model.numbers, why)


_TREE = Tree((-1, 0, 0, 1, 1, 2, 5))
_PATH = (0, 2, 5, 6)  # from the root to the deepest node
# lengths of prefixes: graphs are captured after the first, and replayed after all of them
_PREFIXES = (3, 7, 41)
# Each of those graphs can attend to STEP slots (see cuda_graphs.py). Two further prefixes are
# longer than STEP by these numbers of tokens, so they need new graphs.
_BEYOND = (3, 29)
# positions that the passes of `_logits` need: two kept paths and one token
_ROOM = 2 * len(_PATH) + 1
_SEED = 1
# The largest difference of logits allowed, in their standard deviation, by whether the model has 16
# bits. Usually there is none, because the kernels are the same.
_BOUND = {False: EXACT, True: 0.1}
# bytes that may stay allocated after the graphs are dropped: the buffer for logits, and workspaces
# that libraries reuse
_MOST_KEPT = 100e6


def graph_problem(graphed: TreeModel, eager: TreeModel) -> str:
    """What is wrong with the CUDA graphs of `graphed`, "" if nothing is. eager: the same model with
    the same kernels and shapes, without a capture."""
    if graphed.limit < _ROOM:
        return (
            f"a test of CUDA graphs needs a context of {_ROOM} tokens; this model's has "
            f"{graphed.limit}"
        )
    before = allocated_bytes(graphed.device)
    found = _difference(graphed, eager)
    for one in (graphed, eager):
        one.forget()
    gc.collect()
    kept = allocated_bytes(graphed.device) - before
    if not found and kept > _MOST_KEPT:
        return f"the CUDA graphs did not free {size(kept)} when they were dropped"
    return found


@torch.inference_mode()
def _difference(graphed: TreeModel, eager: TreeModel) -> str:
    # The capacity of a cache for graphs is rounded up to a multiple of STEP. This one is a multiple
    # already, so both caches have the same size and get the same noise.
    capacity = 2 * cuda_graphs.STEP
    bound = _BOUND[is_half(graphed.dtype)]
    context, other = (model.open(capacity) for model in (graphed, eager))
    for prefix in (*_PREFIXES, *(cuda_graphs.STEP + more for more in _BEYOND)):
        for one in (context, other):
            _set_prefix(one, prefix)
        with graphed.capturing(), eager.capturing():
            pairs = zip(_logits(context), _logits(other), strict=True)
            for number, node, found, expected in _rows(pairs):
                difference = float(distances(found[None], expected[None]).max())
                if not difference <= bound:
                    return (
                        f"after {prefix} tokens, the replay differed by {difference:.2g} standard "
                        f"deviations at node {node} of pass {number} (allowed: {bound:g})"
                    )
        if reason := _unused(graphed, context):
            return reason
    return ""


def _unused(graphed: TreeModel, context: Context) -> str:
    """Why the passes so far did not replay graphs, "" if they did."""
    graphs = graphed.graphs
    if graphs is None or graphs.failed:
        return f"a pass cannot be captured: {graphs.failed if graphs else ''}"
    return "" if graphs.count(context.kv_cache) else "no memory was left to test CUDA graphs"


def _set_prefix(context: Context, prefix: int) -> None:
    """Give `context` a prefix of `prefix` cache slots. The slots contain noise, the same in every
    context: only the length of the prefix matters here."""
    if not context.kv_cache.allocated:
        context.extend([1 % context.model.vocab])
    noise: dict[torch.device, torch.Generator] = {}
    for layer in context.kv_cache.cache_layers:
        for tensor in (layer.keys, layer.values) if layer.is_initialized else ():
            device = tensor.device
            if device not in noise:
                noise[device] = torch.Generator(device).manual_seed(_SEED)
            tensor.normal_(generator=noise[device])
    context.kv_cache.keep([])
    context.kv_cache.length = prefix
    # all positions stay within the model's context, even if the prefix is longer
    context.first = min(prefix, context.model.limit - _ROOM) - prefix


def _logits(context: Context) -> Iterator[torch.Tensor]:
    """The logits (nodes, vocab) of three passes: over a tree, over the same tree with other tokens,
    and over one token. Between the passes, a path of the tree is kept."""
    vocab = context.model.vocab
    layout = whole_tree_layout(context, _TREE)
    for first in (3, 90):
        yield context.forward([(first + i) % vocab for i in range(len(_TREE))], layout).double()
        context.keep(_PATH)
    yield context.extend([7 % vocab])[None].double()


def _rows(
    pairs: Iterator[tuple[torch.Tensor, torch.Tensor]],
) -> Iterator[tuple[int, int, torch.Tensor, torch.Tensor]]:
    """For each node of each pass: the number of the pass, from 1, the number of the node, and its
    logits (vocab,) with and without graphs."""
    for number, (found, expected) in enumerate(pairs, 1):
        for node, rows in enumerate(zip(found, expected, strict=True)):
            yield number, node, *rows

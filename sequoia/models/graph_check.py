"""Compares a model's CUDA graphs with the same work done eagerly. A graph captured after one prefix
must give the right logits after other prefixes too. It must free its memory when it is dropped.

A graph repeats whatever the model's Python code decided during the capture. If the code branches on
the length of the cache, for example, the replay is wrong for other lengths.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import torch

from sequoia.algorithm.tree import Tree
from sequoia.models import cuda_graphs
from sequoia.models.compare_logits import EXACT, distances, is_half
from sequoia.models.tree_forward import Context, TreeModel
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.this_machine.memory import allocated_bytes, size

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

"""When a model is loaded, its CUDA graphs are compared with its plain forward: a graph that was
captured after one prefix must give the same logits after others, and must free its memory.

What a graph may get wrong is whatever the model's code decides once, in Python, and not at every
pass: the length of the cache, for example.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence

import torch

from sequoia.algorithm.tree import Tree
from sequoia.models import cuda_graphs
from sequoia.models.tree_forward import Context, TreeModel
from sequoia.models.tree_mask import whole_tree_layout
from sequoia.this_machine.memory import allocated_bytes, size

_TREE = Tree((-1, 0, 0, 1, 1, 2, 5))
_PATH = (0, 2, 5, 6)  # from the root to its deepest node
# prefixes: graphs are captured after the first, and replayed after all of them
_PREFIXES = (3, 7, 41)
# added to the reach of those graphs: prefixes that need graphs with a longer reach
_BEYOND = (3, 29)
_ROOM = 2 * len(_PATH) + len(_PATH)  # positions that two trees and a token after them take
_SEED = 1
_MOST_KEPT = 100e6  # bytes; workspaces of libraries, which stay allocated for all passes


def graph_problem(graphed: TreeModel, plain: TreeModel, bound: float) -> str:
    """What is wrong with the CUDA graphs of `graphed`, as the end of a sentence; "" if nothing is.
    plain: the same model without graphs. bound: the difference of logits that rounding explains, as
    a share of their spread."""
    if graphed.limit < _ROOM:
        return f"its context of {graphed.limit} tokens is too short to try them"
    before = allocated_bytes(graphed.device)
    found = _difference(graphed, plain, bound)
    graphed.forget()
    gc.collect()
    kept = allocated_bytes(graphed.device) - before
    if not found and kept > _MOST_KEPT:
        return f"they kept {size(kept)} after they were dropped"
    return found


@torch.inference_mode()
def _difference(graphed: TreeModel, plain: TreeModel, bound: float) -> str:
    capacity = 2 * cuda_graphs.STEP  # the rounded size of both caches: the noise depends on it
    context, other = (model.open(capacity) for model in (graphed, plain))
    for prefix in (*_PREFIXES, *(cuda_graphs.STEP + more for more in _BEYOND)):
        for one in (context, other):
            _set_prefix(one, prefix)
        with graphed.capturing():
            pairs = zip(_logits(context), _logits(other), strict=True)
            for node, (found, expected) in _numbered(pairs):
                spread = expected.std().clamp(min=1e-9)
                difference = float((found - expected).abs().max() / spread)
                if not difference <= bound:
                    return (
                        f"replay differed by {difference:.2g} at node {node} after {prefix} tokens "
                        f"({bound:g} of the logits' spread is allowed)"
                    )
        if reason := _unused(graphed, context):
            return reason
    return ""


def _unused(graphed: TreeModel, context: Context) -> str:
    """Why the passes so far were not replays, "" if they were."""
    graphs = graphed.graphs
    if graphs is None or graphs.failed:
        return f"a pass cannot be captured: {graphs.failed if graphs else ''}"
    return "" if graphs.count(context.kv_cache) else "no memory was left to try them"


def _set_prefix(context: Context, prefix: int) -> None:
    """Give `context` a prefix of so many cache slots. The slots hold the same noise in every
    context, as nothing but the length of the prefix matters here."""
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
    # positions that any model has, whatever the number of slots
    context.first = min(prefix, context.model.limit - _ROOM) - prefix


def _logits(context: Context) -> Iterator[torch.Tensor]:
    """The logits (nodes, vocab) of three passes: over a tree, over one with other tokens after a
    path of the first was kept, and over a single token after a path of the second."""
    vocab = context.model.vocab
    layout = whole_tree_layout(context, _TREE)
    for first in (3, 90):
        yield context.forward([(first + i) % vocab for i in range(len(_TREE))], layout).double()
        context.keep(_PATH)
    yield context.extend([7 % vocab])[None].double()


def _numbered(
    pairs: Iterator[tuple[torch.Tensor, torch.Tensor]],
) -> Iterator[tuple[int, Sequence[torch.Tensor]]]:
    """The rows of each pair of logits, with the number of their node."""
    for pair in pairs:
        yield from enumerate(zip(*pair, strict=True))

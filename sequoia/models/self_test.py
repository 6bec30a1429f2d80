"""The self-test of a model when it is loaded: a token tree must give the same logits as the bare
model.

The test runs at the start of a text, and around each length at which something changes according
to the config. There, a few tokens are given positions of that height; no text of that length is
processed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from functools import partial

import torch

from sequoia.errors import BadModel
from sequoia.models import cuda_graphs
from sequoia.models.choose_forward import use_no_graphs
from sequoia.models.compare_logits import (
    INT8_TOLERANCE,
    branched,
    distance,
    is_half,
    own_logits,
    own_logits_from,
    sample_tokens,
    tolerance,
)
from sequoia.models.context_length import UNSTATED, changes_at
from sequoia.models.fast_llama import FastLlama
from sequoia.models.routers import has_router
from sequoia.models.tree_forward import TreeModel, transformers_forward

SECONDS = 5.0  # for all positions but the start; one pass of an offloaded target may take longer
_PASSES_AT_START = 6
_PASSES_ELSEWHERE = 4
# Tokens before a tree; a different number from that at the start, which code may have cached.
_PREFIX = 7
_BRANCH = "its logits for a branch of a tree differ from those for the same tokens in a row"
_ALONE = "its logits for a text with the mask and positions given to it differ from those without"
_IGNORES_MASK = "; it ignores the mask or the positions that a tree needs"
_OVERFLOWS = ", or they overflow in float16: choose float32"
_OWN_POSITIONS = "; it counts positions in its own way, or lets tokens see those that follow"


def self_test(model: TreeModel) -> None:
    """Compare a tree with the same tokens in a row and with the bare model. Raises BadModel if
    the logits differ. CUDA graphs with which they differ are switched off first."""
    try:
        _test(model)
    except BadModel as problem:
        if not model.graphs:
            raise
        use_no_graphs(model, str(problem))
        _test(model)


def _test(model: TreeModel) -> None:
    allowed = _allowed(model)
    start = time.perf_counter()
    worst = _at_the_start(model, allowed)
    each = (time.perf_counter() - start) * _PASSES_ELSEWHERE / _PASSES_AT_START
    tested = []
    for position, found in _around_changes(_exact(model), each):
        tested.append(position)
        words = f"its logits around position {position} differ from those of the bare model"
        worst = max(worst, _checked(model, words, "", found, allowed))
    model.tested = (
        f"a tree of three tokens gives the logits of the same tokens in a row within "
        f"{worst:.2g} of their spread (allowed: {allowed:g}){_where(tested)}"
    )


def _allowed(model: TreeModel) -> float:
    """The difference of logits that rounding explains, as a share of their spread. In half
    precision a router may choose another expert after rounding; a wrong mask or position moves
    logits by their whole spread."""
    allowed = tolerance(model.dtype)
    if model.numbers == "int8" or (is_half(model.dtype) and has_router(model)):
        return INT8_TOLERANCE
    return allowed


def _where(tested: Sequence[int]) -> str:
    """The positions `tested`, as the end of the result's sentence."""
    if not tested:
        return ", at the start; a pass takes too long here to test other positions"
    return f", at the start and around position {' and '.join(f'{one:,}' for one in tested)}"


def _at_the_start(model: TreeModel, allowed: float) -> float:
    """The largest difference between a three-token tree, the same tokens one after the other, and
    those on the bare model, as a share of the logits' spread."""
    tokens = sample_tokens(model)
    text = [*tokens, tokens[0], tokens[2]]
    with model.capturing():
        branch, after = branched(model, tokens)
        straight = model.open(16)
        expected = straight.extend(text).double()
        expected_after = straight.extend(tokens[:1]).double()
    own = own_logits(model, text)  # without our cache, mask and positions
    by_tree = [distance(branch, expected), distance(after, expected_after)]
    worst = _checked(model, _BRANCH, _IGNORES_MASK, by_tree, allowed)
    return max(worst, _checked(model, _ALONE, _OWN_POSITIONS, [distance(expected, own)], allowed))


def _checked(
    model: TreeModel, what: str, why: str, found: Sequence[float], allowed: float
) -> float:
    """The largest of the differences `found`. Raises BadModel if it is more than `allowed`."""
    worst = float(torch.tensor(found).max())  # NaN if any is, which Python's max would lose
    if math.isnan(worst):
        raise BadModel(
            f"{model.name} cannot run a tree: its logits are NaN or infinite, so its weights or "
            f"its config are damaged{_OVERFLOWS if model.dtype == torch.float16 else ''}"
        )
    if not worst <= allowed:
        raise BadModel(
            f"{model.name} cannot run a tree: {what} by {worst:.2g} of their spread; "
            f"the limit is {allowed:g}{why}"
        )
    return worst


def _exact(model: TreeModel) -> TreeModel:
    """`model` with the forward of `transformers` in place of the fast one. The two have been
    compared already, and the fast one would make rotations for all positions up to the highest."""
    if not isinstance(model.forward, FastLlama):
        return model
    return model.with_forward(partial(transformers_forward, model.hf))


def _around_changes(model: TreeModel, seconds: float) -> Iterator[tuple[int, list[float]]]:
    """Each position tested, and the differences there. Stops where the time left is shorter than
    the `seconds` that one position takes."""
    end = time.perf_counter() + SECONDS
    for position, prefix in _positions(model):
        if time.perf_counter() + seconds > end:
            return
        yield position, _around(model, position, prefix)


def _positions(model: TreeModel) -> Iterator[tuple[int, int]]:
    """Positions to test, and how many tokens come before each."""
    last = model.limit - 2 if model.limit < UNSTATED else _PREFIX + 1
    positions = {*changes_at(model.config, model.limit - 1), last}
    for position in sorted(positions):
        if position > 1:
            yield position, min(_PREFIX, position - 1)
    beyond = cuda_graphs.STEP + _PREFIX  # columns: beyond the reach of the first graph
    if model.graphs and beyond + 2 < model.limit:
        yield beyond + 1, beyond


def _around(model: TreeModel, position: int, prefix: int) -> list[float]:
    """Differences from the bare model of a tree whose root is right before `position`, and of the
    token after one of its branches, which is right after it. `prefix` tokens come before."""
    first = position - 1 - prefix
    tokens = sample_tokens(model)
    before = [tokens[i % 3] for i in range(prefix)]
    with model.capturing():
        branch, after = branched(model, tokens, before, first)
    text = [*before, tokens[0], tokens[2], tokens[0]]
    expected = own_logits_from(model, text, first, 2)  # (2, vocab)
    return [distance(branch, expected[0]), distance(after, expected[1])]

"""Tests a model: a token tree must give the same logits as the bare model. The bare model is the
model of `transformers` without our cache and mask.

The test runs at the start of a text. If there is time, it is repeated at higher positions. The
config may contain text lengths beyond which the computation may change: the test runs around each
of them. It also runs near the end of the longest text that the model is used for, if the config
limits that. No long text is processed for this: a few tokens are given high positions.

A CUDA graph attends to a fixed number of cache slots. If the model uses graphs and there is still
time, there is one more test, with a prefix that is too long for the shortest graphs.
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
    branched,
    distance,
    is_half,
    own_logits,
    own_logits_from,
    sample_tokens,
    tolerance,
)
from sequoia.models.context_length import UNSTATED, changes_at, is_stated
from sequoia.models.fast_llama import FastLlama
from sequoia.models.routers import has_router
from sequoia.models.tree_forward import TreeModel, transformers_forward

SECONDS = 5.0  # time limit for all positions except the start
_PASSES_AT_START = 6
_PASSES_ELSEWHERE = 4
# Tokens before the tree in all tests after the first, which has 3. There are fewer at the lowest
# positions, and more in the test of longer CUDA graphs. _PREFIX is not 3, because the model's code
# may have cached something that only fits 3.
_PREFIX = 7
_LOOSE = 0.5  # allowed difference where rounding matters more than usual
_BRANCH = "its logits for a branch of a tree differ from those for the same tokens in a row"
_ALONE = "with explicit mask and positions, its logits change"
_IGNORES_MASK = "; probably it ignores the mask or the positions that a tree needs"
_OVERFLOWS = ", or its activations overflow in float16: choose float32"
_OWN_POSITIONS = (
    "; probably it counts positions in its own way, or lets tokens attend to later ones"
)


def self_test(model: TreeModel) -> None:
    """Compare a tree with the same tokens in a row and with the bare model. Sets `model.tested`, or
    raises BadModel if the logits are NaN or differ by more than rounding explains. If that happens
    while the model uses CUDA graphs, the graphs are switched off and the test is repeated without
    them."""
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
    seconds = (time.perf_counter() - start) * _PASSES_ELSEWHERE / _PASSES_AT_START
    tested = []
    for position, found in _around_changes(_exact(model), seconds):
        tested.append(position)
        words = f"its logits around position {position} differ from those of transformers alone"
        worst = max(worst, _checked(model, words, "", found, allowed))
    model.tested = (
        f"a tree of three tokens gives the same logits as these tokens in a row, to within "
        f"{worst:.2g} standard deviations (allowed: {allowed:g}){_where(tested)}"
    )


def _allowed(model: TreeModel) -> float:
    """The largest difference of logits that rounding can explain, divided by their standard
    deviation. It is larger for rounded weights, whose products depend on the number of rows. It is
    also larger for mixtures of experts in half precision, because rounding may select another
    expert. A wrong mask or position would change logits by about one standard deviation."""
    if model.rounding or (is_half(model.dtype) and has_router(model)):
        return _LOOSE
    return tolerance(model.dtype)


def _where(tested: Sequence[int]) -> str:
    """Where the model was tested, as the end of a sentence."""
    if not tested:
        return ", at the start; a pass takes too long here to test other positions"
    positions = "position" if len(tested) == 1 else "positions"
    return f", at the start and around {positions} {' and '.join(f'{one:,}' for one in tested)}"


def _at_the_start(model: TreeModel, allowed: float) -> float:
    """Compare a tree of three tokens with the same tokens in a row, and these with the bare model.
    Returns the largest difference of logits, divided by their standard deviation. Raises BadModel
    if a difference is NaN or more than `allowed`."""
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
    """The largest of the differences `found`. Raises BadModel if it is more than `allowed` or NaN.
    For the message: `what` says which logits differ from which, and `why` is the probable cause."""
    worst = float(torch.tensor(found).max())  # NaN if any is NaN; Python's max may ignore a NaN
    if math.isnan(worst):
        raise BadModel(
            f"{model.name} cannot run a tree: its logits are NaN or infinite, so its weights or "
            f"its config are damaged{_OVERFLOWS if model.dtype == torch.float16 else ''}"
        )
    if not worst <= allowed:
        raise BadModel(
            f"{model.name} cannot run a tree: {what} by {worst:.2g} standard deviations; "
            f"the limit is {allowed:g}{why}"
        )
    return worst


def _exact(model: TreeModel) -> TreeModel:
    """`model`, with the forward of `transformers` in place of FastLlama. FastLlama has a table of
    rotary positions that grows with the number of cache slots in use. The tests use few slots, so
    the table may lack high positions."""
    if not isinstance(model.forward, FastLlama):
        return model
    return model.with_forward(partial(transformers_forward, model.hf))


def _around_changes(model: TreeModel, seconds: float) -> Iterator[tuple[int, list[float]]]:
    """Test one position after the other, and yield each with its differences of logits. Stops when
    there is no time for another. seconds: the expected time for one position."""
    end = time.perf_counter() + SECONDS
    for position, prefix in _positions(model):
        if time.perf_counter() + seconds > end:
            return
        yield position, _around(model, position, prefix)


def _positions(model: TreeModel) -> Iterator[tuple[int, int]]:
    """Positions to test, each with the number of tokens before the tree, as for `_around`. If the
    config does not limit the length of a text, a low position replaces the one near the end."""
    has_end = model.limit < UNSTATED or is_stated(model.config)
    last = model.limit - 2 if has_end else _PREFIX + 1
    positions = {*changes_at(model.config, model.limit - 1), last}
    for position in sorted(positions):
        if position > 1:
            yield position, min(_PREFIX, position - 1)
    beyond = cuda_graphs.STEP + _PREFIX  # tokens; too many for the shortest graphs
    if model.graphs and beyond + 2 < model.limit:
        yield beyond + 1, beyond


def _around(model: TreeModel, position: int, prefix: int) -> list[float]:
    """Differences of logits from the bare model, at a child of the root and at the token after it.
    The child is at `position`. There are `prefix` tokens before the root."""
    first = position - 1 - prefix
    tokens = sample_tokens(model)
    before = [tokens[i % 3] for i in range(prefix)]
    with model.capturing():
        branch, after = branched(model, tokens, before, first)
    text = [*before, tokens[0], tokens[2], tokens[0]]
    expected = own_logits_from(model, text, first, 2)  # (2, vocab)
    return [distance(branch, expected[0]), distance(after, expected[1])]

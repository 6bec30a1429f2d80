"""Tests a model when it is loaded: a token tree must give the same logits as the bare model, which
is the model of `transformers` without our cache and mask.

The test runs at the start of a text, and around each text length at which the computation may
change according to the config. For those lengths a few tokens are given such high positions; no
text of that length is processed.
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

# limit for all positions except the start; one pass of an offloaded target may take longer
SECONDS = 5.0
_PASSES_AT_START = 6
_PASSES_ELSEWHERE = 4
# Tokens before a tree. Not three, as in the test at the start, because a model's code may have
# cached something for that length.
_PREFIX = 7
_BRANCH = "its logits for a branch of a tree differ from those for the same tokens in a row"
_ALONE = "its logits for a text with an explicit mask and positions differ from those without"
_IGNORES_MASK = "; it ignores the mask or the positions that a tree needs"
_OVERFLOWS = ", or they overflow in float16: choose float32"
_OWN_POSITIONS = "; it counts positions in its own way, or lets tokens attend to later ones"


def self_test(model: TreeModel) -> None:
    """Compare a tree with the same tokens in a row and with the bare model. Sets `model.tested`, or
    raises BadModel if the logits differ. If they differ while the model uses CUDA graphs, the
    graphs are switched off and the test is repeated."""
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
        f"a tree of three tokens gives the same logits as these tokens in a row, to within "
        f"{worst:.2g} of their spread (allowed: {allowed:g}){_where(tested)}"
    )


def _allowed(model: TreeModel) -> float:
    """The largest difference of logits that rounding explains, divided by their standard deviation.
    It is larger for int8 and for routers in half precision, where rounding may select another
    expert. A wrong mask or position would change logits by about one standard deviation."""
    allowed = tolerance(model.dtype)
    if model.numbers == "int8" or (is_half(model.dtype) and has_router(model)):
        return INT8_TOLERANCE
    return allowed


def _where(tested: Sequence[int]) -> str:
    """The positions `tested` besides the start, as the end of a sentence."""
    if not tested:
        return ", at the start; a pass takes too long here to test other positions"
    return f", at the start and around position {' and '.join(f'{one:,}' for one in tested)}"


def _at_the_start(model: TreeModel, allowed: float) -> float:
    """Compare three computations of the same logits: with a tree of three tokens, with the tokens
    in a row, and with the bare model. Returns the largest difference, divided by the logits'
    standard deviation. Raises BadModel if it is more than `allowed`."""
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
    """The largest of the differences `found`. Raises BadModel if it is more than `allowed`; the
    message contains the words `what`, which say which logits differ, and ends with the probable
    cause, `why`."""
    worst = float(torch.tensor(found).max())  # NaN if any is NaN; Python's max may ignore a NaN
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
    """`model` with the forward of `transformers` instead of the fast one, for high positions. The
    fast forward would build a table of rotations up to the highest position, and the two forwards
    have already been compared."""
    if not isinstance(model.forward, FastLlama):
        return model
    return model.with_forward(partial(transformers_forward, model.hf))


def _around_changes(model: TreeModel, seconds: float) -> Iterator[tuple[int, list[float]]]:
    """Each tested position with the differences of logits there. Stops when the time left is less
    than `seconds`, the expected time for one position."""
    end = time.perf_counter() + SECONDS
    for position, prefix in _positions(model):
        if time.perf_counter() + seconds > end:
            return
        yield position, _around(model, position, prefix)


def _positions(model: TreeModel) -> Iterator[tuple[int, int]]:
    """Positions to test, each with the number of tokens before it."""
    last = model.limit - 2 if model.limit < UNSTATED else _PREFIX + 1
    positions = {*changes_at(model.config, model.limit - 1), last}
    for position in sorted(positions):
        if position > 1:
            yield position, min(_PREFIX, position - 1)
    beyond = cuda_graphs.STEP + _PREFIX  # slots; more than the reach of the first graph
    if model.graphs and beyond + 2 < model.limit:
        yield beyond + 1, beyond


def _around(model: TreeModel, position: int, prefix: int) -> list[float]:
    """Differences from the bare model at a node at `position`, and at the next token after that
    node's branch was kept. The tree's root is right before `position`, after `prefix` tokens."""
    first = position - 1 - prefix
    tokens = sample_tokens(model)
    before = [tokens[i % 3] for i in range(prefix)]
    with model.capturing():
        branch, after = branched(model, tokens, before, first)
    text = [*before, tokens[0], tokens[2], tokens[0]]
    expected = own_logits_from(model, text, first, 2)  # (2, vocab)
    return [distance(branch, expected[0]), distance(after, expected[1])]

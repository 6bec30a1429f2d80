"""The trial of a model when it is loaded: a token tree must give the logits that the model alone
gives.

Tried at the start of a text, and around each length at which the config says that something
changes. A few rows stand at high positions there: nothing that long is read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial

import torch

from sequoia.errors import BadModel
from sequoia.models import cuda_graphs
from sequoia.models.context_length import UNSTATED, changes_at
from sequoia.models.fast_llama import FastLlama
from sequoia.models.layer_configs import layer_configs
from sequoia.models.tree_forward import (
    INT8_TOLERANCE,
    TreeModel,
    branched,
    distance,
    own_logits,
    own_logits_from,
    tolerance,
    transformers_forward,
)

SECONDS = 5.0  # for all places but the start; a pass of a streamed target can take longer than that
_PASSES_AT_START = 6
_PASSES_ELSEWHERE = 4
_PREFIX = (
    7  # tokens before a tree: not as many as at the start, a number that code could hold on to
)
_TOKENS = (1, 2, 3)
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_BRANCH = "its logits for a branch of a tree differ from those for the same tokens in a row"
_ALONE = "its logits for a text with the mask and positions given to it differ from those without"
_HEEDLESS = "; it does not go by the mask and the positions that a tree needs"
_OTHERWISE = "; it counts positions in its own way, or lets tokens see those that follow"


def self_test(model: TreeModel) -> None:
    """Compare trees with tokens in a row and with the bare model; BadModel where logits differ."""
    allowed = _allowed(model)
    start = time.perf_counter()
    worst = _at_the_start(model, allowed)
    each = (time.perf_counter() - start) * _PASSES_ELSEWHERE / _PASSES_AT_START
    tried = []
    for position, found in _around_changes(_exact(model), each):
        tried.append(position)
        words = f"its logits around position {position} differ from those of the model alone"
        worst = max(worst, _checked(model, words, "", found, allowed))
    model.tested = (
        f"a tree of three tokens gives the logits of the same tokens in a row within "
        f"{worst:.2g} of their spread (allowed: {allowed:g}){_where(tried)}"
    )


def _allowed(model: TreeModel) -> float:
    """The difference of logits that rounding explains, as a share of their spread. In half
    precision a router may round to another expert; a wrong mask or position moves logits by their
    whole spread."""
    allowed = tolerance(model.dtype)
    half_with_experts = allowed > tolerance(torch.float32) and _experts(model)
    return INT8_TOLERANCE if model.numbers == "int8" or half_with_experts else allowed


def _experts(model: TreeModel) -> bool:
    """Whether a router chooses between experts."""
    return any(
        getattr(layer, name, None) for layer in layer_configs(model.config) for name in _EXPERTS
    )


def _where(tried: Sequence[int]) -> str:
    """What is added to the result for the positions `tried`."""
    if not tried:
        return ", at the start; a pass takes too long here to try other positions"
    return f", at the start and around position {' and '.join(f'{one:,}' for one in tried)}"


def _at_the_start(model: TreeModel, allowed: float) -> float:
    """The largest difference of a three-token tree, the same tokens one after the other, and those
    on the bare model, as a share of the logits' spread."""
    tokens = [token % model.vocab for token in _TOKENS]
    text = [*tokens, tokens[0], tokens[2]]
    with model.capturing():
        branch, after = branched(model, tokens)
        straight = model.open(16)
        expected = straight.extend(text).double()
        expected_after = straight.extend(tokens[:1]).double()
    own = own_logits(model, text)  # without our cache, mask and positions
    by_tree = [distance(branch, expected), distance(after, expected_after)]
    worst = _checked(model, _BRANCH, _HEEDLESS, by_tree, allowed)
    return max(worst, _checked(model, _ALONE, _OTHERWISE, [distance(expected, own)], allowed))


def _checked(
    model: TreeModel, what: str, why: str, found: Sequence[float], allowed: float
) -> float:
    """The largest of the differences `found`; BadModel where it is more than `allowed`."""
    worst = float(torch.tensor(found).max())  # NaN if any is, which Python's max would lose
    if math.isnan(worst):
        raise BadModel(
            f"{model.name} cannot run a tree: its logits are NaN or infinite, so its weights or "
            "its config are damaged"
        )
    if not worst <= allowed:
        raise BadModel(
            f"{model.name} cannot run a tree: {what} by {worst:.2g} of their spread; "
            f"allowed is {allowed:g}{why}"
        )
    return worst


def _exact(model: TreeModel) -> TreeModel:
    """`model` with the forward of `transformers` where it has a lean one: that one is compared with
    it already, and lays out rotations for all positions up to the highest."""
    if not isinstance(model.run, FastLlama):
        return model
    other = copy(model)
    other.run = partial(transformers_forward, model.hf)
    return other


def _around_changes(model: TreeModel, seconds: float) -> Iterator[tuple[int, list[float]]]:
    """Each position tried, and the differences there. Leaves out those for which there is no time,
    where each takes about so many `seconds`."""
    end = time.perf_counter() + SECONDS
    for position, prefix in _places(model):
        if time.perf_counter() + seconds > end:
            return
        yield position, _around(model, position, prefix)


def _places(model: TreeModel) -> Iterator[tuple[int, int]]:
    """Positions to try, and how many tokens are read before each."""
    last = model.limit - 2 if model.limit < UNSTATED else _PREFIX + 1
    positions = {*changes_at(model.config, model.limit - 1), last}
    for position in sorted(positions):
        if position > 1:
            yield position, min(_PREFIX, position - 1)
    beyond = cuda_graphs.STEP + _PREFIX  # columns: the first recording does not reach so far
    if isinstance(model.run, cuda_graphs.GraphedForward) and beyond + 2 < model.limit:
        yield beyond + 1, beyond


def _around(model: TreeModel, position: int, prefix: int) -> list[float]:
    """Differences to the bare model of a tree whose root stands right before `position`, and of the
    token after one of its branches, which stands right after it. `prefix` tokens come before."""
    first = position - 1 - prefix
    tokens = [token % model.vocab for token in _TOKENS]
    before = [tokens[i % 3] for i in range(prefix)]
    with model.capturing():
        branch, after = branched(model, tokens, before, first)
    text = [*before, tokens[0], tokens[2], tokens[0]]
    expected = own_logits_from(model, text, first, 2)  # (2, vocab)
    return [distance(branch, expected[0]), distance(after, expected[1])]

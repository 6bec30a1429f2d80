"""Tests a model: a token tree must give the logits of the bare model, which is the model of
`transformers` without our cache, mask and positions.

In 16 bits, two correct passes can differ by as much as a correct one and a wrong one: real models
have activations of many thousands, beside which the rounding of 16 bits is large. So three things
are tested that do not depend on the size of rounding errors:

- who sees whom, in the dtype in use. One token at a time is changed. The rows of logits that must
  not depend on it keep all their bits, and all others change.
- the logits in float32, whatever the dtype of the weights; of a large model, only with its first
  layers.
- in 16 bits, how far the logits are from those in float32: about as far as the bare model's.

The logits in float32 are also compared at higher positions, if there is time. The config may
contain text lengths beyond which the computation may change: the test runs around each of them, and
near the end of the longest text that the model is used for, if the config limits that. No long text
is processed for this: a few tokens are given high positions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from sequoia.algorithm.tree import Tree
from sequoia.errors import BadModel
from sequoia.models.choose_forward import use_no_graphs
from sequoia.models.compare_logits import EXACT, SANE, distances, is_half, own_logits, wider
from sequoia.models.context_length import UNSTATED, changes_at, is_stated
from sequoia.models.cuda_graphs import Forward
from sequoia.models.fast_llama import FastLlama
from sequoia.models.layers import only_first_layers
from sequoia.models.tree_forward import TreeModel, transformers_forward
from sequoia.models.walk import TRIES, SampleText, Walk, WalkedText
from sequoia.this_machine.memory import is_out_of_memory

# Time limit in seconds of this thread, which other work on the machine does not change:
SECONDS = 5.0  # for changing tokens, and for all positions except the start
# Largest change of a row that must not change, if passes are not repeatable, or if a router
# (mixture of experts) chooses for all rows together.
_UNSTEADY = 0.5
_FARTHER = 3.0  # how many times farther from float32 a tree's logits may be than the bare model's
_WALK = Walk(4, Tree((-1, 0, 0, 1, 1, 2)), 5)
# the places whose tokens are changed even if passes are slow: a node of the tree that is not kept,
# and the first token of the prefix
_FIRST_PLACES = (_WALK.starts[1] + 1, 0)
_WHY = (
    "; probably it ignores the mask or the positions that a tree needs, or lets tokens attend to "
    "later ones"
)
_OVERFLOWS = ", or its activations overflow in float16: choose float32"
_Pairs = set[tuple[int, int]]  # (row of logits, place of a token)


def self_test(model: TreeModel, text: Sequence[int] = ()) -> None:
    """Test `model`. Sets `model.tested`, or raises BadModel. If the test fails while the model uses
    CUDA graphs, the graphs are switched off and the test is repeated without them. text: token ids
    of an ordinary text (see SampleText)."""
    sample = SampleText(text, model.vocab)
    try:
        model.tested = _tested(model, sample)
    except BadModel as problem:
        if not model.graphs:
            raise
        use_no_graphs(model, str(problem))
        model.tested = _tested(model, sample)


def _tested(model: TreeModel, sample: SampleText) -> str:
    """The result in words. Raises BadModel."""
    changed = _test_who_sees_whom(model, sample)
    words = f"{changed} tokens of a tree were changed, and exactly the logits that depend on them"
    if model.rounding:
        return f"{words} changed; {_roughly(model, sample)}"
    try:
        with only_first_layers(model.hf) if is_half(model.dtype) else nullcontext(0) as left_out:
            return f"{words} changed; {_in_float32(model, sample, left_out)}"
    except RuntimeError as problem:
        if not is_out_of_memory(problem):
            raise
        return f"{words} changed; there was no memory to compare them in float32"


def _where(tested: Sequence[int]) -> str:
    """Where the model was tested, as the end of a sentence."""
    if not tested:
        return ", at the start of a text"
    positions = "position" if len(tested) == 1 else "positions"
    return f", at the start and around {positions} {' and '.join(f'{one:,}' for one in tested)}"


# -- who sees whom ---------------------------------------------------------------------------------


def _test_who_sees_whom(model: TreeModel, sample: SampleText) -> int:
    """Returns the number of tokens that were changed. Raises BadModel if the same rows are wrong
    with each of TRIES texts. One text is not enough, because a change can be lost in rounding."""
    places = (*_FIRST_PLACES, *(set(range(_WALK.places)) - {*_FIRST_PLACES}))
    changed = 0
    wrong: _Pairs = set()
    for number in range(TRIES):
        tokens = _WALK.tokens(sample.piece(_WALK.places, number))
        walked = WalkedText(_WALK, model, tokens)
        _finite(model, walked.rows)
        seconds = math.inf if wrong else SECONDS
        changes = dict(_changes(model, walked, sample.others(tokens), places, seconds))
        found = _wrong(changes, _allowed(model, walked, changes))
        wrong = wrong & found if number else found
        changed = max(changed, len(changes))
        if not wrong:
            return changed
        places = tuple({place for _, place in wrong})
    row, place = min(wrong)
    depends = "do not depend" if place in _WALK.paths[row] else "depend"
    must = "must" if place in _WALK.paths[row] else "must not"
    raise BadModel(
        f"{model.name} cannot run a tree: its logits in row {row} {depends} on token {place}, "
        f"which that row {must} see{_WHY}"
    )


def _changes(
    model: TreeModel,
    walked: WalkedText,
    others: Sequence[int],
    places: Iterable[int],
    seconds: float,
) -> Iterator[tuple[int, torch.Tensor]]:
    """Changes the token at one place after the other to that of `others`, and yields the place with
    the change of each row (rows,). Stops after `seconds`, but not before the first places."""
    end = time.thread_time() + seconds
    for place in places:
        if place not in _FIRST_PLACES and time.thread_time() > end:
            return
        rows = walked.changed(place, others[place])
        _finite(model, rows)
        yield place, distances(rows, walked.rows).amax(-1)


def _allowed(model: TreeModel, walked: WalkedText, changes: dict[int, torch.Tensor]) -> float:
    """The largest change of a row that must not change."""
    if not _wrong(changes, 0.0) - _wrong(changes, _UNSTEADY):
        return 0.0
    is_steady = torch.equal(walked.again(), walked.rows)
    return 0.0 if is_steady and not has_router(model) else _UNSTEADY


def _wrong(changes: dict[int, torch.Tensor], allowed: float) -> _Pairs:
    """The rows that change with a token which they must not see, and those that do not change with
    one which they must see."""
    return {
        (row, place)
        for place, rows in changes.items()
        for row, change in enumerate(rows.tolist())
        if (change == 0 if place in _WALK.paths[row] else change > allowed)
    }


# -- compared with float32 -------------------------------------------------------------------------


def _in_float32(model: TreeModel, sample: SampleText, left_out: int) -> str:
    """The result of all comparisons in float32, in words. left_out: the number of layers that
    `model` does not have at present. Raises BadModel."""
    exact = wider(model, _in_use(model)) if is_half(model.dtype) else model
    start = time.thread_time()
    worst = _at_the_start(model, exact, sample, left_out)
    seconds = time.thread_time() - start
    tested = []
    for position, found in _around_changes(exact, sample, seconds):
        what = f"its logits around position {position} differ from those of transformers alone"
        _check(model, what, found)
        worst = max(worst, found)
        tested.append(position)
    some = f" without the last {left_out} layers" if left_out else ""
    return (
        f"in float32, the logits{some} equal those of transformers alone to within {worst:.2g} "
        f"standard deviations (allowed: {EXACT:g}){_where(tested)}"
    )


def _in_use(model: TreeModel) -> Forward | None:
    """The forward in use, or the one that its CUDA graphs repeat. None for FastLlama, which cannot
    compute in float32 with the weights that it has."""
    forward = model.graphs.plain if model.graphs else model.forward
    return None if isinstance(forward, FastLlama) else forward


def _roughly(model: TreeModel, sample: SampleText) -> str:
    """The result, in words, of comparing a rounded copy's logits for a tree with those of its bare
    model: a sanity check. Raises BadModel."""
    tokens = _WALK.tokens(sample.piece(_WALK.places, 0))
    rows = [_finite(model, one(model, tokens)) for one in (_WALK.logits, _WALK.bare_logits)]
    far = float(distances(*rows).median())
    _check(model, "its logits differ from those of transformers alone", far, SANE)
    return (
        f"half of the logits are within {far:.2g} standard deviations of those of transformers "
        f"alone (allowed: {SANE:g})"
    )


def _at_the_start(model: TreeModel, exact: TreeModel, sample: SampleText, left_out: int) -> float:
    """Compare the logits of `exact` for a tree with those of the bare model. If `model` has 16
    bits, compare its logits with those in float32 too. Returns the largest difference in float32.
    Raises BadModel if each of TRIES texts shows a fault."""
    worst = farther = 0.0
    for number in range(TRIES):
        tokens = _WALK.tokens(sample.piece(_WALK.places, number))
        expected = _finite(model, _WALK.bare_logits(exact, tokens))
        worst = float(distances(_finite(model, _WALK.logits(exact, tokens)), expected).max())
        if exact is not model and not left_out:
            rows = (_WALK.logits(model, tokens), _WALK.bare_logits(model, tokens))
            far, bare = (distances(_finite(model, one), expected).median() for one in rows)
            farther = float(far / bare.clamp(min=1e-9))
        if worst <= EXACT and farther <= _FARTHER:
            return worst
    _check(model, "its logits in float32 differ from those of transformers alone", worst)
    raise BadModel(
        f"{model.name} cannot run a tree: its logits are {farther:.2g} times as far from those in "
        f"float32 as those of transformers alone; the limit is {_FARTHER:g}{_WHY}"
    )


def _check(model: TreeModel, what: str, found: float, allowed: float = EXACT) -> None:
    """Raises BadModel if the distance `found` is too large. what: which logits differ from which,
    for the message."""
    if not found <= allowed:
        raise BadModel(
            f"{model.name} cannot run a tree: {what} by {found:.2g} standard deviations; "
            f"the limit is {allowed:g}{_WHY}"
        )


def _finite(model: TreeModel, logits: torch.Tensor) -> torch.Tensor:
    """`logits` (rows, vocab). Raises BadModel if one is NaN or infinite, except -infinity for a
    token that all rows rule out."""
    if logits[:, ~(logits == -torch.inf).all(0)].isfinite().all():
        return logits
    raise BadModel(
        f"{model.name} cannot run a tree: its logits are NaN or infinite, so its weights or "
        f"its config are damaged{_OVERFLOWS if model.dtype == torch.float16 else ''}"
    )


def _around_changes(
    model: TreeModel, sample: SampleText, seconds: float
) -> Iterator[tuple[int, float]]:
    """Test one position after the other, and yield each with the largest difference of logits from
    those of the bare model. Stops when there is no time for another. seconds: the expected time for
    one position.

    FastLlama is not used here. It has a table of rotary positions that grows with the number of
    cache slots in use. The tests use few slots, so the table may lack high positions."""
    usual = model
    if isinstance(model.forward, FastLlama):
        usual = model.with_forward(partial(transformers_forward, model.hf))
    tokens = _WALK.tokens(sample.piece(_WALK.places, 0))
    end = time.thread_time() + SECONDS
    for position in _positions(model):
        if time.thread_time() + seconds > end:
            return
        first = min(position - _WALK.starts[1], model.limit - _WALK.span)
        rows = (_WALK.logits(usual, tokens, first), _WALK.bare_logits(usual, tokens, first))
        yield position, float(distances(*rows).max())


def _positions(model: TreeModel) -> list[int]:
    """Positions to test: the first that the prefix does not reach, and the tree does. Lower ones
    are in the test at the start of a text."""
    positions = {*changes_at(model.config, model.limit - 1)}
    if model.limit < UNSTATED or is_stated(model.config):
        positions.add(model.limit - 2)
    return sorted(one for one in positions if one > _WALK.span)


# integers that these return are converted numbers, not choices
_CONVERSIONS = ("aten::_to_copy", "aten::to", "aten::copy_")


def has_router(model: TreeModel) -> bool:
    """Whether `model` selects experts, or anything else, by comparing activations. Then a rounding
    error can change what is selected, which can change the output a lot. Runs one pass over three
    tokens."""
    with _Choices() as choices:
        own_logits(model, SampleText((), model.vocab).piece(3, 0))
    return choices.made


class _Choices(TorchDispatchMode):
    """Watches for integers that are computed from floating-point numbers and then used, such as the
    indices from `topk`, `argmax` or `sort`. made: whether there were any."""

    def __init__(self) -> None:
        super().__init__()
        self.made = False
        # kept alive, because tensors are recognised by identity
        self._picked: list[torch.Tensor] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = _tensors((args, kwargs))
        self.made |= any(one is other for one in given for other in self._picked)
        result = func(*args, **(kwargs or {}))
        if func._schema.name not in _CONVERSIONS and any(map(torch.is_floating_point, given)):
            self._picked += [one for one in _tensors(result) if one.dtype == torch.long]
        return result


def _tensors(values: Any) -> list[torch.Tensor]:
    return [one for one in tree_leaves(values) if isinstance(one, torch.Tensor)]

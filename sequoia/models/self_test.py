"""Tests the forward that a model uses: a tree must give the logits of the bare model, which is the
model of `transformers` without our cache, mask and positions.

In 16 bits, two correct passes can differ by as much as a correct one and a wrong one: real models
have activations of many thousands, beside which the rounding of 16 bits is large. So three things
are tested that do not depend on the size of rounding errors:

- who sees whom, in the dtype in use. One token at a time is changed. The rows of logits that must
  not depend on it keep all their bits, and all others change.
- the logits in float32, whatever the dtype of the weights; of a large model, only with its first
  layers.
- in 16 bits, how far the logits are from those in float32: about as far as the bare model's.

The same test decides whether a faster forward is used (see choose_forward.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext

import torch

from sequoia.algorithm.tree import Tree
from sequoia.errors import BadModel
from sequoia.models.compare_logits import (
    EXACT,
    SANE,
    TRIES,
    SampleText,
    Walk,
    WalkedText,
    distances,
    is_half,
    wider,
)
from sequoia.models.cuda_graphs import Forward
from sequoia.models.layers import only_first_layers
from sequoia.models.packed_llama import PackedLlama
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.memory import is_out_of_memory

# Time limit in seconds of this thread, which other work on the machine does not change:
SECONDS = 5.0  # for changing tokens
# Largest change of a row that must not change, if passes are not repeatable, or if a router
# (mixture of experts) chooses for all rows together.
_UNSTEADY = 0.5
USUAL = 3.0  # how many times farther from float32 a tree's logits may be than the bare model's
FASTER = 1.25  # the same if a faster forward computes them, which could be left unused
_WALK = Walk(4, Tree((-1, 0, 0, 1, 1, 2)), 5)
# More than 64 rows of an ordinary text, without its first four tokens. These may have far larger
# activations than the others, so rounding decides their logits.
_LONG_WALK = Walk(5, Tree.from_branching([4, 1, 1, 1, 1, 1, 1, 1]), 30)
# the places whose tokens are changed even if passes are slow: a node of the tree that is not kept,
# and the first token of the prefix
_FIRST_PLACES = (_WALK.starts[1] + 1, 0)
_WHY = (
    "; probably it ignores the mask or the positions that a tree needs, or lets tokens attend to "
    "later ones"
)
_BARE = "transformers alone"
_OVERFLOWS = ", or its activations overflow in float16: choose float32"
_Pairs = set[tuple[int, int]]  # (row of logits, place of a token)


class Wrong(Exception):
    """A forward fails the test. The message says how; `likely` is the usual reason, in words."""

    def __init__(self, how: str, likely: str = _WHY) -> None:
        super().__init__(how)
        self.likely = likely


def self_test(model: TreeModel, text: Sequence[int] = ()) -> None:
    """Test `model` with the forward that it uses. Sets `model.tested`, or raises BadModel. text:
    token ids of an ordinary text (see SampleText)."""
    try:
        model.tested = tested(model, SampleText(text, model.vocab), USUAL)
    except Wrong as problem:
        raise BadModel(f"{model.name} cannot run a tree: {problem}{problem.likely}") from None


def tested(model: TreeModel, sample: SampleText, farther: float) -> str:
    """The result of the test in words. Raises Wrong. farther: how many times farther from float32
    the logits may be than those of the bare model. Without memory for that comparison, the usual
    forward passes, and a faster one raises the error of torch."""
    changed = _test_who_sees_whom(model, sample)
    words = f"{changed} tokens of a tree were changed, and exactly the logits that depend on them"
    if model.rounding or getattr(model.forward, "is_rounded", False):
        return f"{words} changed; {_roughly(model, sample)}"
    try:
        with only_first_layers(model.hf) if is_half(model.dtype) else nullcontext(0) as left_out:
            return f"{words} changed; {_in_float32(model, sample, farther, left_out)}"
    except RuntimeError as problem:
        if farther != USUAL or not is_out_of_memory(problem):
            raise
        return f"{words} changed; there was no memory to compare them in float32"


# -- who sees whom ---------------------------------------------------------------------------------


def _test_who_sees_whom(model: TreeModel, sample: SampleText) -> int:
    """Returns the number of tokens that were changed. Raises Wrong if the same rows are wrong with
    each of TRIES texts. One text is not enough, because a change can be lost in rounding."""
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
    raise Wrong(f"its logits in row {row} {depends} on token {place}, which that row {must} see")


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


def _in_float32(model: TreeModel, sample: SampleText, farther: float, left_out: int) -> str:
    """The result of all comparisons in float32, in words. left_out: the number of layers that
    `model` does not have at present. Raises Wrong."""
    near = model.with_forward(_in_use(model, model.dtype)) if left_out else model
    exact = wider(model, _in_use(model, torch.float32)) if is_half(model.dtype) else model
    worst = _farthest(near, exact, sample, farther)
    some = f" without the last {left_out} layers" if left_out else ""
    return (
        f"in float32, the logits{some} equal those of {_BARE} to within {worst:.2g} standard "
        f"deviations (allowed: {EXACT:g})"
    )


def _in_use(model: TreeModel, dtype: torch.dtype) -> Forward:
    """The forward in use, or the one that its CUDA graphs repeat, with the layers that `model` has
    at present. dtype: of the weights of a PackedLlama, which has copies of them."""
    forward = model.graphs.plain if model.graphs else model.forward
    return forward.again(model.hf, dtype) if isinstance(forward, PackedLlama) else forward


def _roughly(model: TreeModel, sample: SampleText) -> str:
    """The result, in words, of comparing a rounded model's logits for a tree with those of its bare
    model: a sanity check. Raises Wrong."""
    walk = _longest_walk(model)
    tokens = walk.tokens(sample.piece(walk.places, 0))
    rows = [_finite(model, one(model, tokens)) for one in (walk.logits, walk.bare_logits)]
    far = float(distances(*rows).median())
    _check(f"its logits differ from those of {_BARE}", far, SANE)
    return (
        f"half of the logits are within {far:.2g} standard deviations of those of {_BARE} "
        f"(allowed: {SANE:g})"
    )


def _farthest(model: TreeModel, exact: TreeModel, sample: SampleText, allowed: float) -> float:
    """Compare the logits of `exact` for a tree with those of the bare model. If `model` has 16
    bits, also compare its distance from these logits with that of the bare model in 16 bits.
    Returns the largest difference in float32. Raises Wrong if each of TRIES texts shows a fault."""
    worst = farther = 0.0
    walk = _longest_walk(model)
    for number in range(TRIES):
        tokens = walk.tokens(sample.piece(walk.places, number))
        expected = _finite(model, walk.bare_logits(exact, tokens))
        worst = float(distances(_finite(model, walk.logits(exact, tokens)), expected).max())
        if exact is not model:
            rows = (walk.logits(model, tokens), walk.bare_logits(model, tokens))
            far, bare = (distances(_finite(model, one), expected).median() for one in rows)
            farther = float(far / bare.clamp(min=1e-9))
        if worst <= EXACT and farther <= allowed:
            return worst
    _check(f"its logits in float32 differ from those of {_BARE}", worst)
    raise Wrong(
        f"its logits are {farther:.2g} times as far from those in float32 as those of {_BARE}; the "
        f"limit is {allowed:g}"
    )


def _longest_walk(model: TreeModel) -> Walk:
    return _LONG_WALK if _LONG_WALK.span <= model.limit else _WALK


def _check(what: str, found: float, allowed: float = EXACT) -> None:
    """Raises Wrong if the distance `found` is too large. what: which logits differ from which."""
    if not found <= allowed:
        raise Wrong(f"{what} by {found:.2g} standard deviations; the limit is {allowed:g}")


def _finite(model: TreeModel, logits: torch.Tensor) -> torch.Tensor:
    """`logits` (rows, vocab). Raises Wrong if one is NaN or infinite, except -infinity for a token
    that all rows rule out."""
    if logits[:, ~(logits == -torch.inf).all(0)].isfinite().all():
        return logits
    raise Wrong(
        "its logits are NaN or infinite, so its weights or its config are damaged",
        _OVERFLOWS if model.dtype == torch.float16 else "",
    )


def has_router(model: TreeModel) -> bool:
    """Whether `model` is a mixture of experts. Then a rounding error can change which experts are
    chosen, which can change the output a lot."""
    return any("expert" in type(module).__name__.lower() for module in model.hf.modules())

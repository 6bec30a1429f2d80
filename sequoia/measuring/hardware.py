"""How long the passes of a pair, and the engine's steps, take on this machine.

It runs the very engine that decodes. Times are medians over interleaved rounds, so that a slow
moment hits every size alike.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import accumulate, cycle, islice

from sequoia.algorithm.progress import Progress, progress_of_part, with_progress
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadProfile
from sequoia.models.describe import dtype_name, place_of, versions
from sequoia.models.pair import Pair
from sequoia.models.pass_times import Pass, opened
from sequoia.models.tree_forward import Context, TreeModel
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.this_machine.memory import free_bytes
from sequoia.validate_input import number, whole

# closest where trees for a CPU are, and where passes begin to take longer
SIZES = (1, 2, 4, 6, 8, 12, 16, 32, 64, 128)
WIDTHS = (1, 2, 4, 8, 16, 32)
CHAIN = 6  # nodes: what its steps cost more than plain ones is put down to its levels
OVERHEAD_SIZES = (1, CHAIN, 16, 61)  # nodes of chains of five beside each other, and the root
# measured too where larger trees may pay
WIDE_WIDTHS = (64, 128, 256)
WIDE_OVERHEAD_SIZES = (256,)
_FLAT = 1.5  # times as long: what twice the nodes may take for twice as many to be looked at
_SLOW = 20  # passes: what of them does not fit the time is measured at few sizes
PASSES = 0.8  # share of the time that is for passes; the rest is for whole steps
# about what a planned tree has; the first, which finds its weights pushed out of the cache, counts
# too
_DRAFTS_A_STEP = 6
# that overhead is taken from, at least, with all drafted tokens accepted, where there is time
_STEPS = 32
_PROMPT = "The quick brown fox jumps over the lazy dog. "


def measure_profile(
    pair: Pair,
    *,
    sizes: Sequence[int] | None = None,
    widths: Sequence[int] | None = None,
    prefix: int = 256,
    rounds: int = 15,
    seconds: float = 30.0,
    progress: Progress = lambda _: None,
) -> HardwareProfile:
    """Times of target passes over `sizes` nodes, draft passes over `widths`, and the engine's
    overhead, after `prefix` tokens.

    Without sizes: up to 128 nodes, and on to 1,024 while twice the nodes take less than half as
    long again; without widths: up to 32, or to 256 with more nodes than 128. Takes at least one
    round after a warm-up, and otherwise at most about `seconds`. An exception raised by `progress`
    ends it; nothing is kept then. Raises BadProfile for a size, width, prefix, number of rounds or
    seconds that is not positive.
    """
    prefix = min(whole(prefix, "prefix", 1, 2**20, BadProfile), pair.limit // 2)
    rounds = whole(rounds, "rounds", 1, 10**6, BadProfile)
    seconds = number(seconds, "seconds", 1e-9, 86_400, BadProfile)
    targets = (
        _while_flat(pair.target, prefix, seconds, progress)
        if sizes is None
        else _passes(
            pair.target, [whole(n, "sizes", 1, MAX_NODES, BadProfile) for n in sizes], prefix
        )
    )
    wide = max((one.size for one in targets), default=0) > SIZES[-1]
    if widths is None:
        widths = (WIDTHS + WIDE_WIDTHS * wide)[
            :: 1 if sizes is not None or len(targets) >= len(SIZES) else 2
        ]
    drafts = _passes(
        pair.draft, [whole(n, "widths", 1, MAX_NODES, BadProfile) for n in widths], prefix
    )
    _rounds(targets, drafts, rounds, seconds * PASSES, progress)
    steps = OVERHEAD_SIZES + WIDE_OVERHEAD_SIZES * wide
    level, overhead = _by_level(
        _overheads(
            pair,
            steps,
            seconds * (1 - PASSES),
            lambda share: progress(PASSES + (1 - PASSES) * share),
        )
    )
    return HardwareProfile(
        device=place_of(pair.target),
        dtype=dtype_name(pair),
        target=pair.target.name,
        draft=pair.draft.name,
        prefix_length=prefix,
        target_seconds=_points(targets),
        draft_seconds=_points(drafts),
        overhead_seconds=overhead,
        level_overhead=level,
        source="measured",
        date=date.today().isoformat(),
        versions=versions(),
    )


def _passes(model: TreeModel, sizes: Sequence[int], prefix: int) -> list[Pass]:
    context = opened(model, max(sizes, default=0), prefix)
    return [Pass(context, n) for n in sizes]


def _while_flat(model: TreeModel, prefix: int, seconds: float, progress: Progress) -> list[Pass]:
    """Passes over SIZES nodes, and over twice as many as long as that is nearly free. Where passes
    are so slow that they fill the time, and 128 nodes take hardly longer than one, nothing is
    measured in between: there is nothing to be seen."""
    context = opened(model, MAX_NODES, prefix)
    one = Pass(context, 1)
    most = Pass(context, SIZES[-1])
    first = one.quick(progress)
    last = most.quick(progress)
    few = last * _SLOW > seconds and last < _FLAT * first
    found = [one, *(Pass(context, n) for n in SIZES[1:-1] if not few), most]
    before = found[-2].quick(progress)
    while (
        last < _FLAT * before and found[-1].size < MAX_NODES and _fits(context, 2 * found[-1].size)
    ):
        found.append(Pass(context, 2 * found[-1].size))
        before = last
        last = found[-1].quick(progress)
    return found


def _fits(context: Context, nodes: int) -> bool:
    """There is room for a pass over `nodes` nodes, and for as much again."""
    return all(2 * count <= free_bytes(device) for device, count in context.needs(nodes).items())


def _rounds(
    targets: Sequence[Pass], drafts: Sequence[Pass], rounds: int, seconds: float, progress: Progress
) -> None:
    """Up to `rounds` rounds after one of warm-up, in the order of decoding: some draft passes, a
    target pass, and again.

    Two models that take turns push each other's weights out of the processor's cache; passes timed
    by themselves look faster.
    """
    start = time.perf_counter()
    turns = max(len(targets), len(drafts))
    for done in range(rounds + 1):
        used = 0.0
        for turn, (target, draft) in enumerate(
            islice(zip(cycle(targets), cycle(drafts)), turns), 1
        ):
            draft.run(_DRAFTS_A_STEP)
            target.run()
            used = (time.perf_counter() - start) / seconds
            progress(min(max((done - 1 + turn / turns) / rounds, used), 1.0) * PASSES)
        if done == 0:
            for one in (*targets, *drafts):
                one.times.clear()
        if done >= 1 and used * (done + 2) / (done + 1) > 1:
            break


def _points(passes: Sequence[Pass]) -> tuple[Point, ...]:
    return tuple(_point(one.size, one.times) for one in passes)


def _point(size: int, found: Sequence[float]) -> Point:
    """(size, median, spread): the spread is half the distance between the quartiles."""
    low, _, high = statistics.quantiles(found, n=4) if len(found) > 1 else (found[0], 0, found[0])
    return size, statistics.median(found), (high - low) / 2


def _overheads(
    pair: Pair, sizes: Sequence[int], seconds: float, progress: Progress
) -> Iterator[tuple[Tree, Point]]:
    """A tree of each size, and what its steps spend outside the models."""
    for done, n in enumerate(sizes):
        tree = Tree.sequences((n - 1) // (CHAIN - 1), CHAIN - 1) if n > 1 else Tree.chain(1)
        rest = progress_of_part(progress, done, len(sizes))
        yield tree, _overhead(pair, tree, seconds / len(sizes), rest)
        rest(1.0)


def _by_level(found: Iterable[tuple[Tree, Point]]) -> tuple[float, tuple[Point, ...]]:
    """The overhead of a level that is drafted from, and the rest, which is that of the nodes and
    never falls. Levels beyond CHAIN - 1 come a little dear: the nodes that they need anyway count
    once more among the nodes."""
    found = [*found]
    medians = {len(tree): point[1] for tree, point in found}
    level = max(medians[CHAIN] - medians[1], 0.0) / (CHAIN - 1)
    rest = accumulate((median - level * len(tree.inner) for tree, (_, median, _) in found), max)
    return level, tuple(
        (n, seconds, spread) for seconds, (_, (n, _, spread)) in zip(rest, found, strict=True)
    )


def _overhead(pair: Pair, tree: Tree, seconds: float, progress: Progress) -> Point:
    """What steps with `tree` spend outside the models: the engine's own steps on a fixed text, for
    at most about `seconds`."""
    prompt = (_PROMPT * 3)[: max(pair.limit // 4, 1)]  # short enough for the smallest context
    params = SamplingParams(temperature=0.6, max_new_tokens=_STEPS * tree.levels, ignore_eos=True)
    steps = with_progress(
        _some(run(Decoder(pair, prompt, params, tree)), seconds), params.max_new_tokens, progress
    )
    # the last ones have no room for all of it
    full = [step for step in steps if len(step.tree) == len(tree)]
    # the latter in the smallest contexts only, where what is told is too little
    kept = full[1:] or full or steps
    return _point(len(tree), [step.seconds["overhead"] for step in kept])


def _some(steps: Iterable[StepTrace], seconds: float) -> Iterator[StepTrace]:
    """`steps` until the time is over, though at least three."""
    start = time.perf_counter()
    for done, step in enumerate(steps, 1):
        yield step
        if done >= 3 and time.perf_counter() - start > seconds:
            return

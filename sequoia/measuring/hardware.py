"""How long forward passes of a pair and the engine's own work take on this machine.

The passes and steps are those of the engine itself. Times are medians over interleaved rounds, so
that a slow moment affects every size alike.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
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
from sequoia.models.memory_needs import usual_distribution_bytes
from sequoia.models.pair import Pair
from sequoia.models.pass_times import Pass, opened
from sequoia.models.tree_forward import Context, TreeModel
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.this_machine.memory import free_bytes
from sequoia.validate_input import number, whole

# densest where trees for a CPU are and where passes begin to take longer
SIZES = (1, 2, 4, 6, 8, 12, 16, 32, 64, 128)
WIDTHS = (1, 2, 4, 8, 16, 32)
CHAIN = 6  # nodes; the extra overhead of its steps over plain ones is attributed to its levels
OVERHEAD_SIZES = (1, CHAIN, 16, 61)  # nodes: the root, and chains of five side by side
# also measured where larger trees may pay
WIDE_WIDTHS = (64, 128, 256)
WIDE_OVERHEAD_SIZES = (256,)
_FLAT = 1.5  # while doubling the nodes takes less than this times as long, the next size is tried
_SLOW = 20  # where so many passes do not fit the time, only a few sizes are measured
PASSES = 0.8  # share of the time for passes; the rest is for whole steps
# About as many as for a planned tree. The first one, slower because the target's weights have
# replaced the draft's in the cache, counts too.
_DRAFTS_A_STEP = 6
_STEPS = 32  # to measure the overhead on, if there is time; more where drafted tokens are rejected
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
    """Times of target passes over `sizes` nodes and of draft passes over `widths` nodes, and the
    engine's overhead, all after `prefix` tokens.

    sizes: by default up to 128 nodes, and on to 1,024 while doubling the nodes takes less than
    half as long again. widths: by default up to 32, or to 256 if more than 128 nodes are measured.
    Takes about `seconds`, or longer for at least one round after a warm-up. An exception that
    `progress` raises ends the measurement, and nothing is kept. Raises BadProfile for a size,
    width, prefix, number of rounds or seconds that is not positive or too large.
    """
    prefix = min(whole(prefix, "prefix", 1, 2**20, BadProfile), pair.limit // 2)
    rounds = whole(rounds, "rounds", 1, 10**6, BadProfile)
    seconds = number(seconds, "seconds", 1e-9, 86_400, BadProfile)
    targets = (
        _while_flat(pair.target, prefix, seconds, progress)
        if sizes is None
        else _passes(pair.target, "sizes", sizes, prefix)
    )
    wide = max((one.size for one in targets), default=0) > SIZES[-1]
    if widths is None:
        few = sizes is None and len(targets) < len(SIZES)
        widths = (WIDTHS + WIDE_WIDTHS * wide)[:: 2 if few else 1]
    drafts = _passes(pair.draft, "widths", widths, prefix)
    _rounds(targets, drafts, rounds, seconds * PASSES, progress)
    found = _overheads(
        pair,
        OVERHEAD_SIZES + WIDE_OVERHEAD_SIZES * wide,
        seconds * (1 - PASSES),
        lambda share: progress(PASSES + (1 - PASSES) * share),
    )
    level, overhead = _by_level([*found])
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


def _passes(model: TreeModel, what: str, sizes: Sequence[int], prefix: int) -> list[Pass]:
    """A pass over each of `sizes` nodes; raises BadProfile for a size out of range."""
    sizes = [whole(n, what, 1, MAX_NODES, BadProfile) for n in sizes]
    context = opened(model, max(sizes, default=0), prefix)
    return [Pass(context, n) for n in sizes]


def _while_flat(model: TreeModel, prefix: int, seconds: float, progress: Progress) -> list[Pass]:
    """Passes over SIZES nodes, and over twice as many again while that is nearly free. Where passes
    are so slow that they fill the time, and 128 nodes take hardly longer than one, the sizes in
    between are skipped: their times hardly differ."""
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
    """Whether memory is free for twice what a pass over `nodes` nodes needs, and for the
    distributions of a step with so many: larger trees could be planned, but not run."""
    needs = Counter({device: 2 * count for device, count in context.needs(nodes).items()})
    needs[context.device] += usual_distribution_bytes(context.device, nodes, context.model.vocab)
    return all(count <= free_bytes(device) for device, count in needs.items())


def _rounds(
    targets: Sequence[Pass], drafts: Sequence[Pass], rounds: int, seconds: float, progress: Progress
) -> None:
    """Up to `rounds` rounds after a warm-up round. As in decoding, some draft passes and a target
    pass alternate: two models that take turns evict each other's weights from the processor's
    cache, and passes timed alone would look faster.
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
    """(size, median, spread): the spread is half the interquartile range."""
    low, _, high = statistics.quantiles(found, n=4) if len(found) > 1 else (found[0], 0, found[0])
    return size, statistics.median(found), (high - low) / 2


def _overheads(
    pair: Pair, sizes: Sequence[int], seconds: float, progress: Progress
) -> Iterator[tuple[Tree, Point]]:
    """A tree of each size, and the seconds that its steps spend outside the models."""
    for done, n in enumerate(sizes):
        tree = Tree.sequences((n - 1) // (CHAIN - 1), CHAIN - 1) if n > 1 else Tree.chain(1)
        rest = progress_of_part(progress, done, len(sizes))
        yield tree, _overhead(pair, tree, seconds / len(sizes), rest)
        rest(1.0)


def _by_level(found: Sequence[tuple[Tree, Point]]) -> tuple[float, tuple[Point, ...]]:
    """The overhead of a drafted level, and the rest, which depends on the nodes and never
    decreases with them. Levels beyond CHAIN - 1 are overestimated a little: the nodes on them are
    counted again among the nodes."""
    medians = {len(tree): point[1] for tree, point in found}
    level = max(medians[CHAIN] - medians[1], 0.0) / (CHAIN - 1)
    rest = accumulate((median - level * len(tree.inner) for tree, (_, median, _) in found), max)
    return level, tuple(
        (n, seconds, spread) for seconds, (_, (n, _, spread)) in zip(rest, found, strict=True)
    )


def _overhead(pair: Pair, tree: Tree, seconds: float, progress: Progress) -> Point:
    """The seconds that steps with `tree` spend outside the models, measured while decoding a fixed
    text for at most about `seconds`."""
    prompt = (_PROMPT * 3)[: max(pair.limit // 4, 1)]  # short enough for the smallest context
    params = SamplingParams(temperature=0.6, max_new_tokens=_STEPS * tree.levels, ignore_eos=True)
    steps = with_progress(
        _some(run(Decoder(pair, prompt, params, tree)), seconds), params.max_new_tokens, progress
    )
    # the token limit truncates the last trees
    full = [step for step in steps if len(step.tree) == len(tree)]
    # without the first step where there are more; truncated ones only in the smallest contexts
    kept = full[1:] or full or steps
    return _point(len(tree), [step.seconds["overhead"] for step in kept])


def _some(steps: Iterable[StepTrace], seconds: float) -> Iterator[StepTrace]:
    """`steps` until `seconds` have passed since the first of them, but at least three. What comes
    before, the prompt and the capture of CUDA graphs, takes longer than many steps on a GPU."""
    start: float | None = None
    for done, step in enumerate(steps, 1):
        if start is None:
            start = time.perf_counter()
        yield step
        if done >= 3 and time.perf_counter() - start > seconds:
            return

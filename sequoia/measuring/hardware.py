"""How long the forward passes of a pair and the engine's own work take on this machine.

Times of passes are medians over several rounds. Each round runs all sizes, so that a slow moment
affects all sizes alike.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import accumulate, cycle, islice

import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.progress import Progress, progress_of_part, with_progress
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadProfile
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.describe import dtype_name, place_of, versions
from sequoia.models.draft import Draft, DraftContext
from sequoia.models.memory_needs import usual_distribution_bytes
from sequoia.models.native.native_llama import one_torch_thread
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.this_machine.memory import free_bytes
from sequoia.this_machine.step_timer import synchronize
from sequoia.validate_input import number, whole

# nodes of the timed target passes; densest at the usual sizes of trees planned for a CPU
SIZES = (1, 2, 4, 6, 8, 12, 16, 32, 64, 128)
_PREFIX = 128  # tokens before a timed pass: about the middle of a text of usual length
WIDTHS = (1, 2, 4, 8, 16, 32)  # nodes of the timed draft passes
CHAIN = 6  # nodes of the chain from which the overhead of a level is computed
OVERHEAD_SIZES = (1, CHAIN, 16, 61)  # nodes of the trees whose overhead is measured
# also measured if target passes over more than 128 nodes were timed
WIDE_WIDTHS = (64, 128, 256)
WIDE_OVERHEAD_SIZES = (256,)
_FLAT = 1.5  # the next size is tried while doubling the nodes takes less than 1.5 times as long
_SLOW = 20  # if fewer than this many passes over 128 nodes fit into the time, sizes may be skipped
PASSES = 0.8  # share of the time spent on passes; the rest is spent on whole steps
# About as many draft passes as a step with a planned tree has. The first one is slower, because the
# target's pass has replaced the draft's weights in the processor's cache.
_DRAFTS_A_STEP = 4
# Plain decoding for so long brings as much of a small model into the processor's cache as fits.
_PLAIN_SECONDS = 0.02
# With enough time and context, at least this many steps are decoded to measure the overhead.
_STEPS = 32
# a usual acceptance vector; trees with this shape are as bushy as planned ones
_USUAL = Acceptance((0.65, 0.13, 0.05, 0.03, 0.02, 0.01))
_PROMPT = "The quick brown fox jumps over the lazy dog. "


def measure_profile(
    pair: Pair,
    *,
    sizes: Sequence[int] | None = None,
    widths: Sequence[int] | None = None,
    rounds: int = 15,
    seconds: float = 30.0,
    progress: Progress = lambda _: None,
) -> HardwareProfile:
    """Times of target passes over `sizes` nodes and of draft passes over `widths` nodes, both after
    _PREFIX tokens (at most half the context), and the engine's overhead after a short prompt.

    sizes: by default as `_while_flat` chooses them, up to 1,024. widths: by default at most 32, or
    at most 256 if a size is above 128. Takes about `seconds` at most, or longer if the warm-up
    round, one timed round and a few steps need more. An exception raised by `progress` ends the
    measurement. `sizes` and `widths` increase, `sizes` from 1. Raises BadProfile if `rounds` or
    `seconds` is out of range.
    """
    prefix = min(_PREFIX, pair.limit // 2)
    rounds, seconds = checked_effort(rounds, seconds)
    targets = (
        _while_flat(pair.target, prefix, seconds, progress)
        if sizes is None
        else _passes(pair.target, sizes, prefix)
    )
    wide = max(one.size for one in targets) > SIZES[-1]
    if widths is None:
        few = sizes is None and len(targets) < len(SIZES)
        widths = (WIDTHS + WIDE_WIDTHS * wide)[:: 2 if few else 1]
    drafts = _passes(pair.draft, widths, prefix)
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


def checked_effort(rounds: int, seconds: float) -> tuple[int, float]:
    """(rounds, seconds), the limits of a measurement. Raises BadProfile if one is out of range."""
    return (
        whole(rounds, "rounds", 1, 10**6, BadProfile),
        number(seconds, "seconds", 1e-9, 86_400, BadProfile),
    )


def _passes(model: Draft, sizes: Sequence[int], prefix: int) -> list[Pass]:
    """A pass for each number of nodes in `sizes`."""
    context = opened(model, max(sizes), prefix)
    return [Pass(context, n) for n in sizes]


def _while_flat(model: TreeModel, prefix: int, seconds: float, progress: Progress) -> list[Pass]:
    """A pass for each number of nodes in SIZES, and then for twice as many nodes again and again,
    while doubling costs little time and enough memory is free. The sizes between 1 and 128 are
    skipped if few passes fit into `seconds` and the times at 1 and 128 hardly differ."""
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


def _fits(context: DraftContext, nodes: int) -> bool:
    """Whether enough memory is free for twice what a pass over `nodes` nodes needs, and for the
    distributions of a step with that many nodes. If not, the pass is not timed, so that the planner
    does not choose a tree that is too large to run."""
    needs = Counter({device: 2 * count for device, count in context.needs(nodes).items()})
    needs[context.device] += usual_distribution_bytes(context.device, nodes, context.model.vocab)
    return all(count <= free_bytes(device) for device, count in needs.items())


def _rounds(
    targets: Sequence[Pass], drafts: Sequence[Pass], rounds: int, seconds: float, progress: Progress
) -> None:
    """Run a warm-up round and up to `rounds` timed rounds. Each pass stores its own times. As in
    decoding, several draft passes alternate with one target pass. Passes timed alone would look
    faster, because no other model's weights displace theirs from the processor's cache. A pass over
    one node follows others over one node, as in plain decoding.
    """
    start = time.perf_counter()
    turns = max(len(targets), len(drafts))
    for done in range(rounds + 1):
        used = 0.0
        for turn, (target, draft) in enumerate(
            islice(zip(cycle(targets), cycle(drafts)), turns), 1
        ):
            draft.run(_DRAFTS_A_STEP)
            if target.size == 1:  # plain decoding has no draft
                target.warm_up(_PLAIN_SECONDS)
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
    """(size, median, spread) of the seconds `found`. The spread is half the interquartile range."""
    low, _, high = statistics.quantiles(found, n=4) if len(found) > 1 else (found[0], 0, found[0])
    return size, statistics.median(found), (high - low) / 2


def _overheads(
    pair: Pair, sizes: Sequence[int], seconds: float, progress: Progress
) -> Iterator[tuple[Tree, Point]]:
    """For each size, a tree of that size and the time that a step with it spends outside the
    models, as (nodes, seconds, spread)."""
    for done, n in enumerate(sizes):
        tree = Tree.chain(n) if n <= CHAIN else best_tree(_USUAL, n, CHAIN)
        rest = progress_of_part(progress, done, len(sizes))
        yield tree, _overhead(pair, tree, seconds / len(sizes), rest)
        rest(1.0)


def _by_level(found: Sequence[tuple[Tree, Point]]) -> tuple[float, tuple[Point, ...]]:
    """The overhead of one drafted level in seconds, and the points of the remaining overhead by
    number of nodes. If a point would be below an earlier one, it is raised to the same overhead.

    The overhead of a level is measured with a chain, which has one node on each level. So it
    includes the overhead of that node, and the overhead of deep trees is slightly overestimated.
    """
    medians = {len(tree): point[1] for tree, point in found}
    level = max(medians[CHAIN] - medians[1], 0.0) / (CHAIN - 1)
    rest = accumulate((median - level * len(tree.inner) for tree, (_, median, _) in found), max)
    return level, tuple(
        (n, seconds, spread) for seconds, (_, (n, _, spread)) in zip(rest, found, strict=True)
    )


def _overhead(pair: Pair, tree: Tree, seconds: float, progress: Progress) -> Point:
    """(nodes, seconds, spread) of the time that a step with `tree` spends outside the models. It is
    measured while decoding a fixed prompt for at most about `seconds`, but for at least three steps
    if the context has room for them."""
    prompt = (_PROMPT * 3)[: max(pair.limit // 4, 1)]  # short enough for the smallest context
    params = SamplingParams(temperature=0.6, max_new_tokens=_STEPS * tree.levels, ignore_eos=True)
    steps = with_progress(
        _some(run(Decoder(pair, prompt, params, tree)), seconds), params.max_new_tokens, progress
    )
    # near the end of the run, trees are truncated
    full = [step for step in steps if len(step.tree) == len(tree)]
    # Leave out the first full step if there are others. A very small context may have no full step.
    kept = full[1:] or full or steps
    return _point(len(tree), [step.seconds["overhead"] for step in kept])


def _some(steps: Iterable[StepTrace], seconds: float) -> Iterator[StepTrace]:
    """At least three of `steps`, and more until `seconds` have passed since the end of the first.
    The time before that does not count: on a GPU, the prefill and the capture of CUDA graphs take
    longer than many steps."""
    start: float | None = None
    for done, step in enumerate(steps, 1):
        if start is None:
            start = time.perf_counter()
        yield step
        if done >= 3 and time.perf_counter() - start > seconds:
            return


# -- one pass --------------------------------------------------------------------------------------


class Pass:
    """A repeatable forward pass over a tree of `size` tokens after the prefix of `context`. times:
    the mean seconds of a pass in each call of `run` since `times` was last cleared."""

    def __init__(self, context: DraftContext, size: int) -> None:
        self.size = size
        self._context = context
        self._tokens = [i % context.model.vocab for i in range(size)]
        self._layout = TreeLayout(
            context, Tree.from_branching([1] * min(size - 1, 7) + [max(size - 8, 1)] * (size > 8))
        )
        self.times: list[float] = []
        context.capture([size])

    def quick(self, progress: Progress) -> float:
        """Run two passes and return the seconds of the second. Leaves `times` empty."""
        for _ in range(2):
            self.run()
            progress(0.0)
        found = self.times[-1]
        self.times.clear()
        return found

    def warm_up(self, seconds: float) -> None:
        """Run passes for at least `seconds`, without storing their times."""
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            self.run()
            self.times.pop()

    def run(self, times: int = 1) -> None:
        """Run `times` passes in a row and append their mean seconds to `self.times`. It is a mean
        because a median would ignore a first pass that is always slower than the others."""
        with one_torch_thread([self._context.model]):  # as in a step
            start = time.perf_counter()
            for _ in range(times):
                synchronize(self._context.forward(self._tokens, self._layout).device)
                self._context.keep([])
            self.times.append((time.perf_counter() - start) / times)


def opened(model: Draft, most: int, prefix: int) -> DraftContext:
    """A context with a prefix of `prefix` tokens and free slots for `most` more."""
    context = model.open(prefix + most)
    context.extend([i % model.vocab for i in range(prefix)])
    return context


_ROUNDS = 8


def least_seconds(models: list[TreeModel], width: int) -> list[float]:
    """Seconds of the shortest pass of each model over `width` rows after a short prefix. The models
    are timed in turn, several times each. The shortest counts, not the median, because other work
    on the machine can only add time.
    """
    trials = [Pass(opened(model, width, 48), width) for model in models]
    for _ in range(_ROUNDS):
        for trial in trials:
            trial.run()
    return [min(trial.times) for trial in trials]


# -- the least time of a pass: reading the weights once, at the speed of the memory ----------------


_BYTES = 2**28  # far more than fits in a CPU's caches
_TRIES = 8


def floor_seconds(pair: Pair) -> float:
    """Seconds in which the target's weights are read once; measured at the first call. 0 if they
    are not all in the memory of one device."""
    if pair.target.placement:
        return 0.0
    return pair.measured.once(
        "floor", lambda: bytes_read(pair.target) / read_speed(pair.target.device)
    )


def read_speed(device: torch.device) -> float:
    """Bytes per second that `device` reads from its memory, the highest of several tries."""
    numbers = torch.ones(_BYTES // 4, dtype=torch.float32, device=device)
    times = []
    for _ in range(_TRIES):
        synchronize(device)
        start = time.perf_counter()
        numbers.sum()
        synchronize(device)
        times.append(time.perf_counter() - start)
    return _BYTES / min(times)


def bytes_read(model: TreeModel) -> int:
    """Bytes of the weights that a pass over one row reads: all, except an embedding that is not the
    head too, of which it reads a single row."""
    weights = {id(one): one for one in model.hf.parameters()}
    embedding = model.hf.get_input_embeddings().weight
    if embedding is not getattr(model.hf.get_output_embeddings(), "weight", None):
        weights.pop(id(embedding), None)
    return sum(one.numel() * one.itemsize for one in weights.values())

"""Measurements of a pair on this machine: how long passes take, and how often each child is accepted.

Both run the very engine that decodes. Times are medians over interleaved rounds, so that a slow moment hits every size alike.
"""

from __future__ import annotations

import importlib.metadata
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import cycle, islice
from typing import Any

import torch

from .acceptance import Acceptance
from .atlas import Atlas, Cell, wilson
from .engine import Decoder, run
from .errors import BadAcceptance, BadProfile, BadPrompt
from .guarded import number, whole
from .hardware import HardwareProfile, Point
from .memory import free_bytes
from .models import Context, Rows, TreeModel
from .pair import Pair
from .policy import Policy
from .trace import StepTrace, repetition
from .tree import MAX_NODES, Tree

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
WIDTHS = (1, 2, 4, 8, 16, 32)
OVERHEAD_SIZES = (1, 16, 64)
WIDE_WIDTHS, WIDE_OVERHEAD_SIZES = (64, 128, 256), (256,)  # measured too where larger trees may pay
_FLAT = 1.5  # times as long: what twice the nodes may take for twice as many to be looked at
_SLOW = 20  # passes: what of them does not fit the time is measured at few sizes
_PASSES = 0.8  # share of the time that is for passes; the rest is for whole steps
_DRAFTS_A_STEP = 4
_LIBRARIES = ("torch", "transformers", "accelerate")
_PROMPT = "The quick brown fox jumps over the lazy dog. "

Progress = Callable[[float], None]  # told the share done, 0 to 1, after every pass or step; what it raises ends the measurement


def part(progress: Progress, number: int, of: int) -> Progress:
    """The progress of part `number`, from 0 on, of `of` equal ones, told as that of the whole."""
    return lambda share: progress((number + share) / of)


def followed(steps: Iterable[StepTrace], tokens: int, progress: Progress) -> list[StepTrace]:
    """All of `steps`, with the share made of `tokens` told after each."""
    traces, made = [], 0
    for trace in steps:
        traces.append(trace)
        made += len(trace.emitted)
        progress(min(made / tokens, 1.0))
    progress(1.0)
    return traces


def measure_profile(pair: Pair, *, sizes: Sequence[int] | None = None, widths: Sequence[int] | None = None, prefix: int = 256,
                    rounds: int = 15, seconds: float = 30.0, progress: Progress = lambda _: None) -> HardwareProfile:
    """Times of target passes over `sizes` nodes, draft passes over `widths`, and the engine's overhead, after `prefix` tokens.

    Without sizes: up to 128 nodes, and on to 1,024 while twice the nodes take less than half as long again; without widths: up
    to 32, or to 256 with more nodes than 128. Takes at least one round after a warm-up, and otherwise at most about `seconds`.
    An exception raised by `progress` ends it; nothing is kept then. Raises BadProfile for a size, width, prefix, number of
    rounds or seconds that is not positive.
    """
    prefix = min(whole(prefix, "prefix", 1, 2**20, BadProfile), pair.limit // 2)
    rounds = whole(rounds, "rounds", 1, 10**6, BadProfile)
    seconds = number(seconds, "seconds", 1e-9, 86_400, BadProfile)
    targets = (_while_flat(pair.target, prefix, seconds, progress) if sizes is None
               else _passes(pair.target, [whole(n, "sizes", 1, MAX_NODES, BadProfile) for n in sizes], prefix))
    wide = max((one.size for one in targets), default=0) > SIZES[-1]
    if widths is None:
        widths = (WIDTHS + WIDE_WIDTHS * wide)[::1 if sizes is not None or len(targets) >= len(SIZES) else 2]
    drafts = _passes(pair.draft, [whole(n, "widths", 1, MAX_NODES, BadProfile) for n in widths], prefix)
    _rounds(targets, drafts, rounds, seconds * _PASSES, progress)
    overhead, steps = list[Point](), OVERHEAD_SIZES + WIDE_OVERHEAD_SIZES * wide
    for n in steps:
        rest = part(lambda share: progress(_PASSES + (1 - _PASSES) * share), len(overhead), len(steps))
        overhead.append(_overhead(pair, n, seconds, rest))
        rest(1.0)
    return HardwareProfile(device=place_of(pair.target), dtype=dtype_name(pair), target=pair.target.name,
                           draft=pair.draft.name, prefix_length=prefix, target_seconds=tuple(one.point() for one in targets),
                           draft_seconds=tuple(one.point() for one in drafts), overhead_seconds=tuple(overhead),
                           source="measured", date=date.today().isoformat(), versions=versions())


class _Pass:
    """One forward over `size` rows after the prefix of `context`, repeatable; `times` are in seconds."""

    def __init__(self, context: Context, size: int) -> None:
        self.size, self._context = size, context
        self._tokens = [i % context.model.vocab for i in range(size)]
        self._rows = Rows(Tree.from_branching([1] * min(size - 1, 7) + [max(size - 8, 1)] * (size > 8)), range(size), context)
        self.times: list[float] = []

    def quick(self, progress: Progress) -> float:
        """Seconds of a pass that is not the first one; none of it is kept."""
        for _ in range(2):
            self.run()
            progress(0.0)
        found = self.times[-1]
        self.times.clear()
        return found

    def run(self) -> None:
        start = time.perf_counter()
        logits = self._context.forward(self._tokens, self._rows)
        if logits.is_cuda:
            torch.cuda.synchronize(logits.device)
        self._context.keep([])
        self.times.append(time.perf_counter() - start)

    def point(self) -> Point:
        return _point(self.size, self.times)


def _opened(model: TreeModel, most: int, prefix: int) -> Context:
    """A context that has read `prefix` tokens and has room for `most` rows."""
    context = model.open(prefix + most)
    context.extend([i % model.vocab for i in range(prefix)])
    return context


def _passes(model: TreeModel, sizes: Sequence[int], prefix: int) -> list[_Pass]:
    context = _opened(model, max(sizes, default=0), prefix)
    return [_Pass(context, n) for n in sizes]


def _while_flat(model: TreeModel, prefix: int, seconds: float, progress: Progress) -> list[_Pass]:
    """Passes over SIZES nodes, and over twice as many as long as that is nearly free. Where passes are so slow that they fill the
    time, and 128 nodes take hardly longer than one, nothing is measured in between: there is nothing to be seen."""
    context = _opened(model, MAX_NODES, prefix)
    one, most = _Pass(context, 1), _Pass(context, SIZES[-1])
    first, last = one.quick(progress), most.quick(progress)
    few = last * _SLOW > seconds and last < _FLAT * first
    found = [one, *(_Pass(context, n) for n in SIZES[1:-1] if not few), most]
    before = found[-2].quick(progress)
    while last < _FLAT * before and found[-1].size < MAX_NODES and _fits(context, 2 * found[-1].size):
        found.append(_Pass(context, 2 * found[-1].size))
        before, last = last, found[-1].quick(progress)
    return found


def _fits(context: Context, nodes: int) -> bool:
    """There is room for a pass over `nodes` nodes, and for as much again."""
    return all(2 * count <= free_bytes(device) for device, count in context.needs(nodes).items())


def _rounds(targets: Sequence[_Pass], drafts: Sequence[_Pass], rounds: int, seconds: float, progress: Progress) -> None:
    """Up to `rounds` rounds after one of warm-up, in the order of decoding: some draft passes, a target pass, and again.

    Two models that take turns push each other's weights out of the processor's cache; passes timed by themselves look faster.
    """
    start, turns = time.perf_counter(), max(len(targets), len(drafts))
    for done in range(rounds + 1):
        used = 0.0
        for turn, (target, draft) in enumerate(islice(zip(cycle(targets), cycle(drafts)), turns), 1):
            for _ in range(_DRAFTS_A_STEP):
                draft.run()
            target.run()
            used = (time.perf_counter() - start) / seconds
            progress(min(max((done - 1 + turn / turns) / rounds, used), 1.0) * _PASSES)
        if done == 0:
            for one in (*targets, *drafts):
                one.times.clear()
        if done >= 1 and used * (done + 2) / (done + 1) > 1:
            break


def _point(size: int, found: Sequence[float]) -> Point:
    """(size, median, spread): the spread is half the distance between the quartiles."""
    low, _, high = statistics.quantiles(found, n=4) if len(found) > 1 else (found[0], 0, found[0])
    return size, statistics.median(found), (high - low) / 2


def _overhead(pair: Pair, n: int, seconds: float, progress: Progress) -> Point:
    """What steps with `n` nodes spend outside the models: the engine's own steps on a fixed text, for at most about `seconds`."""
    levels = min(6, n)
    tree = Tree.sequences((n - 1) // 5, 5).limit(levels) if n > 5 else Tree.chain(n)
    prompt = (_PROMPT * 3)[:max(pair.limit // 4, 1)]  # short enough for the smallest context
    policy = Policy(temperature=0.6, max_new_tokens=8 * levels, ignore_eos=True)
    steps = followed(_some(run(Decoder(pair, prompt, policy, tree)), seconds), policy.max_new_tokens, progress)
    return _point(n, [step.seconds["overhead"] for step in steps[1:] or steps])


def _some(steps: Iterable[StepTrace], seconds: float) -> Iterator[StepTrace]:
    """`steps` until the time is over, though at least three."""
    start = time.perf_counter()
    for done, step in enumerate(steps, 1):
        yield step
        if done >= 3 and time.perf_counter() - start > seconds:
            return


# -- acceptance ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counted:
    """Acceptance counted while decoding: `accepted[k]` of `visited` roots went on to child k. `repetition` of the text made;
    `atlas`: counts of all nodes, by depth.

    Counts that teacher.py expects are no whole numbers. Their intervals are then a little wide: a chance between 0 and 1 varies
    less than the coin it is for.
    """

    accepted: tuple[float, ...]
    visited: int
    repetition: float
    atlas: Atlas = field(default_factory=Atlas)

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The 95 % interval of each rate (Wilson), as if visited nodes were independent."""
        return tuple(wilson(count, self.visited) for count in self.accepted)

    @property
    def acceptance(self) -> Acceptance:
        if not self.visited:
            raise BadAcceptance("no child was ever tried: 0 nodes were visited, and at least 1 is needed for a rate")
        return Acceptance(tuple(count / self.visited for count in self.accepted))


def count_acceptance(pair: Pair, prompts: Iterable[str], policy: Policy, *, ranks: int = 16, verifier: str = "sequoia",
                     tree: Tree | None = None, progress: Progress = lambda _: None) -> Counted:
    """On-policy counts over `policy.max_new_tokens` tokens of each prompt: a root with `ranks` children at every step, or
    `tree`, such as one of atlas.py that goes deeper. The rates are the root's, as deeper nodes seldom have as many children."""
    prompts, tree = list(prompts), tree or Tree.from_branching([ranks])
    if not prompts:
        raise BadPrompt("acceptance is counted while decoding: 0 prompts were given, at least 1 is needed")
    atlas, repeated = Atlas(), []
    for done, prompt in enumerate(prompts):
        steps = run(Decoder(pair, prompt, replace(policy, seed=policy.seed + done), tree, verifier))
        traces = followed(steps, policy.max_new_tokens, part(progress, done, len(prompts)))
        atlas += Atlas.fold(traces)
        repeated.append(repetition([token for trace in traces for token in trace.emitted]))
    root = [atlas.cells.get((0, rank), Cell(0, 0)) for rank in range(len(tree.children[0]))]
    return Counted(tuple(cell.accepted for cell in root), root[0].visits if root else 0, statistics.fmean(repeated), atlas)


def measure_acceptance(pair: Pair, prompts: Iterable[str], policy: Policy | None = None, **options: Any) -> Acceptance:
    """The acceptance vector counted by `count_acceptance`."""
    return count_acceptance(pair, prompts, policy or Policy(), **options).acceptance


# -- words for the machine -----------------------------------------------------------------------------------------------------


def describe(device: torch.device) -> str:
    """The device in words, such as "cpu (2 threads, AMD EPYC)"."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    name = next(_cpu_names(), platform.machine())
    threads = torch.get_num_threads()
    return f"cpu ({threads} thread{'' if threads == 1 else 's'}, {name})"


def place_of(model: TreeModel) -> str:
    """Where `model` computes, in words: its device, and how its weights are placed where they are not simply there."""
    return ", ".join(filter(None, (describe(model.device), model.placement)))


def _cpu_names() -> Iterator[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123
            yield from (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except OSError:
        return


def dtype_name(pair: Pair) -> str:
    """The number types of target and draft."""
    names = [model.numbers for model in (pair.target, pair.draft)]
    return names[0] if names[0] == names[1] else f"{names[0]}, draft {names[1]}"


def versions() -> tuple[tuple[str, str], ...]:
    """Versions of Python and of the libraries that decide how fast a pass is."""
    return (("python", platform.python_version()), *((name, importlib.metadata.version(name)) for name in _LIBRARIES))

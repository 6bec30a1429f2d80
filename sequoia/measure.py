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
from .models import Context, Rows, TreeModel
from .pair import Pair
from .policy import Policy
from .trace import StepTrace, repetition
from .tree import MAX_NODES, Tree

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
WIDTHS = (1, 2, 4, 8, 16, 32)
OVERHEAD_SIZES = (1, 16, 64)
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


def measure_profile(pair: Pair, *, sizes: Sequence[int] = SIZES, widths: Sequence[int] = WIDTHS, prefix: int = 256,
                    rounds: int = 15, seconds: float = 30.0, progress: Progress = lambda _: None) -> HardwareProfile:
    """Times of target passes over `sizes` nodes, draft passes over `widths`, and the engine's overhead, after `prefix` tokens.

    Takes at least one round after a warm-up, and otherwise at most about `seconds`. An exception raised by `progress` ends it;
    nothing is kept then. Raises BadProfile for a size, width, prefix, number of rounds or seconds that is not positive.
    """
    prefix = min(whole(prefix, "prefix", 1, 2**20, BadProfile), pair.limit // 2)
    rounds = whole(rounds, "rounds", 1, 10**6, BadProfile)
    seconds = number(seconds, "seconds", 1e-9, 86_400, BadProfile)
    targets = [_Pass(pair.target, whole(n, "sizes", 1, MAX_NODES, BadProfile), prefix) for n in sizes]
    drafts = [_Pass(pair.draft, whole(n, "widths", 1, MAX_NODES, BadProfile), prefix) for n in widths]
    _rounds(targets, drafts, rounds, seconds * _PASSES, progress)
    overhead = []
    for n in OVERHEAD_SIZES:
        rest = part(lambda share: progress(_PASSES + (1 - _PASSES) * share), len(overhead), len(OVERHEAD_SIZES))
        overhead.append(_overhead(pair, n, rest))
        rest(1.0)
    return HardwareProfile(device=describe(pair.target.device), dtype=dtype_name(pair), target=pair.target.name,
                           draft=pair.draft.name, prefix_length=prefix, target_seconds=tuple(one.point() for one in targets),
                           draft_seconds=tuple(one.point() for one in drafts), overhead_seconds=tuple(overhead),
                           source="measured", date=date.today().isoformat(), versions=versions())


class _Pass:
    """One forward of one model over `n` rows after a prefix, repeatable; `times` are in seconds."""

    def __init__(self, model: TreeModel, n: int, prefix: int) -> None:
        self._context: Context = model.open(prefix + n)
        self._context.extend([i % model.vocab for i in range(prefix)])
        self._tokens = [i % model.vocab for i in range(n)]
        self._rows = Rows(Tree.from_branching([1] * min(n - 1, 7) + [max(n - 8, 1)] * (n > 8)), range(n), self._context)
        self.times: list[float] = []

    def run(self) -> None:
        start = time.perf_counter()
        logits = self._context.forward(self._tokens, self._rows)
        if logits.is_cuda:
            torch.cuda.synchronize(logits.device)
        self._context.keep([])
        self.times.append(time.perf_counter() - start)

    def point(self) -> Point:
        return _point(len(self._tokens), self.times)


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


def _overhead(pair: Pair, n: int, progress: Progress) -> Point:
    """What steps with `n` nodes spend outside the models: the engine's own steps on a fixed text."""
    levels = min(6, n)
    tree = Tree.sequences((n - 1) // 5, 5).limit(levels) if n > 5 else Tree.chain(n)
    prompt = (_PROMPT * 3)[:max(pair.limit // 4, 1)]  # short enough for the smallest context
    policy = Policy(temperature=0.6, max_new_tokens=8 * levels, ignore_eos=True)
    steps = followed(run(Decoder(pair, prompt, policy, tree)), policy.max_new_tokens, progress)
    return _point(n, [step.seconds["overhead"] for step in steps[1:] or steps])


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

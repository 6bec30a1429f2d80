"""What one decoding step leaves behind. Every figure a person sees is a fold over these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict

PHASES = ("draft", "verify", "overhead")
FINISHES = ("eos", "length", "context")


@dataclass(frozen=True)
class StepTrace:
    """One step of decoding.

    index: 0 for the run's first step. prefix_len: tokens before the root, which is the
    last token known so far.
    tree, tokens: what was drafted; tokens[node] is a token id, tokens[0] the root's.
    draft_p, target_p: for each node, the weight that q and p give its token after its parent; None
    for the root, and target_p is None below nodes the walk never reached. verdict: see verify.
    emitted: token ids the step added: the accepted path without the root, then the bonus, cut where
    the run ended. seconds: wall time by phase (draft: draft model; verify: target model; overhead:
    all the rest). finish: None, or why the run ended here.
    """

    index: int
    prefix_len: int
    tree: Tree
    tokens: tuple[int, ...]
    draft_p: tuple[float | None, ...]
    target_p: tuple[float | None, ...]
    verdict: Verdict
    emitted: tuple[int, ...]
    seconds: Mapping[str, float]
    finish: str | None = None

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())


@dataclass(frozen=True)
class DecodeStats:
    """Totals of a run: a fold over its traces and nothing else.

    accepted[k] of tried[k] nodes of sibling rank k were accepted when the walk held them against
    the target; visited counts the nodes with children at which the walk stood, so accepted[k] /
    visited is the unconditional rate.
    """

    steps: int = 0
    tokens: int = 0
    seconds: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    visited: int = 0
    tried: tuple[int, ...] = ()
    accepted: tuple[int, ...] = ()

    @classmethod
    def fold(cls, traces: Iterable[StepTrace]) -> DecodeStats:
        stats = cls()
        for trace in traces:
            stats = stats.add(trace)
        return stats

    def add(self, trace: StepTrace) -> DecodeStats:
        """These totals with one more step."""
        ranks = trace.tree.ranks
        trials = trace.verdict.trials
        visited = sum(bool(trace.tree.children[node]) for node in trace.verdict.path)
        return DecodeStats(
            self.steps + 1,
            self.tokens + len(trace.emitted),
            {phase: self.seconds[phase] + trace.seconds.get(phase, 0.0) for phase in PHASES},
            self.visited + visited,
            _counted(self.tried, (ranks[trial.node] for trial in trials)),
            _counted(self.accepted, (ranks[trial.node] for trial in trials if trial.accepted)),
        )

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

    @property
    def tokens_per_step(self) -> float:
        return self.tokens / self.steps if self.steps else math.nan

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.total_seconds if self.total_seconds else math.nan

    @property
    def overhead_share(self) -> float:
        """Share of the time that neither model was running, 0 to 1."""
        return self.seconds["overhead"] / self.total_seconds if self.total_seconds else math.nan

    @property
    def rates(self) -> tuple[float, ...]:
        """Measured acceptance by rank: the unconditional chance that the walk goes on to child
        number k (0-based here)."""
        return tuple(count / self.visited for count in self.accepted) if self.visited else ()


def _counted(counts: Sequence[int], ranks: Iterable[int]) -> tuple[int, ...]:
    counted = list(counts)
    for rank in ranks:
        counted += [0] * (rank + 1 - len(counted))
        counted[rank] += 1
    return tuple(counted)


def repetition(tokens: Sequence[int], n: int = 8) -> float:
    """Share of the n-grams of `tokens` that stood there before, 0 to 1. High values flatter every
    acceptance figure."""
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0

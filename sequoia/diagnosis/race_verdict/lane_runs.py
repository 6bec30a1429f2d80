"""The runs of each lane of a race, as plain values from which the verdict of the race is computed.
A race decodes a prompt in several ways side by side; each way is a lane."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sequoia.algorithm.expected_steps import ExpectedSteps

Step = tuple[int, float]  # tokens, seconds


@dataclass(frozen=True)
class LaneRun:
    """One lane in one race. prompt, seed: those of the lane; only lanes with the same prompt and
    seed are compared. steps: (tokens, seconds) of each step. text: the ids of the emitted tokens,
    or () if unknown. clock: the name of the simulated clock that gave the times, empty if they were
    measured. expected: the steps that the lane is expected to need for the text of each lane with
    the same prompt, None if unknown."""

    prompt: Hashable
    seed: int
    steps: tuple[Step, ...]
    text: tuple[int, ...] = field(default=(), repr=False)
    clock: str = ""
    expected: ExpectedSteps | None = None

    @property
    def race(self) -> tuple[Hashable, int]:
        return self.prompt, self.seed

    @cached_property
    def tokens(self) -> int:
        return sum(tokens for tokens, _ in self.steps)

    @cached_property
    def _running(self) -> NDArray[np.float64]:
        """Running totals of tokens, steps and seconds, before each step and after the last:
        (3, steps + 1)."""
        tokens, seconds = np.array(self.steps, float).reshape(-1, 2).T
        rows = np.vstack([tokens, np.ones_like(tokens), seconds])
        return np.hstack([np.zeros((3, 1)), np.cumsum(rows, axis=1)])

    def segments(self, tokens: int, count: int) -> NDArray[np.float64]:
        """(2, count): steps and seconds in each of `count` segments of equal length, from the start
        of the text to position `tokens`. A step that crosses the end of a segment is divided
        among the segments in proportion to its tokens in each."""
        made, steps, seconds = self._running
        cuts = np.linspace(0, tokens, count + 1)
        return np.diff(np.vstack([np.interp(cuts, made, steps), np.interp(cuts, made, seconds)]))


@dataclass(frozen=True)
class LaneRuns:
    """One lane in one or several races. kind: "plain", "chain" or "tree"; a chain is a tree in
    which no node has two children. on: the name of the lane's prompt in a race of two prompts,
    otherwise empty."""

    name: str
    kind: str
    runs: tuple[LaneRun, ...]
    on: str = ""

    @property
    def races(self) -> list[tuple[Hashable, int]]:
        """The races in which the lane made a step."""
        return [run.race for run in self.runs if run.tokens]

    @property
    def tokens(self) -> int:
        return sum(run.tokens for run in self.runs)

    @property
    def steps(self) -> int:
        return sum(len(run.steps) for run in self.runs)

    @property
    def seconds(self) -> float:
        return sum(seconds for run in self.runs for _, seconds in run.steps)

    @property
    def tokens_per_step(self) -> float:
        return self.tokens / self.steps

    @property
    def expected_tokens_per_step(self) -> float | None:
        """Expected tokens per step over all runs in which the lane made a step. None if there is
        no such run, or if one has no `expected`."""
        expected = [run.expected for run in self.runs if run.tokens]
        tokens = sum(sum(one.tokens) for one in expected if one)
        steps = sum(sum(map(sum, one.steps)) for one in expected if one)
        return tokens / steps if steps and None not in expected else None

    @property
    def step_seconds(self) -> float:
        return self.seconds / self.steps


def common_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """The number of leading tokens that two texts share."""
    for count, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return count
    return min(len(one), len(other))

"""StepTrace: the record of one decoding step. The numbers shown about a run are computed from such
records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Literal

from pydantic import (
    GetPydanticSchema,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    with_config,
)
from pydantic_core.core_schema import SerializationInfo

from sequoia.algorithm.residual_heads import ResidualHead
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.checked_types import (
    CONFIG,
    Count,
    Many,
    Name,
    PhaseSeconds,
    Probability,
    Seconds,
    Text,
)
from sequoia.errors import BadTrace
from sequoia.validate_input import shown

PHASES = ("draft", "verify", "overhead")
FINISHES = Literal["eos", "length", "context"]
Finish = Annotated[str, GetPydanticSchema(lambda _, handler: handler.generate_schema(FINISHES))]


def _numbered_tree(number: object, info: ValidationInfo) -> Tree:
    trees = info.context["trees"] if info.context else []
    if type(number) is not int or not 0 <= number < len(trees):
        raise BadTrace(f"tree: {shown(number)}; the run has {len(trees)} trees")
    return trees[number]


def _number_of(tree: Tree, info: SerializationInfo) -> int:
    return info.context["trees"][tree] if info.context else 0


# In JSON, a step has the number of its tree among the run's trees. The context has these trees, or,
# to write the step, the number of each.
NumberedTree = Annotated[
    Tree,
    PlainValidator(_numbered_tree),
    PlainSerializer(_number_of),
    WithJsonSchema({"type": "integer"}),
]


@with_config(CONFIG)
@dataclass(frozen=True)
class StepTrace:
    """One step of decoding. In memory, in files and in messages to the page it has the same fields;
    see `NumberedTree` for the one that differs.

    index: 0 for the run's first step.
    prefix_len: the number of tokens before the root. The root is the last token known before the
        step.
    tree, tokens: the drafted tree, and the token id of each node, the root's included.
    draft_p, target_p: the draft's and the target's probability of each node's token after its
        parent. None for the root. target_p is also None for a node if verification did not
        use the target's distribution after its parent.
    emitted: the token ids that the step added: the accepted path without the root, then the bonus
        token, cut where the run ended.
    seconds: time by phase. draft: draft model; verify: target model; overhead: everything else.
    finish: why the run ended with this step, or None.
    clock: empty if `seconds` were measured, else the machine for which they were simulated.
    level_seconds: the time of each draft pass, the root's first; empty if unknown.
    residual_heads: the most probable tokens of the residual distributions (see residual_heads.py):
        one head for each trial, then one for the bonus token; empty if not recorded.
    text: the text that each emitted token added, "" while a character is incomplete; empty until
        a Recorder has added it.
    """

    index: Count
    prefix_len: Count
    tree: NumberedTree
    tokens: Many[Count]
    draft_p: Many[Probability | None]
    target_p: Many[Probability | None]
    verdict: Verdict
    emitted: Many[Count]
    seconds: PhaseSeconds
    finish: Finish | None = None
    clock: Name = ""
    level_seconds: Many[Seconds] = field(default=(), compare=False)  # part of `seconds`
    residual_heads: Many[ResidualHead] = ()
    text: Many[Text] = ()

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

    @property
    def shown_tokens(self) -> frozenset[int]:
        """The ids of all tokens that a picture of the step shows."""
        heads = (head.tokens for head in self.residual_heads)
        return frozenset(chain(self.tokens, self.emitted, *heads))


@dataclass(frozen=True)
class DecodeStats:
    """Totals of a run, computed from its traces only.

    clock: the same for all steps, see StepTrace.
    """

    steps: int = 0
    tokens: int = 0
    seconds: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    clock: str = ""

    @classmethod
    def fold(cls, traces: Iterable[StepTrace]) -> DecodeStats:
        """The totals of all `traces`."""
        stats = cls()
        for trace in traces:
            stats = stats.add(trace)
        return stats

    def add(self, trace: StepTrace) -> DecodeStats:
        """These totals with the step `trace` added. Raises BadTrace if the times of `trace` come
        from another clock: measured and simulated times must not be summed."""
        if self.steps:
            require_one_clock(trace, self)
        return DecodeStats(
            self.steps + 1,
            self.tokens + len(trace.emitted),
            {phase: self.seconds[phase] + trace.seconds.get(phase, 0.0) for phase in PHASES},
            trace.clock,
        )

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

    @property
    def tokens_per_step(self) -> float:
        return self.tokens / self.steps if self.steps else math.nan

    @property
    def overhead_share(self) -> float:
        """Share of the time in which neither model was running, 0 to 1."""
        return self.seconds["overhead"] / self.total_seconds if self.total_seconds else math.nan


def require_one_clock(one: StepTrace | DecodeStats, other: StepTrace | DecodeStats) -> None:
    """Raises BadTrace if the times of `one` and `other` come from different clocks."""
    if one.clock != other.clock:
        raise BadTrace(
            f"{_clock_words(one.clock)} cannot be combined with {_clock_words(other.clock)}; all "
            "times must be of one clock"
        )


def _clock_words(clock: str) -> str:
    return f"simulated times of {shown(clock)}" if clock else "measured times"


def emitted_tokens(traces: Iterable[StepTrace]) -> list[int]:
    """The tokens of all steps, in order."""
    return [token for trace in traces for token in trace.emitted]


def common_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """The number of leading tokens that two texts share."""
    for count, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return count
    return min(len(one), len(other))


def repetition(tokens: Sequence[int], size: int = 8) -> float:
    """Share of the n-grams of `size` tokens in `tokens` that occurred earlier in the text, 0 to 1.
    Repetitive text is easier to draft."""
    grams = [tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0

"""The analysis of the lanes of a race after its end, as values: where the time went, what to try,
and whether the output is lossless. `sequoia.diagnosis` and `sequoia.exactness` compute them; the
sentences about them are made in ui/words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema

from sequoia.algorithm.step_trace import PHASES
from sequoia.algorithm.tree import Tree
from sequoia.checked_types import (
    Amount,
    Count,
    Many,
    Name,
    Node,
    Probability,
    Seconds,
    Truth,
    Words,
)
from sequoia.errors import BadTrace
from sequoia.saved_files.run_file import SUM

MOST_LANES = 4
MAX_CELLS = 24
MAX_CONTEXT = 120
PARTS = ("tokens", *PHASES, "plain")
# Whether decoding was lossless. At temperature 0: "exact", "tie", "bug" and "undecided". At higher
# temperatures: "fits" (the samples fit the distribution), "poor" (they fit it poorly), "bug", and
# "blind" (no difference could have been found). "none": there was nothing, or too little, to
# compare.
Kind = Literal["exact", "tie", "bug", "undecided", "fits", "poor", "blind", "none"]
# Why there was no check, or why it ended before all samples were drawn.
Why = Literal[
    "", "no_plain_text", "two_prompts", "not_requested", "time_limit", "other_run", "stopped"
]
Duration = Annotated[float, Field(strict=True, gt=0, le=1e6)]  # seconds
SavedTree = Annotated[
    Tree,
    PlainValidator(Tree.from_parents),
    PlainSerializer(lambda tree: tree.parents),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}}),
]


# -- where the time went ---------------------------------------------------------------------------


@dataclass(frozen=True)
class StepCosts:
    """A mean step. tokens: emitted. draft, verify, overhead: seconds. plain: seconds per token of
    plain decoding."""

    tokens: Duration
    draft: Seconds
    verify: Duration
    overhead: Seconds
    plain: Duration

    @property
    def seconds(self) -> float:
        return self.draft + self.verify + self.overhead

    @property
    def speedup(self) -> float:
        """Over plain decoding."""
        return self.tokens * (self.plain / self.seconds)

    def each_as_in(self, other: StepCosts) -> dict[str, float]:
        """For each of PARTS, the speed-up of this step with that part alone as in `other`."""
        return {part: replace(self, **{part: getattr(other, part)}).speedup for part in PARTS}


@dataclass(frozen=True)
class Bar:
    """value: the speed-up left after the losses up to this bar. loss: how much lower this bar is
    than the one before it (0 for the first)."""

    name: str
    value: float
    loss: float


@dataclass(frozen=True)
class TimeBreakdown:
    """A mean step of a run, beside a token of plain decoding as a step of its own. See
    where_time_went.py in `sequoia.diagnosis`."""

    step: StepCosts
    token: StepCosts

    @property
    def rest(self) -> float:
        """Seconds of a plain token outside the target's pass."""
        return self.token.draft + self.token.overhead

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The bars "tokens", "verify", "draft" and "overhead"."""
        costs = replace(self.step, draft=0.0, verify=self.token.verify, overhead=self.rest)
        values = [costs.speedup]
        for part in ("verify", "draft", "overhead"):
            costs = replace(costs, **{part: getattr(self.step, part)})
            values.append(costs.speedup)
        losses = [0.0, *(before - after for before, after in pairwise(values))]
        return tuple(map(Bar, ("tokens", "verify", "draft", "overhead"), values, losses))

    def without_losses(self, tokens: float) -> dict[str, float]:
        """The speed-up of the run with one part as good as it could be: `tokens` per step, no
        drafting, a target pass or an overhead no longer than those of a plain token."""
        step = self.step
        good = StepCosts(
            tokens,
            0.0,
            min(step.verify, self.token.verify),
            min(step.overhead, self.rest),
            step.plain,
        )
        return step.each_as_in(good)


# -- what to try -----------------------------------------------------------------------------------


Change = Literal["plain", "fastest_tree", "smaller_draft", "larger_target"]


@dataclass(frozen=True)
class Loss:
    """A cause of lost speed-up. without: the speed-up of the same run without this loss, but with
    all other losses."""

    name: Literal["acceptance", "draft", "verify", "overhead"]
    without: Amount


@dataclass(frozen=True)
class Remedy:
    """A change that may help. predicted: its speed-up over plain decoding, which is 1 by definition
    for plain decoding itself.

    tree: the tree to use instead; None for a change of the models, which is a hypothesis.
    """

    change: Change
    predicted: Amount
    tree: SavedTree | None = None


Remedies = Annotated[Many[Remedy], Field(max_length=32)]


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of one run.

    costs: of a mean step. good_tokens: per step, with the acceptance of a well-matched pair.
    losses: largest first. remedies: changes predicted above `noise`, best first.
    noise: predictions up to this speed-up may exceed the run's by chance or prediction error alone.
    unclear: changes predicted above the run's speed-up but not above `noise`, best first.
    """

    costs: TimeBreakdown
    good_tokens: Amount
    losses: Annotated[Many[Loss], Field(max_length=4)]
    remedies: Remedies
    noise: Amount
    unclear: Remedies = ()

    @property
    def speedup(self) -> float:
        """Over the plain run."""
        return self.costs.step.speedup

    @property
    def largest_loss(self) -> str | None:
        """Name of the largest loss; None if there is none worth mentioning."""
        return self.losses[0].name if self.losses else None


# -- is it lossless? -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """One token of a text, compared with the target's logits there. index: its index. margin: how
    far its logit is below the best in float32. error: by how much rounding changes the logits there
    at most. Both are differences of logits, measured."""

    index: Node
    margin: Amount
    error: Amount

    @property
    def is_tie(self) -> bool:
        return self.margin <= 2 * self.error


@dataclass(frozen=True)
class TextMatch:
    """A run's tokens compared with plain decoding's: verdict "exact", "tie", "bug" or "undecided".

    compared: the number of tokens of the shorter text. dtype: the name of the target's. index: the
    index of the first token that differs, or None. first: the place there, None if it could not be
    computed; its margin is that of the run's or plain decoding's token, whichever is further below
    the best. later: the first later token of the run that is not even a tie, or None. problem: why
    the check could not decide, or "".
    """

    verdict: Literal["exact", "tie", "bug", "undecided"]
    compared: Count
    dtype: Name
    index: Node | None = None
    first: Place | None = None
    later: Place | None = None
    problem: Words = ""


@dataclass(frozen=True)
class Cell:
    """Counts one token. The last cell may instead count all rare tokens, with or without a common
    one. text: the token's text, None for the rare tokens alone. more: true for a token with the
    rare ones. share: expected probability of the cell. seen: number drawn."""

    text: Name | None
    more: Truth
    share: Probability
    seen: Count


@dataclass(frozen=True)
class SampleCount:
    """The counts of sampled tokens at one position.

    draws: number drawn so far. wanted: number to draw in total. going: whether more are being
    drawn. limit: seconds after which the drawing ends. lane: index of the lane whose text has the
    position. position: number of that lane's tokens before it. looked: how many positions were
    examined to choose it. bits: entropy of the target's distribution there. context: the end of the
    text before it. statistic: chi-square or None. freedom: its degrees of freedom.
    detectable_difference: roughly how far the probability of the most probable token must be off to
    be detected, or None.
    """

    draws: Count
    wanted: Count
    going: Truth
    limit: Seconds
    lane: Annotated[int, Field(strict=True, ge=0, lt=MOST_LANES)]
    position: Node
    looked: Node
    bits: Amount
    context: Annotated[str, Field(strict=True, max_length=MAX_CONTEXT)]
    freedom: Count
    cells: Annotated[Many[Cell], Field(max_length=MAX_CELLS)]
    statistic: Amount | None = None
    detectable_difference: Probability | None = None


def _checked_count(count: SampleCount) -> SampleCount:
    if sum(cell.share for cell in count.cells) > SUM:
        raise BadTrace("count: the shares of the cells add up to more than 1")
    return count


@dataclass(frozen=True)
class Lossless:
    """Whether a lane's text is lossless. match: at temperature 0, the comparison of the texts.
    count, p_value: at higher temperatures, the sampled tokens and the p-value of their test."""

    kind: Kind
    label: Literal["measured", "recorded"]
    match: TextMatch | None = None
    p_value: Probability | None = None
    count: Annotated[SampleCount, AfterValidator(_checked_count)] | None = None
    why: Why = ""


@dataclass(frozen=True)
class Result:
    """The analysis of a lane. A part is None if it could not be computed."""

    time_breakdown: TimeBreakdown | None = None
    what_to_try: Diagnosis | None = None
    lossless: Lossless | None = None

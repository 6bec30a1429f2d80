"""The speed-up waterfall: from the tokens of a step down to the speed-up that the clock shows, loss
by loss. Measures nothing.

Both runs are measured ones. With t tokens a step, step times v (verify), d (draft), o (overhead),
and a plain token that takes P = pv + po (its own pass, and all the rest of it), the bars stand at

    tokens     t                                    a step costs no more than a plain token
    verify     t P / (P + (v - pv))                 its pass takes v and not pv
    draft      t P / (P + (v - pv) + d)             and the tree has to be drafted
    overhead   t P / (P + (v - pv) + d + (o - po))  and the rest costs more than a plain token's

The last denominator is the step's time, so the last bar is the measured speed-up and no rest is
left. The order matters: a second more costs fewer points once the step is slow. It is that of the
reasons: the pass would be needed with the best draft of all, drafting is the price of the tokens,
and overhead is what an engine could do without. A loss below 0 is a gain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sequoia.algorithm.step_trace import PHASES, DecodeStats
from sequoia.errors import BadTrace
from sequoia.planning.explain_plan import time_words
from sequoia.validate_input import number, whole

_FASTER = (
    " More tokens make no pass faster; the machine was, or it had fewer tokens to look back on."
)
# seconds of a run; a clock shows no less, and quotients inside stay finite
_LEAST = 1e-9
_MOST = 1e9


@dataclass(frozen=True)
class Bar:
    """One bar: `value` is the speed-up after it, `loss` the points it took off the bar before
    (the first takes none)."""

    name: str
    value: float
    loss: float
    sentence: str


@dataclass(frozen=True)
class TimeBreakdown:
    """The bars from "tokens" to "overhead"."""

    bars: tuple[Bar, ...]

    @property
    def speedup(self) -> float:
        """Measured speed-up over the plain run: the last bar."""
        return self.bars[-1].value

    @property
    def largest(self) -> Bar | None:
        """The bar that lost most; None where none lost anything."""
        bar = max(self.bars, key=lambda bar: bar.loss)
        return bar if bar.loss > 0 else None

    @property
    def sentence(self) -> str:
        """Both ends and what lies between them."""
        losses = ", ".join(
            f"{bar.name} {-bar.loss:+.2f}".replace("-", "−") for bar in self.bars[1:]
        )
        return (
            f"{self.bars[0].value:.2f} tokens a step end as {self.speedup:.2f}× plain decoding, "
            f"measured: {losses}."
        )


def time_breakdown(stats: DecodeStats, plain: DecodeStats) -> TimeBreakdown:
    """The waterfall of the run `stats` against the plain run `plain`.

    Raises BadTrace where either run has no step or token, or its passes took no time.
    """
    step = per_step(stats, "the run")
    token = per_token(plain)
    tokens = stats.tokens / stats.steps
    base = sum(token.values())
    # a plain token's own, which the step may cost as well
    rest = token["draft"] + token["overhead"]
    costs = base, step["verify"] + rest, step["verify"] + rest + step["draft"], sum(step.values())
    values = [tokens * (base / cost) for cost in costs]
    losses = [0.0, *(before - after for before, after in pairwise(values))]
    return TimeBreakdown(
        tuple(
            map(
                Bar,
                ("tokens", "verify", "draft", "overhead"),
                values,
                losses,
                _sentences(tokens, step, token),
            )
        )
    )


def per_step(stats: DecodeStats, what: str) -> dict[str, float]:
    """Seconds of a mean step by phase. Raises BadTrace for a run without steps, tokens or
    time of its passes."""
    steps = whole(stats.steps, f"{what}: steps", 1, 2**53, BadTrace)
    whole(stats.tokens, f"{what}: tokens", 1, 2**53, BadTrace)
    return {
        phase: number(
            stats.seconds[phase],
            f"{what}: {phase} seconds",
            _LEAST if phase == "verify" else 0,
            _MOST,
            BadTrace,
        )
        / steps
        for phase in PHASES
    }


def per_token(plain: DecodeStats) -> dict[str, float]:
    """Seconds of a token of the plain run by phase. Raises BadTrace as `per_step` does."""
    return {
        phase: seconds * plain.steps / plain.tokens
        for phase, seconds in per_step(plain, "the plain run").items()
    }


def _sentences(tokens: float, step: dict[str, float], token: dict[str, float]) -> Iterator[str]:
    yield (
        f"{tokens:.2f} tokens a step, measured: the speed-up if a step cost no more "
        "than a plain token."
    )
    times = step["verify"] / token["verify"]
    yield (
        f"The target's pass over a tree takes {time_words(step['verify'])}, over one token "
        f"{time_words(token['verify'])}: {times:.2f} times as long, "
        f"measured.{_FASTER * (round(times, 2) < 1)}"
    )
    share = f"{step['draft'] / sum(step.values()):.0%}".replace("%", " %")
    yield f"Drafting takes {time_words(step['draft'])} a step, {share} of its time, measured."
    yield (
        f"All the rest takes {time_words(step['overhead'])} a step, for a plain token "
        f"{time_words(token['draft'] + token['overhead'])}, measured."
    )

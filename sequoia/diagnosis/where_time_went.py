"""Where the time of a run went: from the tokens per step down to the measured speed-up, loss by
loss.

A step emits t tokens and takes v + d + o seconds (verify, draft, overhead). A token of plain
decoding takes P = pv + po seconds (its pass, everything else). The bars are

    tokens     t                                    if a step took as long as a plain token
    verify     t P / (P + (v - pv))                 but its target pass takes v instead of pv
    draft      t P / (P + (v - pv) + d)             and the tree has to be drafted
    overhead   t P / (P + (v - pv) + d + (o - po))  and the rest takes o instead of po

The last denominator is the time of a step, so the last bar is the measured speed-up. The order
matters, because the same time costs less speed-up in a step that is already slow. Verification
comes first, because even a perfect draft needs it. Drafting comes next, because without it a step
would emit only one token. Overhead is last, because a better engine could avoid it. A negative loss
is a gain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sequoia.algorithm.step_trace import PHASES, DecodeStats, require_one_clock
from sequoia.errors import BadTrace
from sequoia.planning.figure_words import time_words
from sequoia.validate_input import number, whole

_FASTER = (
    " More tokens do not make a pass faster: the machine was faster, or the context was shorter."
)
# Bounds of a run's seconds in a phase, so that all quotients stay finite. Only target passes have
# the lower bound.
_LEAST = 1e-9
_MOST = 1e9


@dataclass(frozen=True)
class Bar:
    """value: the speed-up left after the losses up to this bar. loss: how much lower this bar is
    than the one before it (0 for the first)."""

    name: str
    value: float
    loss: float
    sentence: str


def time_breakdown(stats: DecodeStats, plain: DecodeStats) -> tuple[Bar, ...]:
    """The bars "tokens", "verify", "draft" and "overhead" of the run `stats`, compared with the
    plain run `plain`.

    Raises BadTrace if a run has no step or token, if a time is out of range (target passes must
    take some time), or if the two runs were not timed by the same clock.
    """
    require_one_clock(stats, plain)
    step = per_step(stats, "the run")
    token = per_token(plain)
    tokens = stats.tokens / stats.steps
    base = sum(token.values())
    rest = token["draft"] + token["overhead"]  # po: also in plain decoding, so no loss
    costs = base, step["verify"] + rest, step["verify"] + rest + step["draft"], sum(step.values())
    values = [tokens * (base / cost) for cost in costs]
    losses = [0.0, *(before - after for before, after in pairwise(values))]
    names = "tokens", "verify", "draft", "overhead"
    return tuple(map(Bar, names, values, losses, _sentences(tokens, step, token)))


def per_step(stats: DecodeStats, what: str) -> dict[str, float]:
    """Mean seconds per step, by phase. Raises BadTrace for a run without steps or tokens, or if a
    time is out of range. The message calls the run `what`."""
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
    """Mean seconds per token of the plain run, by phase. Raises BadTrace as `per_step` does."""
    return {
        phase: seconds * plain.steps / plain.tokens
        for phase, seconds in per_step(plain, "the plain run").items()
    }


def _sentences(tokens: float, step: dict[str, float], token: dict[str, float]) -> Iterator[str]:
    yield (
        f"{tokens:.2f} tokens per step would be the speed-up if a step took only as long as one "
        "token of plain decoding."
    )
    times = step["verify"] / token["verify"]
    yield (
        f"The target's pass takes {time_words(step['verify'])} for all nodes of a step and "
        f"{time_words(token['verify'])} for one token: {times:.2f} times as long, "
        f"measured.{_FASTER * (round(times, 2) < 1)}"
    )
    share = f"{step['draft'] / sum(step.values()):.0%} of the step's time"
    yield f"Drafting takes {time_words(step['draft'])} per step, {share}, measured."
    if not step["overhead"] and not token["draft"] and not token["overhead"]:  # only if simulated
        yield "No time is counted for the rest of a step."
        return
    yield (
        f"Everything else takes {time_words(step['overhead'])} per step "
        f"({time_words(token['draft'] + token['overhead'])} per token in plain decoding), measured."
    )

"""Sentences of the Engines view: what a log of another engine says, and what to ask the engine
for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sequoia.engines.read_log import EngineLog
from sequoia.measuring.counted_acceptance import wilson
from ui.words.figures import time_words

# A pass over several tokens that takes at most this many times as long as one over a single token
# is still bound by reading the weights.
_FLAT = 1.3
FORCED = (
    "To check a predicted speed, let the engine accept as often as predicted, whatever it drafts "
    "(its text is then wrong):"
)


def acceptance_words(log: EngineLog) -> str:
    """How often draft tokens were accepted."""
    if not log.tried:
        return "The log has no acceptance, so rates must come from elsewhere."
    if log.is_least:
        return (
            f"{log.accepted:,} of {log.tried:,.0f} draft tokens were accepted, {log.rate:.1%}. The "
            "log also counts tokens that were not tried, after a rejected one. So a token that is "
            "tried is accepted more often than that; the plans below are cautious."
        )
    low, high = wilson(log.accepted, round(log.tried))
    return (
        f"Of {log.tried:,.0f} draft tokens that were tried (all before them in their chain were "
        f"accepted), {log.accepted:,} were accepted: {log.rate:.1%} (95% CI {low:.1%} to "
        f"{high:.1%}, as if they were independent). The others were drafted in vain."
    )


def rank_words(positions: Sequence[float]) -> str:
    """What predictions assume, and what a chain's log does not say. positions: see EngineLog."""
    given = [one / before for before, one in pairwise((1.0, *positions)) if before]
    places = (
        f" In the log it is {', '.join(f'{one:.0%}' for one in given)}, place by place."
        if len(given) > 1
        else ""
    )
    return (
        f"Predictions use one rate for all places of a chain.{places} A chain drafts first "
        "children only. How often a second or third child would be accepted is fitted to vectors "
        "recorded with other models; the range beside a speed-up is that of plausible fits."
    )


def passes_words(passes: Sequence[tuple[int, float]]) -> str:
    """Whether a pass is bound by memory or by arithmetic."""
    if len(passes) < 2:
        return "The log does not tell whether a pass is bound by memory or by arithmetic."
    (first, one), *_ = passes
    flat = [size for size, seconds in passes if seconds <= _FLAT * one]
    most, longest = passes[-1]
    words = (
        f"A pass over {most} tokens takes {longest / one:.1f} times as long as one over {first} "
        f"({time_words(one)}). "
    )
    if flat[-1] == most:
        return words + "Up to there it is bound by reading the weights: more tokens cost little."
    return (
        f"{words}It is bound by reading the weights up to {flat[-1]} tokens, and by arithmetic "
        "beyond: more tokens cost time there."
    )


def break_even_words(rate: float | None) -> str:
    """From which first rate on a draft pays."""
    if rate is None:
        return "With these step times no draft pays, however good it is."
    return (
        f"On this machine a draft pays if its first child is accepted more often than {rate:.0%}."
    )

"""A race on two prompts: compares each decoder's speed-up on one prompt with its speed-up on the
other.

A lane is one decoder on one prompt. Runs on different prompts are never compared directly: the
speed-up on a prompt is over plain decoding of the same prompt. The two speed-ups of a decoder have
no run in common, so their errors are independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from sequoia.diagnosis.race_verdict.compare_pair import Comparison, bounded_exp
from sequoia.diagnosis.race_verdict.lane_runs import LaneRuns
from sequoia.diagnosis.race_verdict.verdict import SpeedupRatio
from sequoia.diagnosis.student_t import critical_value

Pairs = Mapping[tuple[int, int], Comparison]  # by the lanes' indexes, the smaller one first


def prompts_of(lanes: Sequence[LaneRuns]) -> list[list[int]]:
    """For each prompt, the indexes of the lanes that raced on it."""
    names = dict.fromkeys(lane.on for lane in lanes)
    return [[i for i, lane in enumerate(lanes) if lane.on == on] for on in names]


def speedup_ratios(lanes: Sequence[LaneRuns], compared: Pairs) -> tuple[SpeedupRatio, ...]:
    """For each decoder that has a speed-up on both prompts, the ratio of these speed-ups. Empty if
    the race does not have two prompts.

    A decoder has no speed-up on a prompt if it is plain decoding, if it or plain decoding has no
    lane on that prompt, or if these two lanes are not in `compared`, for example because a run is
    too short.
    """
    groups = prompts_of(lanes)
    return tuple(_ratios(groups, lanes, compared)) if len(groups) == 2 else ()


def _ratios(
    groups: Sequence[Sequence[int]], lanes: Sequence[LaneRuns], compared: Pairs
) -> Iterator[SpeedupRatio]:
    first, second = (_speedups(group, lanes, compared) for group in groups)
    for name, (log, comparison) in first.items():
        if name in second:
            other_log, other = second[name]
            yield _ratio(name, log - other_log, comparison, other, groups, lanes)


def _speedups(
    group: Sequence[int], lanes: Sequence[LaneRuns], compared: Pairs
) -> dict[str, tuple[float, Comparison]]:
    """For each lane of `group` that was compared with the plain lane, by name: the logarithm of its
    speed-up over plain decoding, and that comparison. group: indexes of the lanes on one prompt."""
    plain = next((i for i in group if lanes[i].kind == "plain"), None)
    found = dict[str, tuple[float, Comparison]]()
    if plain is None:
        return found
    for i in group:
        pair = min(i, plain), max(i, plain)
        if pair in compared:
            comparison = compared[pair]
            sign = 1 if pair[0] == i else -1
            found[lanes[i].name] = sign * comparison.pace, comparison
    return found


def _ratio(
    name: str,
    log: float,
    one: Comparison,
    other: Comparison,
    groups: Sequence[Sequence[int]],
    lanes: Sequence[LaneRuns],
) -> SpeedupRatio:
    """The larger speed-up of the decoder `name` divided by the smaller one, with the 95% confidence
    interval of this ratio.

    log: the logarithm of the ratio, first prompt over second. one, other: the decoder's comparisons
    with plain decoding on the first and on the second prompt.
    """
    squares = one.error**2, other.error**2
    reach = critical_value(0.05, _freedom(squares, (one.freedom, other.freedom))) * math.sqrt(
        sum(squares)
    )
    larger, smaller = (lanes[group[0]].on for group in groups[:: 1 if log >= 0 else -1])
    log = abs(log)
    return SpeedupRatio(
        name,
        larger,
        smaller,
        bounded_exp(log),
        bounded_exp(log - reach),
        bounded_exp(log + reach),
    )


def _freedom(squares: tuple[float, float], freedoms: tuple[int, int]) -> int:
    """Degrees of freedom of the sum of two squared errors (Welch and Satterthwaite). freedoms:
    those of each squared error."""
    divisor = sum(square**2 / freedom for square, freedom in zip(squares, freedoms, strict=True))
    return max(1, int(sum(squares) ** 2 / divisor)) if divisor > 0 else sum(freedoms)

"""Decides one race or several pooled races: who is ahead, who ties, and how sure the verdict is.
Measures nothing and is independent of models.

A lane is a decoder that takes part in a race. In a race of two prompts, a decoder can have a lane
on each, and only lanes on the same prompt are compared.

Two lanes count as different if the confidence interval of their ratio excludes 1. Intervals and
p-values are corrected alike (Bonferroni): for the number of pairs compared, and for the number of
verdicts with p-values given on some of the same runs, this one included. Otherwise, comparing many
lanes, or racing on until a difference shows, would report a false difference in more than 5% of
cases. Lanes share a place only if no two of them are different.

The verdict on a stopped race shows intervals but no p-values, because the moment of stopping may
depend on who was ahead.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from sequoia.diagnosis.compare_runs import (
    LEVEL,
    Comparison,
    LaneRuns,
    Speedup,
    bounded_exp,
    compare_pair,
)
from sequoia.diagnosis.student_t import critical_value
from sequoia.diagnosis.verdict import (
    Headline,
    LanePlace,
    LaneSpeedup,
    PairVerdict,
    RaceVerdict,
    SpeedupRatio,
)
from sequoia.errors import BadTrace
from sequoia.validate_input import shown

Compared = Mapping[tuple[int, int], Comparison]  # by the lanes' indexes, each pair in both orders


def race_verdict(
    lanes: Sequence[LaneRuns], *, stopped: bool = False, looks: int = 1
) -> RaceVerdict:
    """The verdict on one race, or on several pooled races.

    stopped: whether a planned run is missing or unfinished, because of the Stop button or a time
    limit. looks: how many verdicts with p-values have been given on these runs or some of them,
    including this one. Raises BadTrace if the runs were timed by different clocks.
    """
    clock = _one_clock(lanes)
    compared = _compared(lanes)
    groups = prompts_of(lanes)
    orders = [_order(group, lanes, compared) for group in groups]
    ahead = {pair: found for pair, found in compared.items() if _is_ahead(pair, found)}
    trials = max(1, len(ahead)) * looks
    pairs = tuple(_pair_verdict(pair, found, trials, stopped) for pair, found in ahead.items())
    apart = {(pair.faster, pair.slower) for pair in pairs if pair.apart}
    next_trials = max(1, len(ahead)) * (looks + 1)  # further races lead to one more verdict
    more = [_more_races(order, compared, apart, next_trials) for order in orders]
    races = [{race for lane in group for race in lanes[lane].races} for group in groups]
    found = RaceVerdict(
        tuple(lane for order in orders for lane in order),
        _places(len(lanes), orders, apart),
        pairs,
        len({prompt for made in races for prompt, _ in made}),
        max(map(len, races), default=0),
        min((run.tokens for lane in lanes for run in lane.runs), default=0),
        stopped,
        bool(ahead) and all(found.paired for found in ahead.values()),
        max(filter(None, more), default=0) if more and None not in more else None,
        looks,
        clock,
        tuple(_speedup_ratios(groups, lanes, compared, looks)),
    )
    return replace(
        found,
        headlines=tuple(_headline(order, found, lanes) for order in orders),
        speedups=_speedups(orders, found, lanes),
    )


def prompts_of(lanes: Sequence[LaneRuns]) -> list[list[int]]:
    """For each prompt, the indexes of the lanes that raced on it."""
    names = dict.fromkeys(lane.prompt_name for lane in lanes)
    return [[i for i, lane in enumerate(lanes) if lane.prompt_name == name] for name in names]


def _compared(lanes: Sequence[LaneRuns]) -> Compared:
    found: dict[tuple[int, int], Comparison] = {}
    for one, other in combinations(range(len(lanes)), 2):
        same = lanes[one].prompt_name == lanes[other].prompt_name
        if same and (comparison := compare_pair(lanes[one], lanes[other])):
            found[one, other] = comparison
            found[other, one] = comparison.inverse
    return found


def _is_ahead(pair: tuple[int, int], found: Comparison) -> bool:
    """Whether the first lane of the pair is the faster one; of equally fast lanes, the one with the
    smaller index."""
    return found.pace > 0 or (found.pace == 0 and pair[0] < pair[1])


def _one_clock(lanes: Sequence[LaneRuns]) -> str:
    """Name of the simulated clock that gave all times; empty if they were measured. Raises BadTrace
    if the runs were timed by different clocks, because such times cannot be compared."""
    clocks = sorted({run.clock for lane in lanes for run in lane.runs})
    if len(clocks) > 1:
        raise BadTrace(
            f"the runs were timed by different clocks: {', '.join(map(shown, clocks))}; a verdict "
            "needs runs of the same clock"
        )
    return clocks[0] if clocks else ""


def _order(group: Sequence[int], lanes: Sequence[LaneRuns], compared: Compared) -> tuple[int, ...]:
    """The lanes of `group` that made a step, fastest first. They are ordered by their mean lead
    over the other lanes. Leads are taken from the comparisons of pairs, so that the order agrees
    with these as far as possible. If two lanes were not compared, for example because one has too
    few steps, the ratio of their overall paces is used."""
    moved = [lane for lane in group if lanes[lane].tokens and lanes[lane].seconds]

    def lead(lane: int) -> float:
        return sum(_lead(lane, other, lanes, compared) for other in moved if other != lane)

    return tuple(sorted(moved, key=lead, reverse=True))


def _lead(lane: int, other: int, lanes: Sequence[LaneRuns], compared: Compared) -> float:
    """Logarithm of the pace ratio, `lane` over `other`."""
    if found := compared.get((lane, other)):
        return found.pace
    return math.log(_pace(lanes[lane]) / _pace(lanes[other]))


def _pace(lane: LaneRuns) -> float:
    return lane.tokens / lane.seconds


def _pair_verdict(
    pair: tuple[int, int], found: Comparison, trials: int, stopped: bool
) -> PairVerdict:
    """pair: the faster lane first."""
    pace, per_step, step_time = found.intervals(LEVEL / trials)
    return PairVerdict(
        *pair,
        bounded_exp(found.pace),
        *pace,
        bounded_exp(found.logs[1]),
        bounded_exp(found.logs[2]),
        None if stopped else min(1.0, found.p * trials),
        pace[0] > 1,
        per_step,
        step_time,
        found.expected,
    )


def _headline(order: Sequence[int], verdict: RaceVerdict, lanes: Sequence[LaneRuns]) -> Headline:
    """order: the lanes on one prompt that made steps, fastest first."""
    name = lanes[order[0]].prompt_name if order else ""
    if len(order) < 2 or verdict.pair(order[0], order[1]) is None:
        return Headline(name, "too_short")
    leaders = [lane for lane in verdict.leaders if lane in order]
    if len(leaders) > 1:
        return Headline(name, "too_close")
    rival = _rival(order, verdict, lanes)
    kind = lanes[rival].kind
    alike = [lane for lane in order if lanes[lane].kind == kind]
    is_best = len(alike) > 1 and alike[0] == rival and lanes[order[0]].kind != kind
    best = kind if is_best else ""
    return Headline(name, "wins", order[0], rival, best)


def _rival(order: Sequence[int], verdict: RaceVerdict, lanes: Sequence[LaneRuns]) -> int:
    """The lane to compare the winner with, among those that it is clearly faster than. For a tree,
    this is the best chain; for a chain, the best tree; otherwise the next lane."""
    winner = order[0]
    wanted = {"tree": "chain", "chain": "tree"}.get(lanes[winner].kind)
    others = [lane for lane in order[1:] if getattr(verdict.pair(winner, lane), "apart", False)]
    return next((lane for lane in others if lanes[lane].kind == wanted), others[0])


def _speedups(
    orders: Sequence[Sequence[int]], verdict: RaceVerdict, lanes: Sequence[LaneRuns]
) -> tuple[LaneSpeedup | None, ...]:
    found: dict[int, LaneSpeedup] = {}
    for order in orders:
        plain = next((lane for lane in order if lanes[lane].kind == "plain"), None)
        for lane in order:
            over = order[-1] if plain is None else plain
            if lane != over:
                one = _speedup(lane, over, verdict, lanes)
                found[lane] = LaneSpeedup(over, one.code, one.ratio, one.low, one.high)
    return tuple(found.get(lane) for lane in range(len(lanes)))


def _speedup(lane: int, over: int, verdict: RaceVerdict, lanes: Sequence[LaneRuns]) -> Speedup:
    pair = verdict.pair(lane, over)
    if pair is None:
        return Speedup(_pace(lanes[lane]) / _pace(lanes[over]))
    if pair.faster == lane:
        return Speedup(pair.ratio, pair.least, pair.most)
    return Speedup(1 / pair.ratio, 1 / pair.most, 1 / pair.least)


def _places(
    lanes: int, orders: Sequence[Sequence[int]], apart: set[tuple[int, int]]
) -> tuple[LanePlace | None, ...]:
    """The place of each lane among the lanes on its prompt; None for a lane without steps."""
    found = {lane: place for order in orders for lane, place in _places_in(order, apart)}
    return tuple(found.get(lane) for lane in range(lanes))


def _places_in(
    order: Sequence[int], apart: set[tuple[int, int]]
) -> Iterator[tuple[int, LanePlace]]:
    """Each lane of `order` and its place. The place is usually 1 plus the number of lanes earlier
    in `order` that count as different from this lane (`apart`). It is worse where it must be: no
    lane gets a better place than an earlier lane, and lanes that count as different never share a
    place."""
    places = dict[int, int]()
    for lane in order:
        ahead = [place for other, place in places.items() if {(other, lane), (lane, other)} & apart]
        last = max(places.values(), default=1)
        places[lane] = max(last, 1 + len(ahead), 1 + max(ahead, default=0))
    shared = Counter(places.values())
    for lane, place in places.items():
        yield lane, LanePlace(place, shared[place] > 1)


def _more_races(
    order: Sequence[int], compared: Compared, apart: set[tuple[int, int]], trials: int
) -> int | None:
    """How many further races would find the difference measured between the first two lanes. 0 if
    they count as different already; None if unknown or too many."""
    first, second = (*order, -1, -1)[:2]
    if {(first, second), (second, first)} & apart:
        return 0
    found = compared.get((first, second))
    if found is None or not found.pace:
        return None
    races = found.races_to_find(bounded_exp(found.pace), LEVEL / trials)
    return max(1, races - found.races) if races else None


# -- two prompts: the speed-ups over plain decoding have no run in common, so their errors are
# independent


def _speedup_ratios(
    groups: Sequence[Sequence[int]], lanes: Sequence[LaneRuns], compared: Compared, looks: int
) -> Iterator[SpeedupRatio]:
    """For each decoder that was compared with plain decoding on both prompts, the ratio of its
    speed-ups. Nothing unless the race has two prompts. looks: as in `race_verdict`."""
    if len(groups) != 2:
        return
    one, other = (_over_plain(group, lanes, compared) for group in groups)
    prompts = [lanes[group[0]].prompt_name for group in groups]
    both = [name for name in one if name in other]
    for name in both:
        yield _speedup_ratio(name, prompts, (one[name], other[name]), len(both) * looks)


def _over_plain(
    group: Sequence[int], lanes: Sequence[LaneRuns], compared: Compared
) -> dict[str, Comparison]:
    """The comparison with plain decoding of each lane of `group`, by name."""
    plain = next((lane for lane in group if lanes[lane].kind == "plain"), -1)
    return {lanes[lane].name: found for lane in group if (found := compared.get((lane, plain)))}


def _speedup_ratio(
    name: str, prompts: Sequence[str], compared: tuple[Comparison, Comparison], trials: int
) -> SpeedupRatio:
    one, other = compared
    log = one.pace - other.pace
    squares = one.variances[0], other.variances[0]
    freedom = _freedom(squares, (one.freedom, other.freedom))
    reach = critical_value(LEVEL / trials, freedom) * math.sqrt(sum(squares))
    larger, smaller = prompts if log >= 0 else reversed(prompts)
    ends = (bounded_exp(abs(log) - reach), bounded_exp(abs(log) + reach))
    return SpeedupRatio(name, larger, smaller, bounded_exp(abs(log)), *ends)


def _freedom(squares: tuple[float, float], freedoms: tuple[int, int]) -> int:
    """Degrees of freedom of the sum of two squared errors (Welch and Satterthwaite). freedoms:
    those of each squared error."""
    divisor = sum(square**2 / freedom for square, freedom in zip(squares, freedoms, strict=True))
    return max(1, int(sum(squares) ** 2 / divisor)) if divisor > 0 else sum(freedoms)

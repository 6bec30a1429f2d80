"""Decides one race or several pooled races: who is ahead, who ties, and how sure the verdict is.
Measures nothing and is independent of models.

A lane is a decoder that takes part in a race. In a race of two prompts, a decoder can have a lane
on each, and only lanes on the same prompt are compared.

Two lanes count as different if the p-value of their pair is at most 5% after Holm's correction over
all pairs compared. A lane measured at least `PLAIN_RATIO` times as fast as plain decoding also
counts as different from it, whatever p is, if both have at least `PLAIN_TOKENS` tokens. So over
that many tokens, a lead this large is never a tie. Lanes share a place only if no two of them are
different.

The verdict on a stopped race shows intervals but no p-values, because the moment of stopping may
depend on who was ahead. If verdicts with p-values were given before on some of the same runs, p is
multiplied by the number of verdicts, this one included (Bonferroni). Otherwise, racing on until a
difference shows would report a false difference in more than 5% of cases.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from sequoia.diagnosis.race_verdict.compare_pair import (
    Comparison,
    Interval,
    bounded_exp,
    compare_pair,
)
from sequoia.diagnosis.race_verdict.elsewhere import Elsewhere
from sequoia.diagnosis.race_verdict.lane_runs import LaneRuns
from sequoia.diagnosis.race_verdict.sentence import details, sentence
from sequoia.diagnosis.race_verdict.two_prompts import prompts_of, speedup_ratios
from sequoia.diagnosis.race_verdict.verdict import LanePlace, PairVerdict, Verdict
from sequoia.errors import BadTrace
from sequoia.validate_input import shown

LEVEL = 0.05  # largest p-value at which two lanes count as different
RATIO_TO_FIND = 1.1  # there are enough races if they would find a true pace ratio of this size
PLAIN_RATIO = 1.4
PLAIN_TOKENS = 96
Pairs = Mapping[tuple[int, int], Comparison]  # by the lanes' indexes, the smaller one first


def race_verdict(
    lanes: Sequence[LaneRuns],
    *,
    stopped: bool = False,
    looks: int = 1,
    compare: Callable[[LaneRuns, LaneRuns], Comparison | None] = compare_pair,
    elsewhere: Elsewhere | None = None,
) -> Verdict:
    """The verdict on one race, or on several pooled races.

    stopped: whether a planned run is missing or unfinished, because of the Stop button or a time
    limit. looks: how many verdicts with p-values have been given on these runs or some of them,
    including this one. compare: `compare_pair`, or a function that caches its results. elsewhere: a
    machine on which a tree is predicted to win; the verdict's sentence may name this machine.
    Raises BadTrace if the runs were timed by different clocks.
    """
    clock = _one_clock(lanes)
    compared = {
        (one, other): found
        for one, other in combinations(range(len(lanes)), 2)
        if lanes[one].on == lanes[other].on and (found := compare(lanes[one], lanes[other]))
    }
    adjusted = holm({pair: min(1.0, found.p * looks) for pair, found in compared.items()})
    groups = prompts_of(lanes)
    orders = [_order(group, lanes, compared) for group in groups]
    pairs = tuple(
        _pair_verdict(pair, found, adjusted[pair], lanes, stopped)
        for pair, found in compared.items()
    )
    apart = {(pair.faster, pair.slower) for pair in pairs if pair.apart}
    more = [_more_races(order, compared, adjusted, pairs, looks) for order in orders]
    more_races, more_to_separate = map(_most, zip(*more, strict=True)) if more else (None, None)
    races = [{race for lane in group for race in lanes[lane].races} for group in groups]
    found = Verdict(
        tuple(lane for order in orders for lane in order),
        _places(len(lanes), orders, apart),
        pairs,
        _scope({prompt for made in races for prompt, _ in made}),
        max(map(len, races), default=0),
        min((run.tokens for lane in lanes for run in lane.runs), default=0),
        stopped,
        bool(compared) and all(found.paired for found in compared.values()),
        more_races == 0,
        more_races,
        more_to_separate,
        looks,
        clock,
        speedup_ratios(lanes, compared),
    )
    words = sentence(found, lanes, elsewhere)
    return replace(found, sentence=words, details=details(found, lanes))


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


def holm(ps: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    """Holm's correction of the p-values `ps`. If no lanes differ, the probability that any
    corrected p-value is at most 5% is itself at most 5%."""
    adjusted = dict[tuple[int, int], float]()
    largest = 0.0
    for done, (pair, p) in enumerate(sorted(ps.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, p * (len(ps) - done)))
        adjusted[pair] = largest
    return adjusted


def _order(group: Sequence[int], lanes: Sequence[LaneRuns], compared: Pairs) -> tuple[int, ...]:
    """The lanes of `group` that made a step, fastest first. They are ordered by their mean lead
    over the other lanes. Leads are taken from the comparisons of pairs, so that the order agrees
    with these as far as possible. If two lanes were not compared, for example because one has too
    few steps, the ratio of their overall paces is used."""
    moved = [lane for lane in group if lanes[lane].tokens and lanes[lane].seconds]

    def lead(lane: int) -> float:
        return sum(_lead(lane, other, lanes, compared) for other in moved if other != lane)

    return tuple(sorted(moved, key=lead, reverse=True))


def _lead(
    lane: int,
    other: int,
    lanes: Sequence[LaneRuns],
    compared: Pairs,
) -> float:
    """Logarithm of the pace ratio, `lane` over `other`."""
    if (lane, other) in compared:
        return compared[lane, other].pace
    if (other, lane) in compared:
        return -compared[other, lane].pace
    return math.log(_pace(lanes[lane]) / _pace(lanes[other]))


def _pace(lane: LaneRuns) -> float:
    return lane.tokens / lane.seconds


def _pair_verdict(
    pair: tuple[int, int],
    found: Comparison,
    p: float,
    lanes: Sequence[LaneRuns],
    stopped: bool,
) -> PairVerdict:
    sign = 1 if found.pace >= 0 else -1
    faster, slower = pair[::sign]
    pace, per_step, step_time = (_turned(ends, sign) for ends in found.intervals)
    ratio = bounded_exp(abs(found.pace))
    return PairVerdict(
        faster,
        slower,
        ratio,
        *pace,
        bounded_exp(sign * found.per_step),
        bounded_exp(sign * found.step_time),
        None if stopped else p,
        p <= LEVEL or _clearly_beats_plain(lanes[faster], lanes[slower], ratio),
        per_step,
        step_time,
        found.expected,
        p <= LEVEL,
    )


def _turned(ends: Interval, sign: int) -> Interval:
    """The interval of a ratio, or with sign -1 that of its inverse."""
    turned = [bound**sign for bound in ends]
    return min(turned), max(turned)


def _clearly_beats_plain(faster: LaneRuns, slower: LaneRuns, ratio: float) -> bool:
    long_enough = min(faster.tokens, slower.tokens) >= PLAIN_TOKENS
    return slower.kind == "plain" and ratio >= PLAIN_RATIO and long_enough


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
    place. The same rule as `lanePlaces` in ui/race/web/lane_totals.js."""
    places = dict[int, int]()
    for lane in order:
        ahead = [place for other, place in places.items() if {(other, lane), (lane, other)} & apart]
        last = max(places.values(), default=1)
        places[lane] = max(last, 1 + len(ahead), 1 + max(ahead, default=0))
    shared = Counter(places.values())
    for lane, place in places.items():
        yield lane, LanePlace(place, shared[place] > 1)


def _more_races(
    order: Sequence[int],
    compared: Pairs,
    adjusted: dict[tuple[int, int], float],
    pairs: Sequence[PairVerdict],
    looks: int,
) -> tuple[int | None, int | None]:
    """Two numbers of further races: those needed to find a true difference of 10% between the first
    two lanes, and those needed to find the difference measured between these lanes. The second is 0
    if they count as different already. Each number is None if it is unknown or too large."""
    if len(order) < 2:
        return None, None
    first = min(order[:2]), max(order[:2])
    if first not in compared:
        return None, None
    found = compared[first]
    # The level that Holm's correction sets for this pair: LEVEL divided by the number of pairs with
    # p-values at least as large, this pair included. After more races, this number is assumed to be
    # the same.
    rivals = sum(p >= adjusted[first] for p in adjusted.values())
    level = LEVEL / rivals / looks
    wanted = found.races_to_find(RATIO_TO_FIND, level)
    measured = found.races_to_find(bounded_exp(found.pace), level) if found.pace else None
    apart = any({pair.faster, pair.slower} == {*first} and pair.apart for pair in pairs)
    return _beyond(wanted, found.races), 0 if apart else _beyond(measured, found.races)


def _most(races: Sequence[int | None]) -> int | None:
    """The largest of several numbers of races; None if any is None."""
    return None if None in races else max(one or 0 for one in races)


def _beyond(races: int | None, made: int) -> int | None:
    """How many races are missing if `made` of the needed `races` are done."""
    return None if races is None else max(0, races - made)


def _scope(prompts: set[object]) -> str:
    return "this prompt" if len(prompts) == 1 else f"these {len(prompts)} prompts"

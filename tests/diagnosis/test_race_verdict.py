"""The verdict of a race: which lanes count as different, which tie, and how many more races are
needed. test_false_alarms.py counts errors over thousands of races. Some tests here check such rates
roughly, over a few hundred races with fixed seeds.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from sequoia.algorithm.expected_steps import SEGMENTS, ExpectedSteps
from sequoia.diagnosis.compare_runs import LaneRun, LaneRuns, Speedup, compare_pair, speedup
from sequoia.diagnosis.race_verdict import _places, race_verdict
from sequoia.diagnosis.student_t import critical_value, two_sided_p
from sequoia.diagnosis.verdict import Headline, RaceVerdict
from sequoia.errors import BadTrace

TOKENS = 96
Draw = Callable[[random.Random], tuple[int, float]]


def plain_step(rng: random.Random) -> tuple[int, float]:
    return 1, rng.lognormvariate(math.log(0.008), 0.1)


def drafted(mean_seconds: float, most: int = 6) -> Draw:
    """Steps of 1 to `most` tokens."""

    def step(rng: random.Random) -> tuple[int, float]:
        return rng.randint(1, most), rng.lognormvariate(math.log(mean_seconds), 0.1)

    return step


def run_of(draw: Draw, rng: random.Random, race: int = 0, *, text: bool = False) -> LaneRun:
    """A run of TOKENS tokens. If `text`, all such runs have the same text."""
    steps = list[tuple[int, float]]()
    while (left := TOKENS - sum(tokens for tokens, _ in steps)) > 0:
        tokens, seconds = draw(rng)
        steps.append((min(tokens, left), seconds))
    return LaneRun("prompt", race, tuple(steps), tuple(range(TOKENS)) if text else ())


def lane_of(name: str, kind: str, draw: Draw, seed: int, races: int = 1) -> LaneRuns:
    rng = random.Random(seed)
    return LaneRuns(name, kind, tuple(run_of(draw, rng, race) for race in range(races)))


PLAIN = lane_of("Plain", "plain", plain_step, 1)


# -- Student's t -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("freedom", "critical"),
    [(1, 12.706), (120, 1.980)],
)
def test_quantiles_are_those_of_the_tables(freedom: int, critical: float) -> None:
    """The critical values are from printed tables of Student's t-distribution."""
    assert critical_value(0.05, freedom) == pytest.approx(critical, abs=6e-4)
    assert two_sided_p(critical, freedom) == pytest.approx(0.05, abs=2e-4)
    assert two_sided_p(0.0, freedom) == 1


# -- pairs -----------------------------------------------------------------------------------------


def test_pace_is_tokens_per_step_over_step_time() -> None:
    chain = lane_of("Chain", "chain", drafted(0.012), 2)
    found = compare_pair(chain, PLAIN)
    run = chain.runs[0]
    beside = PLAIN.runs[0]
    per_step = (run.tokens / len(run.steps)) / (beside.tokens / len(beside.steps))
    assert math.exp(found.logs[1]) == pytest.approx(per_step)
    assert found.pace == pytest.approx(found.logs[1] - found.logs[2])
    pace = (chain.tokens / chain.seconds) / (PLAIN.tokens / PLAIN.seconds)
    assert math.exp(found.pace) == pytest.approx(pace)


def test_one_of_five_runs_that_was_slowed_down_as_a_whole_leaves_no_win() -> None:
    tree = lane_of("Tree", "tree", drafted(0.012), 2, races=5)
    plain = lane_of("Plain", "plain", plain_step, 1, races=5)
    assert speedup(tree, plain).code == "win"
    first, *others = tree.runs
    slow = replace(first, steps=tuple((tokens, 5 * seconds) for tokens, seconds in first.steps))
    disturbed = speedup(replace(tree, runs=(slow, *others)), plain)
    assert disturbed.code == "no_clear_difference"
    assert disturbed.ratio > 1.5


def test_tokens_per_step_and_step_time_have_intervals_of_their_own() -> None:
    """Each interval contains its ratio. If the texts differ, the two variances add up to that of
    the pace."""
    chain = lane_of("Chain", "chain", drafted(0.012), 2)
    (pair,) = race_verdict([PLAIN, chain]).pairs
    for ratio, (least, most) in (
        (pair.per_step, pair.per_step_range),
        (pair.step_time, pair.step_time_range),
    ):
        assert least < ratio < most
        assert math.sqrt(least * most) == pytest.approx(ratio)
    found = compare_pair(chain, PLAIN)
    pace, per_step, step_time = found.variances
    assert pace == pytest.approx(per_step + step_time)
    swapped = race_verdict([chain, PLAIN]).pairs[0]
    assert swapped.per_step_range == pytest.approx(pair.per_step_range)


def test_equal_texts_are_compared_at_the_same_positions() -> None:
    """Passages that are hard for both lanes cancel. Here both lanes emit the same tokens in each
    step, and their step times differ by a constant factor. So only the assumed error of the clock
    is left."""
    rng = random.Random(3)
    run = run_of(drafted(0.01), rng, text=True)
    slower = LaneRun(
        "prompt", 0, tuple((tokens, 1.1 * seconds) for tokens, seconds in run.steps), run.text
    )
    lanes = [LaneRuns("a", "tree", (run,)), LaneRuns("b", "tree", (slower,))]
    (pair,) = race_verdict(lanes).pairs
    assert (pair.faster, pair.apart) == (0, True)
    assert pair.ratio == pytest.approx(1.1)
    other = [
        LaneRuns(lane.name, "tree", tuple(LaneRun("prompt", 0, one.steps) for one in lane.runs))
        for lane in lanes
    ]
    (unpaired,) = race_verdict(other).pairs
    assert not unpaired.apart
    assert unpaired.most / unpaired.least > 1.5 * pair.most / pair.least


def test_texts_that_part_early_are_not_compared_by_position() -> None:
    rng = random.Random(4)
    one = run_of(drafted(0.01), rng, text=True)
    other = LaneRun("prompt", 0, one.steps, (*range(20), *range(200, 276)))
    found = compare_pair(LaneRuns("a", "tree", (one,)), LaneRuns("b", "tree", (other,)))
    assert not found.paired


def test_one_race_cannot_show_a_difference_of_ten_percent() -> None:
    """An interval computed only from the segments of one run would be too narrow. It would ignore
    how much runs differ from each other."""
    verdict = race_verdict(
        [lane_of("a", "tree", drafted(0.01), 5), lane_of("b", "tree", drafted(0.011), 6)]
    )
    (pair,) = verdict.pairs
    assert not pair.apart
    assert math.log(pair.most / pair.ratio) > math.log(1.1)
    assert verdict.more_races > 10
    assert [place.place for place in verdict.places] == [1, 1]


def test_more_races_narrow_the_interval_until_they_are_enough() -> None:
    def verdict(races: int) -> RaceVerdict:
        a = lane_of("a", "tree", drafted(0.01), 7, races)
        return race_verdict([a, lane_of("b", "tree", drafted(0.013), 8, races)])

    few, many = verdict(2), verdict(80)
    assert many.pairs[0].most / many.pairs[0].least < few.pairs[0].most / few.pairs[0].least
    assert many.pairs[0].apart
    assert many.more_races == 0
    assert many.races == 80


def test_races_are_paired_by_prompt_and_seed() -> None:
    a = lane_of("a", "tree", drafted(0.01), 9, 4)
    b = lane_of("b", "tree", drafted(0.01), 10, 4)
    shuffled = LaneRuns("b", "tree", tuple(reversed(b.runs)))
    assert compare_pair(a, b) == compare_pair(a, shuffled)
    others = tuple(LaneRun("another prompt", run.seed, run.steps) for run in b.runs)
    assert compare_pair(a, LaneRuns("b", "tree", others)) is None


# -- one run against plain decoding ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "code"),
    [
        (1.001, 1.5, "win"),
        (0.4, 5.8, "no_clear_difference"),
        (0.5, 0.999, "slower"),
        (None, None, "no_clear_difference"),
    ],
)
def test_a_speedup_is_a_win_only_if_its_interval_lies_above_1(
    low: float | None, high: float | None, code: str
) -> None:
    assert Speedup(1.2, low, high).code == code


def test_a_run_too_short_for_an_interval_has_a_ratio_alone() -> None:
    short = LaneRuns("Run", "tree", (LaneRun("prompt", 0, ((4, 0.01),) * 3),))
    found = speedup(short, PLAIN)
    assert (found.low, found.high, found.code) == (None, None, "no_clear_difference")
    assert found.ratio == pytest.approx(400 * PLAIN.seconds / PLAIN.tokens)


# -- all lanes -------------------------------------------------------------------------------------


def test_p_and_interval_say_the_same() -> None:
    """The interval excludes 1 exactly if p is at most 5%, however many lanes were compared and
    verdicts were given."""
    said = set()
    for seed in range(60):
        rng = random.Random(seed)
        lanes = [
            LaneRuns(f"{i}", "tree", tuple(run_of(drafted(mean), rng, race) for race in range(8)))
            for i, mean in enumerate((0.01, 0.012, 0.016))
        ]
        for looks in (1, 3):
            for pair in race_verdict(lanes, looks=looks).pairs:
                assert pair.apart == (pair.least > 1) == (pair.p <= 0.05)
                said.add(pair.apart)
    assert said == {True, False}


def test_equal_lanes_are_rarely_found_different() -> None:
    """150 races of four lanes whose steps have the same distribution, and whose texts count as
    different. At most 6% of the races may find a pair of lanes different."""
    rng = random.Random(11)
    wrong = 0
    for _ in range(150):
        lanes = [LaneRuns(f"{i}", "tree", (run_of(drafted(0.01), rng),)) for i in range(4)]
        wrong += any(pair.apart for pair in race_verdict(lanes).pairs)
    assert wrong <= 9


@pytest.mark.parametrize(
    ("apart", "places"),
    [
        ({(0, 2)}, [1, 1, 2]),  # lane 1 is not apart from any lane
        ({(0, 2), (1, 2)}, [1, 1, 3]),
        ({(0, 1), (0, 2)}, [1, 2, 2]),
        # Lane 1 was the faster one, but comes second because of the other lanes.
        ({(1, 0)}, [1, 2]),
        # Lane 3 is apart from one lane only. But that lane is 2nd, so lane 3 is 3rd.
        ({(0, 2), (2, 3)}, [1, 1, 2, 3]),
    ],
)
def test_a_lane_comes_after_all_faster_lanes_that_are_apart_from_it(
    apart: set[tuple[int, int]], places: list[int]
) -> None:
    """apart: the pairs of lanes that count as different. The lanes are numbered by pace."""
    found = _places(len(places), [range(len(places))], apart)
    assert [one.place for one in found] == places
    assert [one.tied for one in found] == [places.count(place) > 1 for place in places]


def test_a_stopped_race_has_intervals_and_no_p() -> None:
    lanes = [PLAIN, lane_of("Sequoia", "tree", drafted(0.006), 14)]
    stopped = race_verdict(lanes, stopped=True)
    assert [pair.p for pair in stopped.pairs] == [None]
    assert stopped.pairs[0].least < stopped.pairs[0].ratio < stopped.pairs[0].most
    assert race_verdict(lanes).pairs[0].p is not None


def test_a_second_verdict_doubles_p() -> None:
    """Otherwise, adding runs until a difference shows would find false differences too often. Here
    both verdicts are on the same runs, so that only `looks` differs."""
    lanes = [
        lane_of("a", "tree", drafted(0.01), 7, 6),
        lane_of("b", "tree", drafted(0.014), 8, 6),
    ]
    once, twice = race_verdict(lanes), race_verdict(lanes, looks=2)
    assert 0 < once.pairs[0].p < 0.5
    assert twice.pairs[0].p == pytest.approx(2 * once.pairs[0].p)
    assert twice.more_races >= once.more_races


def test_lanes_without_steps_or_too_short_have_no_comparison() -> None:
    empty = LaneRuns("Chain", "chain", (LaneRun("prompt", 0, ()),))
    short = LaneRuns("Sequoia", "tree", (LaneRun("prompt", 0, ((4, 0.01),) * 3),))
    verdict = race_verdict([PLAIN, empty, short])
    assert verdict.places[1] is None
    assert verdict.pairs == ()
    assert codes(verdict) == codes(race_verdict([empty])) == ["too_short"]
    assert verdict.speedups[2].speedup.low is None
    assert verdict.speedups[2].speedup.code == "no_clear_difference"


# -- who won ---------------------------------------------------------------------------------------


def steady(tokens: int, seconds: float, races: int = 1) -> tuple[LaneRun, ...]:
    """Runs of constant pace, each for a different prompt but with the same text."""
    steps = ((tokens, seconds),) * (240 // tokens)
    return tuple(LaneRun(i, 0, steps, tuple(range(240))) for i in range(races))


def verdict_of(**lanes: tuple[str, int, float]) -> RaceVerdict:
    return race_verdict(
        [
            LaneRuns(name, kind, steady(tokens, seconds))
            for name, (kind, tokens, seconds) in lanes.items()
        ]
    )


def codes(verdict: RaceVerdict) -> list[str]:
    return [headline.code for headline in verdict.headlines]


def test_a_tree_is_compared_with_the_best_chain_and_a_chain_with_the_next_lane() -> None:
    lanes = {"Plain": ("plain", 1, 0.01), "Chain": ("chain", 4, 0.03)}
    found = verdict_of(**lanes, **{"Tuned chain": ("chain", 4, 0.02)})
    assert found.headlines == (Headline("", "wins", 2, 1),)
    found = verdict_of(**lanes, **{"Tuned chain": ("chain", 4, 0.025)}, Sequoia=("tree", 4, 0.02))
    assert found.headlines == (Headline("", "wins", 3, 2, "chain"),)


def test_a_lead_that_may_be_luck_is_not_called_a_win() -> None:
    even = LaneRuns("Plain", "plain", steady(1, 0.01))
    uneven = ((4, 0.01),) * 12 + ((4, 0.04),) * 12
    found = race_verdict([even, LaneRuns("Sequoia", "tree", (LaneRun(0, 0, uneven),))])
    (pair,) = found.pairs
    assert pair.least < 1 < 1.4 < pair.ratio
    assert codes(found) == ["too_close"]
    assert [place.tied for place in found.places] == [True, True]
    assert found.speedups[1].speedup.code == "no_clear_difference"


def test_a_winner_is_not_compared_with_a_lane_that_may_just_have_been_unlucky() -> None:
    """Even if that lane is the best chain and the winner is a tree."""
    lanes = [
        LaneRuns("Other", "tree", steady(4, 0.022)),
        LaneRuns("Sequoia", "tree", steady(5, 0.025)),
        LaneRuns("Chain", "chain", (LaneRun(0, 0, ((4, 0.012),) * 30 + ((4, 0.038),) * 30),)),
    ]
    found = race_verdict(lanes)
    assert (found.order[-1], found.pair(1, 2).apart) == (2, False)
    assert found.headlines == (Headline("", "wins", 1, 0),)


def test_every_lane_has_the_speedup_of_its_pair_with_plain_decoding() -> None:
    """Also a lane that is slower than plain decoding: its ratio is below 1."""
    found = verdict_of(
        Plain=("plain", 1, 0.01), Chain=("chain", 4, 0.02), Sequoia=("tree", 2, 0.04)
    )
    plain, chain, tree = found.speedups
    assert plain is None
    assert (chain.over, chain.speedup.code, tree.speedup.code) == (0, "win", "slower")
    pair = found.pair(0, 2)
    assert tree.speedup.ratio == pytest.approx(1 / pair.ratio) == pytest.approx(0.5)
    assert (tree.speedup.low, tree.speedup.high) == (1 / pair.most, 1 / pair.least)


# -- steps expected on the same texts --------------------------------------------------------------


def expecting(lane: LaneRuns, per_step: float, uneven: float = 0.0, seed: int = 0) -> LaneRuns:
    """`lane` with about `per_step` expected tokens per step on three texts. uneven: how much the
    expected steps vary from segment to segment, as the standard deviation of their logarithm."""
    rng = random.Random(seed)

    def expected() -> ExpectedSteps:
        steps = [
            [TOKENS / SEGMENTS / per_step * rng.lognormvariate(0, uneven) for _ in range(SEGMENTS)]
            for _ in range(3)
        ]
        return ExpectedSteps((TOKENS,) * 3, tuple(map(tuple, steps)))

    return replace(lane, runs=tuple(replace(run, expected=expected()) for run in lane.runs))


def test_lanes_are_compared_by_the_steps_expected_on_the_same_texts() -> None:
    chain = lane_of("Chain", "chain", drafted(0.01), 31)
    tree = lane_of("Sequoia", "tree", drafted(0.01), 32)
    lanes = [PLAIN, expecting(chain, 3.0, 0.05, 1), expecting(tree, 4.0, 0.05, 2)]
    found = race_verdict(lanes).pair(1, 2)
    assert found.expected
    assert (found.faster, found.apart) == (2, True)
    assert found.per_step == pytest.approx(4 / 3, rel=0.05)
    assert found.ratio == pytest.approx(found.per_step / found.step_time)
    without = race_verdict([PLAIN, chain, tree]).pair(1, 2)
    assert not without.expected
    assert without.most / without.least > 1.5 * (found.most / found.least)


def test_the_same_tree_twice_differs_by_its_step_times_alone() -> None:
    one = expecting(lane_of("a", "tree", drafted(0.01), 33), 3.0, 0.2)
    other = expecting(lane_of("b", "tree", drafted(0.01), 34), 3.0, 0.2)
    found = race_verdict([one, other]).pairs[0]
    assert found.per_step == 1
    assert found.per_step_range == (1, 1)
    assert not found.apart


def test_a_lane_that_was_only_lucky_does_not_win() -> None:
    """The chain emitted more tokens per step than expected, and so was ahead."""
    plain = LaneRuns("Plain", "plain", (LaneRun("p", 0, ((1, 0.01),) * 240),))
    chain = LaneRuns("Chain", "chain", (LaneRun("p", 0, ((6, 0.02),) * 40),))
    tree = LaneRuns("Sequoia", "tree", (LaneRun("p", 0, ((5, 0.021),) * 48),))
    lanes = [expecting(plain, 1.0), expecting(chain, 3.0), expecting(tree, 5.0)]
    found = race_verdict(lanes)
    assert found.leaders == (2,)
    assert codes(found) == ["wins"]
    assert race_verdict([plain, chain, tree]).order[0] == 1


# -- two prompts -----------------------------------------------------------------------------------


def on_two_prompts(code: tuple[int, float], prose: tuple[int, float]) -> list[LaneRuns]:
    """On each prompt, plain decoding with 10 ms per token, and a tree. code, prose: the tokens and
    seconds of a step with the tree."""
    return [
        LaneRuns(name, kind, (LaneRun(on, 0, ((tokens, seconds),) * (240 // tokens)),), on)
        for on, tree in (("code", code), ("prose", prose))
        for name, kind, (tokens, seconds) in (
            ("Plain", "plain", (1, 0.01)),
            ("Sequoia", "tree", tree),
        )
    ]


def test_the_speed_ups_on_two_prompts_are_compared() -> None:
    lanes = on_two_prompts((5, 0.02), (2, 0.018))
    found = race_verdict(lanes)
    assert [(pair.faster, pair.slower) for pair in found.pairs] == [(1, 0), (3, 2)]
    (ratio,) = found.speedup_ratios
    assert (ratio.name, ratio.larger, ratio.smaller) == ("Sequoia", "code", "prose")
    assert ratio.ratio == pytest.approx((5 / 2) / (2 / 1.8))
    assert 1 < ratio.least < ratio.ratio < ratio.most
    assert found.headlines == (
        Headline("code", "wins", 1, 0),
        Headline("prose", "too_close"),
    )
    (turned,) = race_verdict(lanes[2:] + lanes[:2]).speedup_ratios
    assert turned == ratio


def test_the_interval_of_the_ratio_contains_the_true_ratio_in_19_of_20_races() -> None:
    """The true speed-ups are the same on both prompts, so the true ratio is 1. A 95% interval
    misses it in about 10 of 200 races; the test allows 16."""
    wrong = 0
    for seed in range(200):
        rng = random.Random(seed)
        lanes = [
            LaneRuns(name, kind, (replace(run_of(draw, rng), prompt=on),), on)
            for on in ("code", "prose")
            for name, kind, draw in (
                ("Plain", "plain", plain_step),
                ("Chain", "chain", drafted(0.01)),
            )
        ]
        (ratio,) = race_verdict(lanes).speedup_ratios
        wrong += ratio.least > 1
    assert wrong <= 16


# -- clocks and other machines ---------------------------------------------------------------------

A100 = "A100, Llama-2-7B with 68M, eager, as in the paper"


def on_clock(lane: LaneRuns, clock: str) -> LaneRuns:
    return replace(lane, runs=tuple(replace(run, clock=clock) for run in lane.runs))


def test_a_verdict_names_its_clock_and_runs_on_several_get_none() -> None:
    """Also if a single lane has runs on both clocks."""
    tree = lane_of("Tree", "tree", drafted(0.01), 8)
    assert race_verdict([PLAIN, tree]).clock == ""
    assert race_verdict([on_clock(PLAIN, A100), on_clock(tree, A100)]).clock == A100
    both = replace(tree, runs=(*tree.runs, *on_clock(tree, A100).runs))
    for lanes in ([PLAIN, on_clock(tree, A100)], [PLAIN, both]):
        with pytest.raises(BadTrace, match=r"different clocks: '', 'A100, .*same clock"):
            race_verdict(lanes)


def test_only_the_fastest_chain_is_called_the_best() -> None:
    uneven = ((4, 0.01),) * 40 + ((4, 0.06),) * 20
    lanes = [
        LaneRuns("Sequoia", "tree", steady(4, 0.02)),
        LaneRuns("k sequences", "tree", steady(4, 0.025)),
        LaneRuns("Tuned chain", "chain", (LaneRun(0, 0, uneven),)),
        LaneRuns("Chain", "chain", steady(4, 0.04)),
    ]
    found = race_verdict(lanes)
    assert found.order == (0, 1, 2, 3)
    assert found.headlines == (Headline("", "wins", 0, 3, ""),)


def test_the_ratio_of_speed_ups_is_corrected_as_the_speed_ups_are() -> None:
    rng = random.Random(3)
    lanes = [
        LaneRuns(name, kind, (replace(run_of(draw, rng), prompt=on),), on)
        for on in ("code", "prose")
        for name, kind, draw in (("Plain", "plain", plain_step), ("Sequoia", "tree", drafted(0.02)))
    ]
    (once,), (often,) = (race_verdict(lanes, looks=n).speedup_ratios for n in (1, 8))
    assert often.least < once.least < once.most < often.most

"""How often the verdict of a race calls equal lanes different, and how often an interval misses the
true ratio. Races are resampled from steps that were recorded with the bundled pair.

recorded/steps.json: sessions. In a session, seven lanes decode one prompt: one without a draft, two
with the same chain and four with the same tree, each with its own seed. So lanes of one kind differ
by chance alone. A resampled race picks a session and deals its runs to the lanes.

recorded/expected.json: for several prompts, texts decoded at temperature 0.6, and the expected
steps of several lanes in each segment of each text.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.diagnosis import compare_runs
from sequoia.diagnosis.compare_runs import (
    SEGMENTS,
    LaneRun,
    LaneRuns,
    compare_expected,
    compare_race,
)
from sequoia.diagnosis.race_verdict import race_verdict
from sequoia.diagnosis.student_t import critical_value

RECORDED = Path(__file__).parent / "recorded"
VERDICTS = 2000
MOST = 0.06  # of the verdicts may be false alarms
RACES = (1, 3, 6, 12)
TOKENS = 96  # in a race
LANES = {
    "four trees": ("tree",) * 4,
    "plain decoding and three trees": ("plain", *("tree",) * 3),
    "two chains": ("chain",) * 2,
}
# At temperature 0 the runs of a session share a text, and a race may begin at every 8th token of
# it. At higher temperatures it begins at the first token.
WINDOW = 8
TEXTS = 3  # in a race of three lanes: each lane emits one
Steps = tuple[tuple[int, float], ...]
Fields = tuple[str, Steps, tuple[int, ...]]  # prompt, steps and text of a run


@cache
def sessions(temperature: float) -> list[tuple[str, int, dict[str, list[Steps]]]]:
    """(prompt, number of tokens that all runs share, runs by kind of lane) of each session."""
    found = json.loads((RECORDED / "steps.json").read_text())["sessions"]
    return [_session(one) for one in found if one["temperature"] == temperature]


def _session(data: dict[str, Any]) -> tuple[str, int, dict[str, list[Steps]]]:
    by_kind = dict[str, list[Steps]]()
    for run in data["runs"]:
        steps = zip(run["tokens"], run["times"], strict=True)
        by_kind.setdefault(run["kind"], []).append(tuple((int(n, 36), t * 1e-5) for n, t in steps))
    shared = min(run["common"] for run in data["runs"]) if data["temperature"] == 0 else 0
    return data["prompt"], shared, by_kind


@cache
def window(steps: Steps, begin: int) -> Steps:
    """The steps that emit the TOKENS tokens from `begin` on. A step that crosses either end counts
    with its tokens inside, and with the same share of its time."""
    inside = []
    at = 0
    for made, seconds in steps:
        kept = min(at + made, begin + TOKENS) - max(at, begin)
        if kept > 0:
            inside.append((kept, seconds * kept / made))
        at += made
    return tuple(inside)


def race(rng: random.Random, kinds: Sequence[str], temperature: float) -> list[Fields]:
    """The lanes of a resampled race."""
    prompt, shared, by_kind = rng.choice(sessions(temperature))
    begin = WINDOW * rng.randrange(max(0, shared - TOKENS) // WINDOW + 1)
    decks = {kind: rng.sample(runs, len(runs)) for kind, runs in by_kind.items()}
    text = (1,) * TOKENS if shared >= TOKENS else ()
    return [(prompt, window(decks[kind].pop(), begin), text) for kind in kinds]


def is_false_alarm(kinds: Sequence[str], races: Sequence[list[Fields]]) -> bool:
    """Whether the verdict on `races` calls two lanes with a draft different."""
    lanes = [LaneRuns(str(i), kind, _runs(races, i)) for i, kind in enumerate(kinds)]
    return any(
        pair.apart and "plain" not in (kinds[pair.faster], kinds[pair.slower])
        for pair in race_verdict(lanes).pairs
    )


def _runs(races: Sequence[list[Fields]], lane: int) -> tuple[LaneRun, ...]:
    chosen = (one[lane] for one in races)
    return tuple(LaneRun(prompt, i, steps, text) for i, (prompt, steps, text) in enumerate(chosen))


@pytest.mark.nightly
@pytest.mark.parametrize("temperature", [0.0, 0.6])
@pytest.mark.parametrize("lanes", LANES)
def test_false_alarms_are_rare_after_one_race_and_after_several(
    lanes: str, temperature: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = dict[tuple[int, int], Any]()

    def compared(one: LaneRun, other: LaneRun, drafted: int) -> Any:
        key = id(one.steps), id(other.steps)  # `window` keeps both alive
        if key not in known:
            known[key] = compare_race(one, other, drafted)
        return known[key]

    monkeypatch.setattr(compare_runs, "compare_race", compared)
    rng = random.Random(1)
    alarms = dict.fromkeys(RACES, 0)
    for _ in range(VERDICTS):
        made = [race(rng, LANES[lanes], temperature) for _ in range(max(RACES))]
        for races in RACES:
            alarms[races] += is_false_alarm(LANES[lanes], made[:races])
    print(f"\ntemperature {temperature:g}, {lanes}; false alarms by number of races: ", end="")
    print(", ".join(f"{races}: {count / VERDICTS:.1%}" for races, count in alarms.items()))
    assert max(alarms.values()) <= MOST * VERDICTS


@pytest.mark.nightly
def test_the_interval_of_expected_tokens_per_step_contains_the_true_ratio() -> None:
    """A race has three texts of a prompt. Its other texts give the true ratio, so the interval is
    widened by their error."""
    prompts = json.loads((RECORDED / "expected.json").read_text())
    rng = random.Random(1)
    for one, other in combinations(prompts[0][0], 2):
        missed = sum(_misses(rng.choice(prompts), one, other, rng) for _ in range(VERDICTS))
        print(f"\n{one} and {other}: missed by {missed / VERDICTS:.1%}", end="")
        assert missed <= MOST * VERDICTS


def _misses(texts: list[Any], one: str, other: str, rng: random.Random) -> bool:
    mixed = rng.sample(texts, len(texts))
    found = _expected(mixed[:TEXTS], one, other)
    truth = _expected(mixed[TEXTS:], one, other)
    if found is None or truth is None:
        return False
    log, variance = found
    reach = critical_value(0.05, SEGMENTS - 1) * math.sqrt(variance)
    return abs(log - truth[0]) > reach * math.sqrt(1 + TEXTS / (len(texts) - TEXTS))


def _expected(texts: list[Any], one: str, other: str) -> tuple[float, float] | None:
    lanes = (
        ExpectedSteps((1,) * len(texts), tuple(tuple(text[name]) for text in texts))
        for name in (one, other)
    )
    return compare_expected(*lanes, drafted=(one != "plain") + (other != "plain"))

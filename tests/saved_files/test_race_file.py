"""Race files: a saved race is read back unchanged, and an invalid one raises BadTrace."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.assets_folder import ASSETS
from sequoia.decoding.race import Lane, Race
from sequoia.decoding.recorder import Recorder
from sequoia.errors import BadTrace
from sequoia.saved_files.race_file import LaneLog, RaceLog
from sequoia.saved_files.race_results import (
    Cell,
    Diagnosis,
    Loss,
    Lossless,
    Place,
    Remedy,
    Result,
    SampleCount,
    StepCosts,
    TextMatch,
    TimeBreakdown,
)

COUNT = SampleCount(
    draws=40,
    wanted=400,
    going=False,
    limit=20.0,
    lane=0,
    position=3,
    looked=4,
    bits=1.5,
    context="a b",
    freedom=1,
    cells=(Cell(" c", False, 0.75, 29), Cell(None, False, 0.25, 11)),
    statistic=2.5,
    detectable_difference=0.1,
)
COSTS = TimeBreakdown(
    StepCosts(2.0, 0.002, 0.01, 0.001, 0.009), StepCosts(1.0, 0.0, 0.008, 0.001, 0.009)
)
REMEDIES = (Remedy("fastest_tree", 1.7, Tree((-1, 0, 1))), Remedy("smaller_draft", 1.6))
RESULT = Result(
    COSTS,
    Diagnosis(COSTS, 2.8, (Loss("draft", 1.6),), REMEDIES, 1.5),
    Lossless("fits", "measured", p_value=0.4, count=COUNT, why="time_limit"),
)
PLACE = Place(4, 0.5, 0.02)
MATCH = TextMatch("tie", 9, "bfloat16", 4, PLACE)
BY_TEXT = Result(lossless=Lossless("tie", "measured", MATCH))
LANES = (
    Lane("plain", Tree.chain(1)),
    Lane("tree", Tree.kary(2, 3)),
    Lane("copies", Tree.sequences(2, 2), "specinfer"),
)


@pytest.fixture(scope="module")
def log() -> RaceLog:
    pair = tiny_pair()
    race = Race(
        pair,
        PROMPTS[1],
        SamplingParams(temperature=0.7, max_new_tokens=10, seed=2, ignore_eos=True),
        LANES,
    )
    recorders = [Recorder(pair, race.prompt, {"verifier": lane.verifier}) for lane in LANES]
    for lane, trace in race:
        recorders[lane].add(trace)
    lanes = tuple(
        LaneLog(
            lane.name, "how", lane.verifier, lane.is_plain, len(lane.tree), False, recorder.run()
        )
        for lane, recorder in zip(LANES, recorders, strict=True)
    )
    return RaceLog(
        {"label": "measured", "prompt": PROMPTS[1], "params": {"seed": 2}},
        lanes,
        (None, RESULT, BY_TEXT),
    )


@pytest.fixture(scope="module")
def file(log: RaceLog) -> str:
    return log.to_json()


def test_a_saved_race_is_read_back_unchanged(log: RaceLog, file: str) -> None:
    again = RaceLog.from_json(file)
    assert again.to_json() == file
    assert again.meta == log.meta
    assert again.results == log.results
    for one, other in zip(again.lanes, log.lanes, strict=True):
        assert one == other


POOL: dict[str, Any] = {
    "runs": [
        {
            "prompt": "p",
            "seed": 4,
            "lanes": [{"counts": [2, 1], "seconds": [0.5, 0.25], "tokens": [5, 6, 7]}] * 3,
        }
    ],
    "verdicts": 2,
    "stopped": True,
}


def pooled(file: str, **changes: Any) -> str:
    """The file with a pool of one further run. `changes` are made in each lane of this run."""
    (run,) = POOL["runs"]
    lanes = [{**lane, **changes} for lane in run["lanes"]]
    return changed(file, lambda data: data.update(pool={**POOL, "runs": [{**run, "lanes": lanes}]}))


def test_further_runs_are_read_and_written(file: str) -> None:
    again = RaceLog.from_json(pooled(file))
    assert again.pool.runs[0].lanes[2].steps == ((2, 0.5), (1, 0.25))
    assert (again.pool.verdicts, again.pool.stopped) == (2, True)
    assert json.loads(again.to_json())["pool"] == POOL
    assert "pool" not in json.loads(file)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"counts": [2]}, "1 steps with 2 tokens in total"),
        ({"counts": [], "seconds": [], "tokens": []}, "at least one step"),
        ({"expected_steps": {"tokens": [4], "steps": []}}, "1 texts, but 0 lists"),
    ],
)
def test_a_further_run_that_makes_no_sense_is_refused(
    file: str, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadTrace, match=says):
        RaceLog.from_json(pooled(file, **changes))


def test_further_runs_must_have_the_lanes_of_the_race(file: str) -> None:
    """Other pools that make no sense are refused too, such as one with too many runs."""
    short = {**POOL["runs"][0], "lanes": POOL["runs"][0]["lanes"][:2]}
    for pool in (
        {**POOL, "runs": [short]},
        {**POOL, "runs": POOL["runs"] * 40},
        {**POOL, "verdicts": 0},
        {**POOL, "stopped": None},
    ):
        with pytest.raises(BadTrace):
            RaceLog.from_json(changed(file, lambda data, pool=pool: data.update(pool=pool)))


def test_steps_are_in_the_order_of_the_race(log: RaceLog) -> None:
    """Every step occurs once. The next step is always by the lane with the least decode time so
    far, among the lanes that have steps left."""
    steps = list(log.in_order())
    seconds = [0.0] * 3
    assert sorted(steps) == [
        (lane, step) for lane, one in enumerate(log.lanes) for step in range(len(one.run.steps))
    ]
    done = [0] * 3
    for lane, step in steps:
        assert step == done[lane]
        assert all(
            seconds[lane] <= other_seconds
            for other, other_seconds in enumerate(seconds)
            if done[other] < len(log.lanes[other].run.steps)
        )
        seconds[lane] += log.lanes[lane].run.steps[step].total_seconds
        done[lane] += 1


def changed(file: str, change: Callable[[dict[str, Any]], Any]) -> str:
    data = json.loads(file)
    change(data)
    return json.dumps(data)


def lane(name: str, value: Any, index: int = 0) -> Callable[[dict[str, Any]], None]:
    return lambda data: data["lanes"][index].update({name: value})


def result(part: str, **fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data["results"][1][part].update(fields)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(format="sequoia-run"),
        lambda data: data.update(lanes=data["lanes"] * 2),
        lambda data: data.update(results=[None]),
        lane("plain", True, 1),
        lambda data: data["results"][1]["time_breakdown"]["step"].update(verify=0),
        lambda data: data["results"][1]["what_to_try"]["remedies"][0].update(tree=[-1, 5]),
        lambda data: data["results"][1]["lossless"]["count"]["cells"][0].update(share=0.9),
    ],
)
def test_an_invalid_race_is_rejected(file: str, change: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(BadTrace) as caught:
        RaceLog.from_json(changed(file, change))
    assert 10 < len(str(caught.value)) < 500


def test_a_race_that_is_too_large_is_not_written(
    log: RaceLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sequoia.saved_files.run_file.MAX_JSON_BYTES", 100)
    with pytest.raises(BadTrace, match="at most 100"):
        log.to_json()


def test_an_interval_that_does_not_contain_its_median_is_refused() -> None:
    data = json.loads((ASSETS / "runs" / "welcome.json").read_text(encoding="utf-8"))
    RaceLog.from_dict(data)
    data["meta"]["opening"] |= {"median": 9.0}
    with pytest.raises(BadTrace, match="opening"):
        RaceLog.from_dict(data)

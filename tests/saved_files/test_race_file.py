"""Race files: a saved race is read back unchanged, and an invalid one raises BadTrace."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.expected_steps import SEGMENTS
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.race import Lane, Race
from sequoia.decoding.recorder import Recorder
from sequoia.errors import BadTrace
from sequoia.saved_files.race_file import LaneLog, RaceLog, checked

RESULT: dict[str, Any] = {
    "waterfall": {"bars": [{"name": "tokens", "value": 2.0, "loss": 0.0, "words": "two"}]},
    "doctor": {
        "speedup": 1.5,
        "loss": "draft",
        "words": "well",
        "remedies": [
            {"words": "smaller", "predicted": 1.7, "label": "predicted", "parents": [-1, 0, 1]},
            {"words": "other", "predicted": 1.6, "label": "predicted, what if", "parents": None},
        ],
    },
    "lossless": {
        "kind": "law",
        "words": "fits",
        "at": None,
        "p": 0.4,
        "count": {
            "draws": 40,
            "wanted": 400,
            "going": False,
            "at": 3,
            "lane": 0,
            "bits": 1.5,
            "rule": "first",
            "context": "a b",
            "statistic": 2.5,
            "freedom": 1,
            "sight": 0.1,
            "cells": [
                {"text": " c", "more": False, "share": 0.75, "seen": 29},
                {"text": None, "more": False, "share": 0.25, "seen": 11},
            ],
        },
        "label": "measured",
    },
}
EMPTY: dict[str, Any] = {"waterfall": None, "doctor": None, "lossless": None}
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
        {"label": "measured", "prompt": PROMPTS[1], "policy": {"seed": 2}},
        lanes,
        (None, RESULT, EMPTY),
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
        assert one.without_run == other.without_run
        assert one.run.texts == other.run.texts
        assert [step.emitted for step in one.run.steps] == [
            step.emitted for step in other.run.steps
        ]


def test_a_race_without_counts_of_first_tokens_is_read(file: str) -> None:
    """Older files do not have them."""
    again = RaceLog.from_json(
        changed(file, lambda data: data["results"][1]["lossless"].pop("count"))
    )
    assert again.results[1]["lossless"] == {
        "kind": "law",
        "words": "fits",
        "at": None,
        "p": 0.4,
        "count": None,
        "label": "measured",
    }


@pytest.mark.parametrize("kind", ["exact", "tie", "bug", "undecided"])
def test_every_verdict_on_a_text_is_saved_and_read(log: RaceLog, kind: str) -> None:
    lossless = {"kind": kind, "words": "as it was", "at": 5, "p": None, "count": None}
    lossless["label"] = "measured"
    results = (None, EMPTY | {"lossless": lossless}, EMPTY)
    again = RaceLog.from_json(RaceLog(log.meta, log.lanes, results).to_json())
    assert again.results == results


def test_the_description_of_a_tree_may_be_long(file: str) -> None:
    """Its description `how` may have 2,000 characters."""
    words = "x" * 2000
    assert RaceLog.from_json(changed(file, lane("how", words))).lanes[0].how == words


def test_a_race_without_results_is_read(log: RaceLog) -> None:
    assert RaceLog.from_json(RaceLog(log.meta, log.lanes).to_json()).results is None


POOL: dict[str, Any] = {
    "runs": [
        {
            "prompt": "p",
            "seed": 4,
            "lanes": [{"tokens": [2, 1], "seconds": [0.5, 0.25], "text": [5, 6, 7]}] * 3,
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
    "changes",
    [
        {"tokens": [2]},
        {"tokens": [0, 3]},
        {"tokens": [], "seconds": [], "text": []},
        {"seconds": [0.5, -1]},
        {"seconds": [0.5, "1"]},
        {"text": [5, 6]},
        {"text": [5, 6, -1]},
        {"text": "567"},
        {"expected": {}},
        {"expected": []},
        {"expected": 0},
        {"expected": False},
    ],
)
def test_a_further_run_that_makes_no_sense_is_refused(file: str, changes: dict[str, Any]) -> None:
    with pytest.raises(BadTrace):
        RaceLog.from_json(pooled(file, **changes))


@pytest.mark.parametrize(
    ("expected", "says"),
    [
        ({"tokens": [4] * 10_000, "steps": []}, "a list of 10000; expected at most"),
        ({"tokens": [4], "steps": []}, "1 texts, but 0 lists of expected steps"),
        ({"tokens": [4], "steps": [[0] * SEGMENTS]}, "the expected steps of a text must not all"),
    ],
)
def test_expected_steps_that_make_no_sense_are_refused_with_the_reason(
    file: str, expected: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadTrace, match=says):
        RaceLog.from_json(pooled(file, expected=expected))


def test_a_run_without_a_prompt_has_an_empty_one(file: str) -> None:
    read = RaceLog.from_json(changed(file, lambda data: data["lanes"][0]["run"]["meta"].clear()))
    assert read.lanes[0].prompt == ""


def test_further_runs_must_have_the_lanes_of_the_race(file: str) -> None:
    """Other pools that make no sense are refused too, such as one with too many runs."""
    short = {**POOL["runs"][0], "lanes": POOL["runs"][0]["lanes"][:2]}
    for pool in (
        {**POOL, "runs": [short]},
        {**POOL, "runs": POOL["runs"] * 40},
        {**POOL, "verdicts": 0},
        {**POOL, "stopped": None},
        {},
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


def count(**changes: Any) -> Callable[[dict[str, Any]], None]:
    """Changes the counts of first tokens in the result of the second lane."""
    return lambda data: data["results"][1]["lossless"]["count"].update(changes)


def remedy(**fields: Any) -> Callable[[dict[str, Any]], None]:
    """Sets a single remedy, which is valid except for `fields`."""
    return result(
        "doctor",
        remedies=[{"words": "a", "predicted": 1, "label": "predicted", "parents": None, **fields}],
    )


def test_the_remedy_without_changes_is_valid(file: str) -> None:
    assert (
        RaceLog.from_json(changed(file, remedy())).results[1]["doctor"]["remedies"][0]["label"]
        == "predicted"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(format="sequoia-run"),
        lambda data: data.update(lanes=[]),
        lambda data: data.update(lanes=data["lanes"] * 2),
        lambda data: data.update(results=[None]),
        lane("name", "x" * 300),
        lane("how", "x" * 2001),
        lane("most", 0),
        lane("most", 2, 1),
        lane("plain", True, 1),
        result("waterfall", bars=[1] * 99),
        result("doctor", words="x" * 5000),
        remedy(parents=[-1, 5]),
        remedy(label="certain"),
        remedy(label="measured"),
        result("doctor", remedies=[{}] * 99),
        result("lossless", kind="perfect"),
        result("lossless", label="predicted"),
        result("lossless", p=2),
        count(draws=10**9),
        count(lane=4),
        count(context="x" * 200),
        count(sight=2),
        count(cells=[1] * 99),
        count(cells=[{"text": "x", "more": False, "share": 2, "seen": 1}]),
    ],
)
def test_an_invalid_race_is_rejected(file: str, change: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(BadTrace) as caught:
        RaceLog.from_json(changed(file, change))
    assert 10 < len(str(caught.value)) < 500


def test_unknown_fields_are_dropped() -> None:
    assert checked({**EMPTY, "evil": "<img>"}) == EMPTY
    assert checked(RESULT) == RESULT


def test_a_race_that_is_too_large_is_not_written(
    log: RaceLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sequoia.saved_files.race_file.MAX_JSON_BYTES", 100)
    with pytest.raises(BadTrace, match="at most 100"):
        log.to_json()

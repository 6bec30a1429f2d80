"""A recorded run whose measured times are replaced by simulated ones. Its tokens do not change. All
its times come from one clock. Files and the page keep the label "simulated"."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from fakes import PROMPTS, tiny_pair

from sequoia import (
    Acceptance,
    DecodeStats,
    Recorder,
    Run,
    SamplingParams,
    Tree,
    named_profile,
    plain,
    speculate,
)
from sequoia.diagnosis.what_to_try import diagnose
from sequoia.diagnosis.where_time_went import time_breakdown
from sequoia.errors import BadTrace
from sequoia.models.pair import Pair
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.race_file import LaneLog, RaceLog

PROFILE = named_profile("a100-llama-2-7b-eager")
CLOCK = SimulatedClock(PROFILE, "A100, Llama-2-7B with 68M, eager")
RATES = Acceptance((0.6, 0.2))
TREE = Tree.sequences(2, 4)
PARAMS = SamplingParams(max_new_tokens=17, ignore_eos=True)
META: dict[str, Any] = {
    "label": "measured",
    "device": "cpu",
    "prompt": PROMPTS[0],
}


@pytest.fixture(scope="module")
def pair() -> Pair:
    return tiny_pair()


@pytest.fixture(scope="module")
def run(pair: Pair) -> Run:
    recorder = Recorder(pair, pair.encode(PROMPTS[0]), META)
    for step in speculate(pair, PROMPTS[0], PARAMS, TREE):
        recorder.add(step)
    return recorder.run()


@pytest.fixture(scope="module")
def simulated(run: Run) -> Run:
    """`run` with the times that CLOCK predicts, and a meta that says so."""
    meta = {
        "label": "simulated",
        "clock": CLOCK.name,
        "device": META["device"],
        "prompt": META["prompt"],
    }
    return replace(run, meta=meta, steps=tuple(map(CLOCK.retimed, run.steps)))


def test_tokens_trees_and_acceptance_are_those_that_ran(run: Run, simulated: Run) -> None:
    assert (simulated.texts, simulated.pieces) == (run.texts, run.pieces)
    for before, after in zip(run.steps, simulated.steps, strict=True):
        assert replace(after, seconds=before.seconds, clock="") == before


def test_a_file_keeps_the_clock(simulated: Run) -> None:
    again = Run.from_json(simulated.to_json())
    assert again.meta == simulated.meta
    assert {step.clock for step in again.steps} == {CLOCK.name}
    assert DecodeStats.fold(again.steps).clock == CLOCK.name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"label": "measured"}, "must be labelled simulated"),
        ({"label": None}, "meta.label: None; "),
        ({"clock": 7}, "meta.clock: 7; "),
        ({"clock": "x" * 201}, "meta.clock: .* at most 200"),
    ],
)
def test_a_file_with_a_wrong_label_or_clock_is_refused(
    simulated: Run, change: dict[str, Any], words: str
) -> None:
    data = json.loads(simulated.to_json())
    data["meta"] |= change
    with pytest.raises(BadTrace, match=words):
        Run.from_json(json.dumps(data))


def test_a_run_of_two_clocks_cannot_be_made(run: Run, simulated: Run) -> None:
    mixed = (run.steps[0], *simulated.steps[1:])
    for one, steps in ((run, mixed), (simulated, run.steps), (run, simulated.steps)):
        with pytest.raises(BadTrace, match="all steps of a run must have the run's clock"):
            replace(one, steps=steps)


def test_the_lanes_of_a_race_have_one_clock(run: Run, simulated: Run) -> None:
    measured = LaneLog("a", "how", "sequoia", False, 9, False, run)
    other = LaneLog("b", "how", "sequoia", False, 9, False, simulated)
    with pytest.raises(BadTrace, match="all lanes of a race must have the same clock"):
        RaceLog({}, (measured, other))
    race = RaceLog({}, (other, other))
    again = RaceLog.from_json(race.to_json())
    assert again.lanes[0].run.meta["clock"] == CLOCK.name
    text = json.dumps({**json.loads(race.to_json()), "meta": {"clock": "x", "label": "measured"}})
    with pytest.raises(BadTrace, match="must be labelled simulated"):
        RaceLog.from_json(text)


def test_a_simulated_run_is_not_diagnosed_with_a_measured_one(pair: Pair, simulated: Run) -> None:
    measured = DecodeStats.fold(plain(pair, PROMPTS[0], PARAMS))
    stats = DecodeStats.fold(simulated.steps)
    with pytest.raises(BadTrace, match="all times must be of one clock"):
        time_breakdown(stats, measured)
    with pytest.raises(BadTrace, match="all times must be of one clock"):
        diagnose(stats, TREE, measured, RATES, PROFILE)

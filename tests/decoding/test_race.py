"""Lanes of a race affect neither each other's tokens nor each other's clocks."""

from __future__ import annotations

import dataclasses
import time

import pytest
from decoded import emitted
from fakes import PROMPTS, same_pair, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import DecodeStats, StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.decoding.race import Lane, Race
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.simulated_step_times import SimulatedClock, step_seconds

PARAMS = SamplingParams(temperature=0.8, max_new_tokens=24, seed=3, ignore_eos=True)
LANES = (
    Lane("plain", Tree.chain(1)),
    Lane("chain", Tree.chain(4)),
    Lane("tree", Tree.kary(2, 3), "specinfer"),
    Lane("top-k", Tree.sequences(2, 2), "topk"),
)


def test_each_lane_decodes_what_it_would_decode_alone() -> None:
    pair = tiny_pair()
    steps = [[] for _ in LANES]
    for lane, trace in Race(pair, PROMPTS[0], PARAMS, LANES):
        steps[lane].append(trace)
    for lane, found in zip(LANES, steps, strict=True):
        alone = [*run(Decoder(pair, PROMPTS[0], PARAMS, lane.tree, lane.verifier))]
        assert emitted(found) == emitted(alone)
        assert [step.tree for step in found] == [step.tree for step in alone]


def test_the_lane_furthest_behind_steps_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """With synthetic times: a lane three times as slow makes a third as many steps."""
    take = {1: 3.0, 4: 1.0}  # number of nodes of a lane's tree -> seconds per step
    step = Decoder.step

    def timed(self: Decoder) -> StepTrace:
        trace = step(self)
        return dataclasses.replace(
            trace, seconds={"draft": 0.0, "verify": take[self.tree_choice.most], "overhead": 0.0}
        )

    monkeypatch.setattr(Decoder, "step", timed)
    contest = Race(tiny_pair(), PROMPTS[0], PARAMS, LANES[:2])
    contest.prefill()
    assert [contest.step()[0] for _ in range(8)] == [0, 1, 1, 1, 0, 1, 1, 1]
    assert [stats.total_seconds for stats in contest.stats] == [6.0, 6.0]


def test_a_simulated_clock_times_every_lane_and_decides_whose_turn_it_is() -> None:
    """The tokens are those of a measured race. The lane with the least simulated time steps
    next."""
    pair = tiny_pair()
    profile = named_profile("a100-llama-2-7b-eager")
    clock = SimulatedClock(profile)
    simulated = Race(pair, PROMPTS[0], PARAMS, LANES[:3], clock)
    seconds = [0.0] * 3
    steps = [[], [], []]
    simulated.prefill()
    while simulated.running:
        behind = min(simulated.running, key=lambda lane: seconds[lane])
        lane, trace = simulated.step()
        assert lane == behind
        assert trace.clock == clock.name
        assert trace.total_seconds == pytest.approx(step_seconds(trace.tree, profile))
        seconds[lane] += trace.total_seconds
        steps[lane].append(trace)
    assert [stats.total_seconds for stats in simulated.stats] == pytest.approx(seconds)
    measured = [[], [], []]
    for lane, trace in Race(pair, PROMPTS[0], PARAMS, LANES[:3]):
        measured[lane].append(trace)
    assert [emitted(found) for found in steps] == [emitted(found) for found in measured]


def test_a_lanes_clock_counts_only_the_times_of_its_own_steps() -> None:
    contest = Race(same_pair(), PROMPTS[0], PARAMS, LANES)
    seen = [DecodeStats() for _ in LANES]
    for lane, trace in contest:
        time.sleep(0.002)  # time between steps, which counts for no lane
        seen[lane] = seen[lane].add(trace)
    assert contest.stats == seen
    assert [stats.tokens for stats in seen] == [24] * 4
    assert contest.running == []

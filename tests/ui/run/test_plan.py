"""Tests of which lanes race. Trees and chains are planned by one rule, and no planned tree races
twice. The page says what they were planned from.

Also tests of races on a simulated clock, which gives each step the time it would take on another
machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from visits import PLAIN, run_request, sent

from sequoia import Acceptance, Pair, Tree, named_profile
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.assets_folder import ASSETS
from sequoia.planning.plan_for_machine import best_chain, best_plan
from sequoia.planning.simulated_step_times import step_seconds
from sequoia.saved_files.race_file import MOST_LANES, RaceLog
from sequoia.text_files import load_json
from ui.run import pooled
from ui.run.decode_job import DecodeJob
from ui.run.messages import OpenedRun
from ui.run.more_runs import MoreRunsJob
from ui.run.plan import plan_lanes
from ui.run.presets import PRESETS
from ui.run.recordings import RunStore
from ui.run.report import verdict_of
from ui.run.request import RunRequest
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.words.figures import machine_of

A100 = "a100-llama-2-7b-eager"
NAME = "A100, Llama-2-7B with 68M, eager, as in the paper"
PROFILE = named_profile(A100)
RATES = Acceptance((0.6, 0.2, 0.1))
SAVED = Path(__file__).parents[2] / "saved" / "races"
TUNED = ("tuned_chain", "", "sequoia")
PLANNED = ("planned", "", "sequoia")
KARY = ("kary", "2, 3", "sequoia")


@pytest.fixture
def rates() -> dict[str, Any]:
    """The acceptance that trees are planned with. The tiny pair's own would have to be measured."""
    return {"acceptance": RATES, "source": "recorded code"}


@pytest.fixture(autouse=True)
def acceptance(monkeypatch: pytest.MonkeyPatch, rates: dict[str, Any]) -> None:
    found = lambda *_: (rates["acceptance"], rates["source"])  # noqa: E731
    monkeypatch.setattr("sequoia.measuring.defaults.acceptance_of", found)
    monkeypatch.setattr("ui.shared.tree_request.acceptance_of", found)
    monkeypatch.setattr("ui.run.report.acceptance_of", found)


def asked(*lanes: tuple[str, str, str], **changes: Any) -> RunRequest:
    return run_request(lanes, **{"temperature": 0.0, "clock": A100, **changes})


def raced(model_host: ModelHost, request: RunRequest) -> tuple[RaceLog, list[dict[str, Any]]]:
    job = DecodeJob(request, model_host, LOCAL, RunStore(8, 10**6))
    job.start()
    messages = sent(job.messages())
    assert [message["error"] for message in messages if message.get("error")] == []
    return job.recording.log(), messages


def verdict_in(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return next(message["verdict"] for message in messages if "verdict" in message)


# -- the plan --------------------------------------------------------------------------------------


def test_tree_and_chain_are_planned_by_one_rule_for_the_clock(pair: Pair) -> None:
    plan = plan_lanes(pair, asked(PLAIN, TUNED, PLANNED), LOCAL.nodes)
    trees = [lane.chosen.tree for lane in plan.lanes]
    assert trees == [
        Tree.chain(1),
        best_chain(RATES, PROFILE, slack=0.01).tree,
        best_plan(RATES, PROFILE, slack=0.01).tree,
    ]
    assert trees[2].levels < len(trees[2])
    hows = [lane.chosen.how for lane in plan.lanes]
    assert hows[1] == f"length planned for {NAME}, from acceptance rates counted on Python code"
    assert hows[2] == f"planned for {NAME}, from acceptance rates counted on Python code"
    assert [lane.chosen.rule for lane in plan.lanes] == ["", "chains", "trees"]


@pytest.mark.parametrize(
    ("rate", "lanes", "raced_instead", "note"),
    [
        # the best tree is the best chain, as no second child can be accepted
        (0.8, (PLAIN, TUNED, PLANNED), ["plain", "tuned_chain"], "repeat"),
        (0.8, (TUNED, PLANNED), ["tuned_chain", "plain"], "instead"),
        # the best tree is plain decoding
        (0.0, (PLAIN, TUNED, PLANNED), ["plain", "tuned_chain"], "repeat"),
    ],
)
def test_no_planned_tree_races_twice_and_two_lanes_always_race(
    pair: Pair,
    rates: dict[str, Any],
    rate: float,
    lanes: tuple[Any, ...],
    raced_instead: list[str],
    note: str,
) -> None:
    rates["acceptance"] = Acceptance((rate,))
    plan = plan_lanes(pair, asked(*lanes), LOCAL.nodes)
    assert [lane.request.tree_request.kind for lane in plan.lanes] == raced_instead
    assert plan.notes[-1]["code"] == note


def test_with_two_prompts_the_note_on_an_omitted_lane_names_the_prompt(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    prose = "Once upon a time"

    def found(*given: Any) -> tuple[Acceptance, str]:
        return (Acceptance((0.8,)) if prose in given[-1] else RATES), "recorded"

    monkeypatch.setattr("sequoia.measuring.defaults.acceptance_of", found)
    plan = plan_lanes(pair, asked(TUNED, PLANNED, second_prompt=prose), LOCAL.nodes)
    assert [plan.notes[1][name] for name in ("code", "prompt_name")] == ["repeat", "prose"]


def test_a_lane_keeps_its_number_in_the_form(pair: Pair, rates: dict[str, Any]) -> None:
    """It keeps the number even after an empty lane or a lane that is not raced."""
    rates["acceptance"] = Acceptance((0.8,))
    request = asked(PLAIN, ("none", "", "sequoia"), TUNED, PLANNED)
    assert [lane.request.number for lane in plan_lanes(pair, request, LOCAL.nodes).lanes] == [1, 3]
    request = asked(PLAIN, TUNED, PLANNED, ("chain", "4", "sequoia"))
    lanes = plan_lanes(pair, request, LOCAL.nodes).lanes
    assert [lane.request.number for lane in lanes] == [1, 2, 4]


def test_a_chain_that_was_typed_twice_is_raced_twice(pair: Pair) -> None:
    chain = ("chain", "4", "sequoia")
    assert len(plan_lanes(pair, asked(chain, chain), LOCAL.nodes).lanes) == 2


def test_if_no_tree_pays_on_either_prompt_the_best_chain_races_plain_decoding(
    pair: Pair, rates: dict[str, Any]
) -> None:
    rates["acceptance"] = Acceptance((0.001,))
    request = asked(PLAIN, PLANNED, second_prompt="Once upon a time")
    lanes = plan_lanes(pair, request, LOCAL.nodes).lanes
    assert [lane.request.tree_request.kind for lane in lanes] == ["plain", "tuned_chain"] * 2
    assert [lane.request.prompt_name for lane in lanes] == ["code", "code", "prose", "prose"]
    assert [len(lane.chosen.tree) for lane in lanes] == [1, 2, 1, 2]


def test_the_texts_that_trees_were_planned_on_are_noted_for_each_prompt(
    pair: Pair, rates: dict[str, Any]
) -> None:
    rates["source"] = "recorded code"
    prompt = load_json(ASSETS / "survey" / "code.json")[0]
    request = asked(PLAIN, TUNED, prompt=prompt, second_prompt="Once upon a time")
    source = {"label": "recorded", "kind": "code"}
    assert plan_lanes(pair, request, LOCAL.nodes).notes[0] == {
        "code": "rates",
        "sources": [
            {**source, "prompt_name": "code", "has_prompt": True},
            {**source, "prompt_name": "prose", "has_prompt": False},
        ],
    }
    chain = ("chain", "4", "sequoia")
    assert plan_lanes(pair, asked(PLAIN, chain), LOCAL.nodes).notes == ()


def test_in_a_race_without_the_tuned_chain_the_page_predicts_its_speed_up(pair: Pair) -> None:
    """If a lane has a branching tree, but no lane has the tuned chain, the page gives the chain's
    predicted speed-up."""
    chain = best_chain(RATES, PROFILE, slack=0.01)
    note = {
        "code": "missing_chain",
        "prompt_name": "",
        "nodes": len(chain.tree),
        "speedup": chain.predicted_speedup,
        "hypothetical": True,
    }
    assert note in plan_lanes(pair, asked(PLAIN, KARY), LOCAL.nodes).notes
    assert note in plan_lanes(pair, asked(("chain", "2", "sequoia"), KARY), LOCAL.nodes).notes
    assert note not in plan_lanes(pair, asked(PLAIN, TUNED, KARY), LOCAL.nodes).notes
    same = ("chain", str(len(chain.tree)), "sequoia")
    assert plan_lanes(pair, asked(same, KARY), LOCAL.nodes).notes == ()


def test_the_other_machine_named_is_not_the_clocks_own(pair: Pair) -> None:
    """The plan names another machine, on which a tree would beat the best chain. Two of the
    profiles in the clock menu are of an A100. A race timed on one of them must not name an A100."""
    elsewhere = plan_lanes(pair, asked(PLAIN, TUNED), LOCAL.nodes).elsewhere
    assert elsewhere is not None
    assert "A100" not in elsewhere.clock
    assert elsewhere.ratio > 1.05
    other = plan_lanes(pair, asked(PLAIN, TUNED, clock="m1-max-qwen3-8b"), LOCAL.nodes).elsewhere
    assert other is not None
    assert machine_of(other.clock) == "the A100"


# -- a simulated clock -----------------------------------------------------------------------------


def test_every_step_takes_the_simulated_time_of_its_tree(pair: Pair, model_host: ModelHost) -> None:
    """This machine need not be measured."""
    pair.measured.profile = None
    log, _ = raced(model_host, asked(PLAIN, TUNED, PLANNED))
    assert len(log.lanes) == 3
    for lane in log.lanes:
        for step in lane.run.steps:
            assert step.clock == NAME
            assert step.total_seconds == pytest.approx(step_seconds(step.tree, PROFILE), abs=1e-6)
    assert pair.measured.profile is None


def test_nothing_in_a_simulated_race_is_called_measured(model_host: ModelHost) -> None:
    log, messages = raced(model_host, asked(PLAIN, TUNED, PLANNED, max_new_tokens=48))
    metas = [log.meta, *(lane.run.meta for lane in log.lanes)]
    assert {meta["label"] for meta in metas} == {"simulated"}
    assert {meta["clock"] for meta in metas} == {NAME}
    for message in messages:
        for result in filter(None, message.get("results", [])):
            result["lossless"] = None  # not about times, so it may say "measured"
        assert "measured" not in json.dumps(message)
    assert verdict_in(messages)["clock"] == NAME
    assert log.meta["hypothetical"] is True


def test_a_simulated_race_reopens_as_it_was(model_host: ModelHost) -> None:
    log, messages = raced(model_host, asked(PLAIN, TUNED, PLANNED))
    again = json.loads(OpenedRun(RaceLog.from_json(log.to_json())).whole())
    assert (again["meta"]["label"], again["meta"]["clock"]) == ("simulated", NAME)
    assert again["meta"]["notes"] == log.meta["notes"]
    assert again["meta"]["elsewhere"] == log.meta["elsewhere"]
    assert [lane["kind"] for lane in again["lanes"]] == ["plain", "tuned_chain", "planned"]
    for name in ("headlines", "places", "clock"):  # ratios differ, as saved times are rounded
        assert again["verdict"][name] == verdict_in(messages)[name]


# -- presets, names of lanes, old files, keys of clocks --------------------------------------------


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_is_a_race_that_can_be_asked_for(preset: Any) -> None:
    found = asked(*preset.lanes, clock=preset.clock)
    assert len(found.lanes) == len(preset.lanes)
    assert preset.about.startswith(f"**{preset.name}:** ")
    assert preset.about.endswith((".", "?"))


def test_lanes_of_a_preset_have_the_nodes_that_its_description_names(pair: Pair) -> None:
    presets = {preset.key: preset for preset in PRESETS}
    for key, nodes in (("shapes", 15), ("verifiers", 15)):
        plan = plan_lanes(pair, asked(*presets[key].lanes), LOCAL.nodes)
        assert {len(lane.chosen.tree) for lane in plan.lanes} == {nodes}
        assert f"{nodes} nodes" in presets[key].about
    lanes = presets["verifiers"].lanes
    assert [lane[2] for lane in lanes] == [*VERIFIERS][:MOST_LANES]


# -- further runs, and lanes that are not raced ----------------------------------------------------


def gone_on(model_host: ModelHost, request: RunRequest, monkeypatch: pytest.MonkeyPatch) -> RaceLog:
    """A race with two further runs, over short prompts."""
    monkeypatch.setattr(pooled, "MOST_RUNS", 3)
    texts = (request.prompt, "def f(x):", "class A:")
    monkeypatch.setattr(pooled, "prompts_of", lambda _: texts)
    job = DecodeJob(request, model_host, LOCAL, RunStore(8, 10**6))
    job.start()
    list(job.messages())
    further = MoreRunsJob(job.recording, model_host, LOCAL)
    further.start()
    assert [one["error"] for one in sent(further.messages()) if one.get("error")] == []
    return job.recording.log()


def test_further_runs_have_the_lanes_and_the_clock_of_the_race(
    pair: Pair, model_host: ModelHost, rates: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict on all runs uses that clock, too. One lane was left out of the race."""
    pair.measured.profile = None
    rates["acceptance"] = Acceptance((0.8,))
    log = gone_on(model_host, asked(PLAIN, TUNED, PLANNED), monkeypatch)
    assert [len(run.lanes) for run in log.pool.runs] == [2, 2]
    for run in log.pool.runs:
        seconds = [seconds for _, seconds in run.lanes[0].steps]
        assert seconds == pytest.approx([PROFILE.plain_seconds] * len(seconds), abs=1e-6)
    verdict = verdict_of(log)
    assert (verdict.races, verdict.clock) == (3, NAME)
    again = RaceLog.from_json(log.to_json())
    assert verdict_of(again).clock == NAME
    assert pair.measured.profile is None


def test_the_share_that_is_done_does_not_count_a_lane_that_is_not_raced(
    model_host: ModelHost, rates: dict[str, Any]
) -> None:
    """If it did, the predicted wait of other visitors would be too long."""
    rates["acceptance"] = Acceptance((0.8,))
    job = DecodeJob(asked(PLAIN, TUNED, PLANNED), model_host, LOCAL, RunStore(8, 10**6))
    assert (job.share(), job.demand().tokens) == (0, 72)
    job.start()
    list(job.messages())
    assert len(job.recording.lanes) == 2
    assert job.share() == 1

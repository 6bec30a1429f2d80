"""A race in its own thread: its messages, Stop, the results and checks afterwards, and requests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from visits import Gate, lane_steps, results_of, sent, wait

import sequoia.exactness.same_distribution
import ui.run.decode_job
from sequoia import DynamicChoice, Pair, SamplingParams, plain
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.errors import BadPrompt, BadSamplingParams
from sequoia.exactness.same_distribution import FirstTokens
from sequoia.saved_files.race_file import RaceLog
from sequoia.saved_files.race_results import StepCosts, TextMatch
from sequoia.saved_files.run_file import Run
from ui.run import distribution_check, report
from ui.run.decode_job import DecodeJob
from ui.run.messages import OpenedRun
from ui.run.request import RunRequest
from ui.serving.limits import LOCAL, Limits
from ui.serving.model_host import ModelHost
from ui.shared.tree_menu import SHAPES

A100 = "a100-llama-2-7b-eager"
PLAIN = ("plain", "", "sequoia")
CHAIN = ("chain", "4", "sequoia")
KARY = ("kary", "2, 3", "specinfer")
DYNAMIC = ("dynamic", "12, 4", "sequoia")
FORM: dict[str, Any] = {
    "prompt": "def add(a, b):\n    return",
    "temperature": 0.0,
    "top_p": 1.0,
    "max_new_tokens": 12,
    "seed": 1,
    "check": False,
    "lanes": [PLAIN, CHAIN, KARY, DYNAMIC],
}
TEMPERED = {"temperature": 0.9, "lanes": [PLAIN, CHAIN, DYNAMIC]}


def race_request(**changes: Any) -> RunRequest:
    return RunRequest.parse({**FORM, **changes}, LOCAL)


@pytest.fixture
def make(make: Callable[..., DecodeJob]) -> Callable[..., DecodeJob]:
    """Makes a race from FORM with changes."""
    return lambda **fields: make(**{**FORM, **fields})


def raced(race: DecodeJob) -> list[dict[str, Any]]:
    """Start `race` and return all its messages."""
    race.start()
    return sent(race.messages())


def steps_of(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [step for message in messages for step in message.get("steps", [])]


# -- the stream ------------------------------------------------------------------------------------


def test_a_race_streams_and_ends(make: Callable[..., DecodeJob]) -> None:
    messages = raced(make())
    (first,) = [message for message in messages if "lanes" in message]
    assert [lane["plain"] for lane in first["lanes"]] == [True, False, False, False]
    assert [lane["changes"] for lane in first["lanes"]] == [False, False, False, True]
    kinds = [lane["kind"] for lane in first["lanes"]]
    assert [lane["number"] for lane in first["lanes"]] == [1, 2, 3, 4]
    assert kinds[0] == "plain"
    assert kinds[3] == "dynamic"
    assert set(kinds) <= {*SHAPES}
    assert first["meta"]["label"] == "measured"
    assert first["meta"]["params"]["max_new_tokens"] == 12
    for lane in range(4):
        mine = lane_steps(messages, lane)
        assert sum(len(step["text"]) for step in mine) == 12
        assert [step.get("finish") for step in mine] == [None] * (len(mine) - 1) + ["length"]
        assert [step["index"] for step in mine] == [*range(len(mine))]
    assert (messages[-1]["done"], messages[-1]["stopped"], messages[-1]["error"]) == (
        True,
        False,
        None,
    )


def test_a_saved_race_is_opened_as_a_recorded_one(make: Callable[..., DecodeJob]) -> None:
    race = make()
    messages = raced(race)
    file = race.recording.log().to_json()
    again = OpenedRun(RaceLog.from_json(file))
    whole = json.loads(again.whole())
    assert whole["meta"]["label"] == "recorded"
    lanes = next(message["lanes"] for message in messages if "lanes" in message)
    for lane, before in zip(whole["lanes"], lanes, strict=True):
        rates = "recorded" if before["rates"] else ""
        assert lane == {**before, "number": None, "rates": rates}
    assert sorted(json.dumps(step["text"]) for step in whole["steps"]) == sorted(
        json.dumps(step["text"]) for step in steps_of(messages)
    )
    for result, before in zip(whole["results"], results_of(messages), strict=True):
        if result:
            assert before["lossless"].pop("label") == "measured"
            assert result["lossless"].pop("label") == "recorded"
        assert result == before
    assert (whole["done"], whole["stopped"]) == (True, False)
    for lane in again.log().lanes:
        assert Run.from_json(lane.run.to_json()).meta["label"] == "recorded"


def test_a_finished_race_has_a_verdict(make: Callable[..., DecodeJob]) -> None:
    """The verdict is sent once, in the message that ends the steps. A saved race that is opened has
    the same verdict."""
    race = make(max_new_tokens=48)
    messages = raced(race)
    (with_verdict,) = [message for message in messages if "verdict" in message]
    verdict = with_verdict["verdict"]
    assert with_verdict["done"] is True
    assert (verdict["stopped"], verdict["prompts"], verdict["races"]) == (False, 1, 1)
    assert len(verdict["places"]) == 4
    assert all(pair["p"] is not None for pair in verdict["pairs"])
    again = json.loads(OpenedRun(RaceLog.from_json(race.recording.log().to_json())).whole())
    assert again["verdict"]["places"] == verdict["places"]
    assert again["verdict"]["headlines"] == verdict["headlines"]
    for before, after in zip(verdict["speedups"], again["verdict"]["speedups"], strict=True):
        # times are rounded in a file
        assert before is after is None or after["ratio"] == pytest.approx(before["ratio"], rel=1e-3)


# -- pausing ---------------------------------------------------------------------------------------


def texts_of(race: DecodeJob) -> list[list[int]]:
    """The tokens of each lane so far."""
    return [emitted_tokens(lane.run.steps) for lane in race.recording.log().lanes]


def test_each_step_of_a_race_is_a_step_of_every_lane_and_the_tokens_stay_the_same(
    make: Callable[..., DecodeJob],
) -> None:
    """Guards against a pause that loses a lane's caches or random draws."""
    straight = make(**TEMPERED, max_new_tokens=20)
    raced(straight)
    stepped = make(**TEMPERED, max_new_tokens=20)
    for rounds in range(1, 3):
        stepped.start(1)
        messages = sent(stepped.messages())
        assert {lane for message in messages for lane in message["step_lanes"]} == {0, 1, 2}
        assert min(len(lane.run.steps) for lane in stepped.recording.log().lanes) == rounds
        last = messages[-1]
        assert (last["done"], last["end"], last["stopped"]) == (True, "paused", True)
        assert not any(message.get("verdict") or message.get("results") for message in messages)
        assert stepped.holding
    last = raced(stepped)[-1]
    assert (last["done"], last["end"], last["stopped"]) == (True, "length", False)
    assert texts_of(stepped) == texts_of(straight)
    assert stepped.recording.verdict is not None
    assert not stepped.holding


def test_the_last_lane_makes_the_last_steps_alone(make: Callable[..., DecodeJob]) -> None:
    """Guards against a round that waits for a lane that has finished."""
    race = make(max_new_tokens=12, lanes=[PLAIN, CHAIN])
    rounds = 0
    while not race.error and (race.holding or rounds == 0):
        race.start(1)
        assert steps_of(sent(race.messages()))
        rounds += 1
    assert rounds <= 12
    assert list(map(len, texts_of(race))) == [12, 12]


def test_a_stopped_race_is_judged_so_far_and_can_be_resumed(
    make: Callable[..., DecodeJob], gate: Gate
) -> None:
    race = make(max_new_tokens=40, lanes=[PLAIN, CHAIN])
    race.start()
    gate.passes.release(20)
    for _ in range(21):
        assert gate.begun.acquire(timeout=10)
    race.halt()
    gate.open()
    messages = sent(race.messages())
    (verdict,) = [message["verdict"] for message in messages if "verdict" in message]
    assert verdict["stopped"] is True
    assert all(pair["p"] is None for pair in verdict["pairs"])
    results = results_of(messages)
    assert results[0] is None
    assert results[1]["lossless"]["kind"] == "exact"
    assert messages[-1]["notice"] == "Stopped. Resume or Step to continue."
    before = len(steps_of(messages))
    first, *_, last = resumed = raced(race)
    assert (first["from"], first["done"]) == (before, False)
    assert (first["verdict"], first["results"]) == (None, [])
    assert (last["end"], last["notice"]) == ("length", None)
    assert [one["verdict"]["stopped"] for one in resumed if one.get("verdict")] == [False]
    assert results_of(resumed)[1]["lossless"]["kind"] == "exact"


def test_a_race_of_one_lane_has_no_verdict(make: Callable[..., DecodeJob]) -> None:
    """The rest of the analysis is made, and its file opens again."""
    race = make(lanes=[CHAIN])
    messages = raced(race)
    assert messages[-1]["end"] == "length"
    assert not any("verdict" in message or "pool" in message for message in messages)
    (result,) = results_of(messages)
    assert result["lossless"]["kind"] == "exact"
    again = json.loads(OpenedRun(RaceLog.from_json(race.recording.log().to_json())).whole())
    assert "verdict" not in again
    assert [lane["name"] for lane in again["lanes"]] == ["Chain"]


def test_the_least_time_of_a_plain_step_is_measured_after_the_race(
    make: Callable[..., DecodeJob],
) -> None:
    measured = raced(make(lanes=[PLAIN, CHAIN]))
    metas = [message["meta"] for message in measured if "meta" in message]
    assert metas[-1]["floor_seconds"] > 0
    simulated = raced(make(lanes=[PLAIN, CHAIN], clock=A100))
    assert not any("floor_seconds" in message.get("meta", {}) for message in simulated)


def test_stop_ends_all_lanes_after_the_current_step(
    make: Callable[..., DecodeJob], gate: Gate, model_host: ModelHost
) -> None:
    """Only the step under way is finished. No other lane makes a step."""
    race = make(max_new_tokens=200)
    race.start()
    for _ in range(5):
        assert gate.begun.acquire(timeout=10)
        gate.passes.release()
    assert gate.begun.acquire(timeout=10)  # the sixth step is under way
    race.halt()
    gate.passes.release(100)
    messages = sent(race.messages())
    assert len(steps_of(messages)) == 6
    assert (messages[-1]["end"], messages[-1]["error"]) == ("stopped", None)
    assert not race.busy
    assert len(model_host.queue) == 0


def test_a_race_ends_at_its_time_limit(make: Callable[..., DecodeJob]) -> None:
    messages = raced(make(limits=Limits(seconds=0.0), max_new_tokens=100))
    assert len(steps_of(messages)) == 1
    assert "time limit of" in messages[-1]["notice"]
    assert messages[-1]["stopped"]


def test_a_race_complete_at_its_time_limit_is_not_called_stopped(
    make: Callable[..., DecodeJob],
) -> None:
    messages = raced(make(limits=Limits(seconds=0.0), max_new_tokens=1, lanes=[CHAIN]))
    assert len(steps_of(messages)) == 1
    assert messages[-1]["end"] == "length"
    assert messages[-1]["notice"] is None


# -- results and checks ----------------------------------------------------------------------------


def test_a_lane_without_a_draft_model_races_and_is_lossless(make: Callable[..., DecodeJob]) -> None:
    race = make(lanes=[PLAIN, ("lookup", "", "sequoia")], prompt="a b c d a b c d a b c")
    messages = raced(race)
    (first,) = [message for message in messages if "lanes" in message]
    assert [lane["kind"] for lane in first["lanes"]] == ["plain", "lookup"]
    assert first["lanes"][1]["changes"]
    plain, found = results_of(messages)
    assert plain is None
    assert found["lossless"]["kind"] == "exact"
    advice = found["what_to_try"]  # a tree would be of the small model, which this lane lacks
    changes = [one["change"] for one in (*advice["remedies"], *advice["unclear"])]
    assert set(changes) <= {"plain", "larger_target"}


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_where_the_time_went_ends_at_the_verdicts_speedup(
    make: Callable[..., DecodeJob], temperature: float
) -> None:
    """Guards against two different speed-ups of one lane on one screen. Above temperature 0, both
    are for expected tokens per step."""
    race = make(max_new_tokens=48, temperature=temperature)
    results = results_of(raced(race))
    verdict = race.recording.verdict
    assert any(pair.expected for pair in verdict.pairs) == (temperature > 0)
    for lane, result in zip(verdict.speedups[1:], results[1:], strict=True):
        step = StepCosts(**result["time_breakdown"]["step"])
        assert step.speedup == pytest.approx(lane.speedup.ratio, rel=1e-3)


def test_a_lane_that_deviates_from_the_plain_text_is_named(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One token of the lane's text is changed before `check_text` compares it."""
    real = report.check_text

    def changed(pair: Pair, prompt: str, run: list[int], plain: list[int]) -> TextMatch:
        return real(pair, prompt, [*run[:5], run[5] ^ 1, *run[6:]], plain)

    monkeypatch.setattr(report, "check_text", changed)
    lossless = results_of(raced(make(lanes=[PLAIN, CHAIN])))[1]["lossless"]
    assert lossless["kind"] in ("tie", "bug")
    assert lossless["match"]["index"] == 5


def test_an_undecided_result_is_shown_and_saved_as_such(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    undecided = TextMatch("undecided", 8, "bfloat16", 5, problem="there is not enough memory")
    monkeypatch.setattr(report, "check_text", lambda *_: undecided)
    run = make(lanes=[PLAIN, CHAIN, KARY])
    lossless = [result["lossless"] for result in results_of(raced(run))[1:]]
    assert [one["kind"] for one in lossless] == ["undecided"] * 2
    assert {one["match"]["problem"] for one in lossless} == {undecided.problem}
    saved = RaceLog.from_json(run.recording.log().to_json())
    assert [result.lossless.kind for result in saved.results[1:]] == ["undecided"] * 2


def test_without_a_plain_lane_plain_decoding_is_run_afterwards(
    make: Callable[..., DecodeJob],
) -> None:
    results = results_of(raced(make(lanes=[CHAIN, KARY])))
    assert [result["lossless"]["kind"] for result in results] == ["exact", "exact"]
    assert [result.keys() for result in results] == [{"lossless"}] * 2


def test_the_distribution_is_checked_if_requested(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distribution_check, "DRAWS", 60)
    results = results_of(raced(make(**TEMPERED, check=True)))
    assert [result and result["lossless"]["kind"] for result in results] == [None, "fits", "fits"]
    for result in results[1:]:
        lossless = result["lossless"]
        count = result["lossless"]["count"]
        assert (count["draws"], count["wanted"], count["going"]) == (60, 60, False)
        assert sum(cell["seen"] for cell in count["cells"]) == 60
        assert count["freedom"] == len(count["cells"]) - 1
        assert 0 < lossless["p_value"] <= 1
    unchecked = results_of(raced(make(**TEMPERED)))
    assert [result and result["lossless"]["kind"] for result in unchecked] == [None, "none", "none"]


def test_all_lanes_are_checked_at_one_position_of_the_plain_lanes_text(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check samples the next token at one position of the plain lane's text: the first one at
    which the target is uncertain enough. Here the target is made certain at the first three
    positions, so the fourth is used."""
    monkeypatch.setattr(distribution_check, "DRAWS", 20)
    asked: list[list[int]] = []

    def distribution(
        pair: Pair, prompt: str, params: SamplingParams, common: list[int]
    ) -> torch.Tensor:
        asked.append(list(common))
        return (
            torch.eye(pair.target.vocab, dtype=torch.float64)[0]
            if len(common) < 3
            else real(pair, prompt, params, common)
        )

    real = sequoia.exactness.same_distribution.first_token_distribution
    monkeypatch.setattr(
        sequoia.exactness.same_distribution, "first_token_distribution", distribution
    )
    race = make(temperature=0.9, lanes=[CHAIN, PLAIN, DYNAMIC], check=True)
    results = results_of(raced(race))
    counts = [results[i]["lossless"]["count"] for i in (0, 2)]
    assert [(count["lane"], count["position"]) for count in counts] == [(1, 3)] * 2
    plain = [token for step in race.recording.log().lanes[1].run.steps for token in step.emitted]
    assert asked == [plain[:at] for at in range(4)]
    assert counts[0]["cells"][0]["share"] == counts[1]["cells"][0]["share"]
    assert counts[0]["looked"] == 4


def test_equal_lanes_do_not_share_their_draws(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against showing one random result for several lanes, as if each lane had drawn it
    independently."""
    monkeypatch.setattr(distribution_check, "DRAWS", 60)
    results = results_of(raced(make(temperature=0.9, lanes=[CHAIN, CHAIN], check=True)))
    one, other = (
        [cell["seen"] for cell in result["lossless"]["count"]["cells"]] for result in results
    )
    assert one != other


@pytest.mark.parametrize(("distribution", "looked"), [([0.999, 0.001], 12), ([1 / 4096] * 4096, 1)])
def test_a_distribution_that_tells_nothing_is_reported_and_not_sampled(
    make: Callable[..., DecodeJob],
    distribution: list[float],
    looked: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        sequoia.exactness.same_distribution,
        "first_token_distribution",
        lambda *_: torch.tensor(distribution, dtype=torch.float64),
    )
    monkeypatch.setattr(distribution_check, "first_tokens", lambda *_: pytest.fail("was drawn"))
    lossless = results_of(raced(make(**TEMPERED, check=True)))[1]["lossless"]
    assert lossless["kind"] == "blind"
    assert (lossless["count"]["draws"], lossless["count"]["looked"]) == (0, looked)


def test_every_draw_of_the_check_has_its_own_tree_choice(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against a TreeChoice that has already learned from the race or from another draw."""
    made: list[Any] = []

    def one(
        pair: Pair, prompt: str, params: SamplingParams, tree: Callable[[], Any], *_: Any
    ) -> Iterator[FirstTokens]:
        made.extend([tree(), tree()])
        yield FirstTokens(torch.ones(1, dtype=torch.float64), {0: distribution_check.DRAWS})

    monkeypatch.setattr(distribution_check, "first_tokens", one)
    raced(make(temperature=0.9, lanes=[PLAIN, DYNAMIC], check=True))
    assert [type(tree_choice) for tree_choice in made] == [DynamicChoice, DynamicChoice]
    assert made[0] is not made[1]


def test_checks_and_steps_share_the_time_limit(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A race that has reached its time limit is not checked."""
    monkeypatch.setattr(
        ui.run.decode_job, "DistributionCheck", lambda *_: pytest.fail("was checked")
    )
    lossless = results_of(raced(make(limits=Limits(seconds=0.0), **TEMPERED, check=True)))[1][
        "lossless"
    ]
    assert lossless["kind"] == "none"
    assert lossless["why"] == "time_limit"


def test_a_check_without_time_draws_nothing_and_says_so(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against finishing a batch of draws, or examining more positions, after the time
    is up."""
    monkeypatch.setattr(distribution_check, "SECONDS", 0.0)
    monkeypatch.setattr(sequoia.exactness.same_distribution, "LEAST_BITS", 99.0)
    lossless = results_of(raced(make(**TEMPERED, check=True)))[1]["lossless"]
    assert [lossless["count"][name] for name in ("draws", "position", "going")] == [0, 0, False]
    assert lossless["kind"] == "none"
    assert (lossless["why"], lossless["count"]["limit"]) == ("time_limit", 0)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes a check run until it is stopped; the list has an entry for each draw."""
    draws: list[int] = []

    def counted(*args: Any) -> Iterator[FirstTokens]:
        for found in first_tokens(*args):
            draws.append(1)
            yield found

    first_tokens = distribution_check.first_tokens
    monkeypatch.setattr(distribution_check, "first_tokens", counted)
    monkeypatch.setattr(distribution_check, "DRAWS", 100_000)
    monkeypatch.setattr(distribution_check, "SECONDS", 3600.0)
    return draws


def test_another_run_gets_the_models_before_the_next_draw_of_a_check(
    make: Callable[..., DecodeJob], model_host: ModelHost, endless: list[int]
) -> None:
    race = make(**TEMPERED, check=True)
    race.start()
    messages = race.messages()
    wait(lambda: endless, 20)
    in_queue: list[int] = []
    end = time.monotonic() + 10
    late = lambda: time.monotonic() > end  # noqa: E731
    with model_host.turn(late, lambda _: in_queue.append(len(endless))):
        assert in_queue
        assert len(endless) - in_queue[0] <= 1  # the draw that was being made
    lossless = results_of(sent(messages))[1]["lossless"]
    assert lossless["why"] == "other_run"
    assert lossless["count"]["going"] is False


@pytest.mark.parametrize("why", ["other_run", "stopped"])
def test_no_check_begins_after_stop_or_while_another_run_waits(
    make: Callable[..., DecodeJob], model_host: ModelHost, gate: Gate, why: str
) -> None:
    race = make(**TEMPERED, check=True)
    race.start()
    assert gate.begun.acquire(timeout=10)
    other = make()
    other.start()
    wait(lambda: model_host.queue.awaited)
    if why == "stopped":
        race.halt()
    gate.open()
    lossless = results_of(sent(race.messages()))[1]["lossless"]
    assert (lossless["kind"], lossless["why"]) == ("none", why)
    sent(other.messages())


@pytest.mark.parametrize(("counts", "kind"), [({0: 400}, "bug"), ({0: 70, 1: 30}, "poor")])
def test_a_lane_whose_first_tokens_do_not_fit_is_named(
    make: Callable[..., DecodeJob],
    counts: dict[int, int],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = FirstTokens(torch.tensor([0.5, 0.5], dtype=torch.float64), counts)
    monkeypatch.setattr(distribution_check, "first_tokens", lambda *_: iter([found]))
    monkeypatch.setattr(distribution_check, "SECONDS", 0.5)
    lossless = results_of(raced(make(**TEMPERED, check=True)))[1]["lossless"]
    assert lossless["kind"] == kind
    assert lossless["p_value"] < 0.001


# -- requests --------------------------------------------------------------------------------------


def test_a_request_holds_the_values_of_the_form() -> None:
    nothing = ("none", "x", None)
    found = race_request(lanes=[nothing, CHAIN, nothing, CHAIN], max_new_tokens=32.0, seed=7.0)
    assert [lane.name for lane in found.lanes] == ["Chain 1", "Chain 2"]
    assert found.params == SamplingParams(max_new_tokens=32, seed=7)
    assert [lane.name for lane in race_request().lanes] == [
        "Plain",
        "Chain",
        "k-ary, SpecInfer",
        "Dynamic",
    ]


# -- two prompts -----------------------------------------------------------------------------------

STORY = "On the first morning the wind fell. He said"


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_every_lane_races_on_both_prompts_and_each_prompt_has_a_plain_lane(
    make: Callable[..., DecodeJob], pair: Pair, temperature: float
) -> None:
    """Each other lane is compared only with the plain lane of its own prompt."""
    job = make(
        lanes=[PLAIN, CHAIN],
        second_prompt=STORY,
        temperature=temperature,
        max_new_tokens=40,
        check=True,
    )
    job.start()
    messages = sent(job.messages())
    if job.checking:
        messages += sent(job.messages())
    assert messages[-1]["error"] is None
    log = job.recording.log()
    assert [(lane.name, lane.prompt_name) for lane in log.lanes] == [
        ("Plain", "code"),
        ("Chain", "code"),
        ("Plain", "prose"),
        ("Chain", "prose"),
    ]
    assert [lane.prompt for lane in log.lanes] == [FORM["prompt"]] * 2 + [STORY] * 2
    if temperature == 0:
        for lane in log.lanes:
            expected = emitted_tokens(plain(pair, lane.prompt, job.request.params))
            assert emitted_tokens(lane.run.steps) == expected
    found = [result and result.lossless for result in log.results]
    assert found[0] is found[2] is None
    kinds = [found[1].kind, found[3].kind]
    assert kinds == (["exact"] * 2 if temperature == 0 else ["none"] * 2)
    verdict = job.recording.judged["verdict"]
    assert {frozenset((pair["faster"], pair["slower"])) for pair in verdict["pairs"]} == {
        frozenset((0, 1)),
        frozenset((2, 3)),
    }
    assert [one["prompt_name"] for one in verdict["headlines"]] == ["code", "prose"]
    assert [one["name"] for one in verdict["speedup_ratios"]] == ["Chain"]
    assert verdict["prompts"] == 2
    assert verdict["races"] == 1
    assert [place["place"] for place in verdict["places"]].count(1) >= 2
    again = OpenedRun(RaceLog.from_json(log.to_json()))
    assert again.judged["verdict"]["headlines"] == verdict["headlines"]
    assert again.meta["second_prompt"] == STORY
    assert [lane["prompt_name"] for lane in again.lanes] == ["code", "code", "prose", "prose"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lanes": [PLAIN, CHAIN, KARY]}, "3 lanes on two prompts"),
        ({"second_prompt": FORM["prompt"]}, "the second prompt is the same as the first"),
        ({"second_prompt": "x" * 10**6}, "the second prompt has 1000000 characters"),
    ],
)
def test_an_impossible_race_of_two_prompts_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises((BadPrompt, BadSamplingParams), match=words):
        race_request(**{"second_prompt": STORY, "lanes": [PLAIN, CHAIN], **changes})


@pytest.mark.parametrize("nothing", ["  \n", 3])
def test_a_second_prompt_that_is_empty_or_no_text_counts_as_none(nothing: Any) -> None:
    asked = race_request(second_prompt=nothing)
    assert asked.prompts == (FORM["prompt"],)
    assert {lane.prompt_name for lane in asked.lanes} == {""}


def test_two_prompts_of_one_kind_are_numbered() -> None:
    asked = race_request(second_prompt="def other():", lanes=[PLAIN, CHAIN])
    assert [lane.prompt_name for lane in asked.lanes] == ["prompt 1"] * 2 + ["prompt 2"] * 2

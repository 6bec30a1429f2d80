"""A finished race can go on. Further runs, with other prompts or seeds, are pooled with it. Stop
keeps the runs that are complete. Other visitors are served between two runs. The file of the race
has all runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from visits import Gate, sent, wait

import ui.run.more_runs
from sequoia import Pair, Race, SamplingParams
from sequoia.errors import BadTrace
from sequoia.models.pair import CHAT
from sequoia.saved_files.race_file import PooledRun, RaceLog
from ui.run import pooled
from ui.run.decode_job import DecodeJob
from ui.run.messages import OpenedRun, Recording
from ui.run.more_runs import MoreRunsJob
from ui.run.pooled import FurtherRun, further_runs, prompts_of
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.shared.prompts import prompt_kind, surveyed_texts

PROMPT = "def add(a, b):\n    return"
FORM: dict[str, Any] = {
    "prompt": PROMPT,
    "temperature": 0.0,
    "top_p": 1.0,
    "max_new_tokens": 24,
    "seed": 3,
    "check": False,
    "lanes": [("plain", "", "sequoia"), ("chain", "2", "sequoia"), ("dynamic", "6, 3", "sequoia")],
}
FURTHER = 3
HOW_MANY_MORE = pooled.how_many_more


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every race can have three further runs in total, however many its verdict asks for. Their
    prompts are short."""
    monkeypatch.setattr(pooled, "MOST_RUNS", 1 + FURTHER)
    monkeypatch.setattr(pooled, "how_many_more", lambda _, room: min(FURTHER, room))
    texts = (PROMPT, "def f(x):", "class A:", "import os", "x = 1")
    monkeypatch.setattr(pooled, "prompts_of", lambda kind: texts)


@pytest.fixture
def raced(make: Callable[..., DecodeJob]) -> Callable[..., Recording]:
    """Makes a race from FORM with `changes`, and runs it to its end."""

    def made(**changes: Any) -> Recording:
        job = make(**{**FORM, **changes})
        job.start()
        assert sent(job.messages())[-1]["error"] is None
        return job.recording

    return made


@pytest.mark.parametrize(
    ("more", "wanted"),
    [(0, pooled.USUAL_MORE), (7, 7), (None, pooled.USUAL_MORE), (50, pooled.USUAL_MORE)],
)
def test_a_race_goes_on_as_long_as_its_verdict_needs(more: int | None, wanted: int) -> None:
    verdict = SimpleNamespace(more_races=more)
    assert HOW_MANY_MORE(verdict, 40) == wanted  # type: ignore[arg-type]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(ui.run.more_runs, "Race", gate.before(Race))
    yield gate
    gate.open()


def all_messages(race: Recording, model_host: ModelHost) -> list[dict[str, Any]]:
    job = MoreRunsJob(race, model_host, LOCAL)
    job.start()
    return sent(job.messages())


# -- prompts and seeds -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("def f(x):\n    return x", "code"),
        ("int main() {\n  return 0;\n}", "code"),
        ('STATUS = {\n    200: "OK",\n    404: "Not Found",\n', "code"),
        ("On the first morning the wind fell. He said", "prose"),
        ("for a moment he stood still", "prose"),
        ("", "prose"),
    ],
)
def test_code_is_distinguished_from_prose(text: str, kind: str) -> None:
    assert prompt_kind(text) == kind


def test_shipped_prompts_are_of_their_kind_and_no_tree_was_planned_on_them() -> None:
    prompts = {kind: prompts_of(kind) for kind in ("code", "prose")}
    for kind, texts in prompts.items():
        assert len(texts) == len(set(texts)) >= 9
        assert {prompt_kind(text) for text in texts} == {kind}
        assert not {text.strip() for text in texts} & surveyed_texts(kind)


def test_at_temperature_0_each_further_run_has_another_prompt_and_the_same_seed() -> None:
    params = SamplingParams(seed=3)
    runs = further_runs([PROMPT], params, 0, 40)
    assert [run.prompt for run in runs] == ["def f(x):", "class A:", "import os", "x = 1"]
    assert {run.params for run in runs} == {params}
    assert further_runs([PROMPT], params, 2, 40) == runs[2:]


def test_further_runs_of_a_chat_have_chat_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooled, "prompts_of", prompts_of)
    messages = prompts_of(CHAT)
    first = messages[0]
    runs = further_runs([first], SamplingParams(temperature=0.5), 0, 3, chat=True)
    assert [run.prompt for run in runs] == [*messages[1:4]]


def test_above_temperature_0_every_run_has_a_seed_of_its_own() -> None:
    runs = further_runs([PROMPT], SamplingParams(temperature=0.5, seed=3), 0, 9)
    assert [run.params.seed for run in runs] == [*range(4, 13)]
    assert [run.prompt for run in runs[:5]] == [
        "def f(x):",
        "class A:",
        "import os",
        "x = 1",
        PROMPT,
    ]


STORY = "On the first morning the wind fell. He said"


def test_two_prompts_of_different_kinds_go_on_together() -> None:
    """Each run has the next prompt of each kind. In this file both kinds have the same prompts."""
    params = SamplingParams(temperature=0.5, seed=3)
    runs = further_runs([PROMPT, STORY], params, 0, 2)
    assert [(run.prompt, run.second_prompt) for run in runs] == [
        ("def f(x):", PROMPT),
        ("class A:", "def f(x):"),
    ]
    assert [run.params.seed for run in runs] == [4, 5]


def test_two_prompts_of_one_kind_stay_and_only_the_seeds_change() -> None:
    params = SamplingParams(temperature=0.5, seed=3)
    runs = further_runs([PROMPT, "x = 1"], params, 1, 2)
    assert [(run.prompt, run.second_prompt) for run in runs] == [(PROMPT, "x = 1")] * 2
    assert [run.params.seed for run in runs] == [5, 6]
    assert further_runs([PROMPT, "x = 1"], SamplingParams(), 0, 2) == []


# -- pooling ---------------------------------------------------------------------------------------


def test_a_race_of_two_prompts_goes_on_with_both(
    raced: Callable[..., Recording], model_host: ModelHost
) -> None:
    lanes = [("plain", "", "sequoia"), ("chain", "3", "sequoia")]
    race = raced(second_prompt=STORY, lanes=lanes, temperature=0.9, max_new_tokens=40)
    assert race.judged["pool"]["kind"] == "code and prose"
    all_messages(race, model_host)
    log = race.log()
    assert len(log.pool.runs) == FURTHER
    assert [run.second_prompt for run in log.pool.runs] == [PROMPT, "def f(x):", "class A:"]
    verdict = race.judged["verdict"]
    assert verdict["races"] == 1 + FURTHER
    assert {(pair["faster"] // 2, pair["slower"] // 2) for pair in verdict["pairs"]} == {
        (0, 0),
        (1, 1),
    }
    again = OpenedRun(RaceLog.from_json(log.to_json()))
    assert again.judged["verdict"]["headlines"] == verdict["headlines"]
    assert again.log().pool == log.pool
    first, *others = again.judged["pool"]["runs"]
    assert first["prompt"] == "def add(a, b):… / On the first morni…"
    assert others[0]["prompt"] == "def f(x): / def add(a, b):…"


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_a_race_goes_on_and_pools_its_runs(
    raced: Callable[..., Recording], model_host: ModelHost, temperature: float
) -> None:
    race = raced(temperature=temperature)
    first = race.judged
    assert first["pool"]["more"] == FURTHER
    assert first["pool"]["planned"] is None
    messages = all_messages(race, model_host)
    counts = [len(message["pool"]["runs"]) for message in messages]
    assert counts == sorted(counts)
    last = messages[-1]
    assert (last["run"], last["error"]) == (race.name, None)
    assert len(last["pool"]["runs"]) == 1 + FURTHER
    assert (last["pool"]["planned"], last["pool"]["more"]) == (None, 0)
    assert last["pool"]["seeds"] is (temperature > 0)
    verdict = last["verdict"]
    assert (verdict["races"], verdict["prompts"]) == (4, 4)
    assert (verdict["stopped"], verdict["looks"]) == (False, 2)
    assert all(pair["p"] is not None for pair in verdict["pairs"])
    seeds = [run.seed for run in race.pool.runs]
    assert seeds == ([4, 5, 6] if temperature else [3, 3, 3])
    with pytest.raises(BadTrace, match="no further runs are possible"):
        MoreRunsJob(race, model_host, LOCAL)


def test_a_stopped_race_has_no_further_runs(
    raced: Callable[..., Recording], model_host: ModelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = raced()
    log = race.log()
    runs = [replace(lane.run, steps=lane.run.steps[:-1]) for lane in log.lanes]
    lanes = [replace(lane, run=run) for lane, run in zip(log.lanes, runs, strict=True)]
    monkeypatch.setattr(race, "log", lambda: replace(log, lanes=tuple(lanes)))
    with pytest.raises(BadTrace, match="stopped before its end"):
        MoreRunsJob(race, model_host, LOCAL)


def test_stop_keeps_the_runs_that_are_complete(
    raced: Callable[..., Recording], model_host: ModelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = raced()
    job = MoreRunsJob(race, model_host, LOCAL)
    one_run = job._one_run

    def halted_in_the_second(further: FurtherRun) -> PooledRun | None:
        if further == job._runs[1]:
            job.halt()
        return one_run(further)

    monkeypatch.setattr(job, "_one_run", halted_in_the_second)
    job.start()
    last = sent(job.messages())[-1]
    assert len(last["pool"]["runs"]) == 2
    assert last["verdict"]["stopped"] is True
    assert all(pair["p"] is None for pair in last["verdict"]["pairs"])
    assert (last["pool"]["planned"], last["pool"]["more"]) == (None, FURTHER - 1)
    # the other runs can be made later, and their verdict is the second one with p-values
    after = all_messages(race, model_host)[-1]
    assert (after["verdict"]["looks"], after["verdict"]["races"]) == (2, 1 + FURTHER)


@pytest.mark.parametrize("slow", [1, FURTHER])
def test_a_run_that_ends_after_the_time_limit_is_kept(
    raced: Callable[..., Recording],
    model_host: ModelHost,
    monkeypatch: pytest.MonkeyPatch,
    slow: int,
) -> None:
    """Run number `slow` takes too long. If it is the last run, the series is complete anyway."""
    race = raced()
    job = MoreRunsJob(race, model_host, LOCAL)
    one_run = job._one_run
    now = [0.0]
    monkeypatch.setattr(ui.run.more_runs, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def made(further: FurtherRun) -> PooledRun | None:
        run = one_run(further)
        if further == job._runs[slow - 1]:
            now[0] = ui.run.more_runs.TIME_LIMITS * LOCAL.seconds + 1
        return run

    monkeypatch.setattr(job, "_one_run", made)
    job.start()
    last = sent(job.messages())[-1]
    assert len(last["pool"]["runs"]) == 1 + slow
    assert last["verdict"]["stopped"] is (slow < FURTHER)


def test_another_visitor_comes_between_two_runs(
    raced: Callable[..., Recording],
    model_host: ModelHost,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The visitor enters the queue during the first further run and is served before the second."""
    race = raced()
    job = MoreRunsJob(race, model_host, LOCAL)
    begun = []
    served = []
    lanes = job._lanes

    def counted(pair: Pair, further: FurtherRun) -> Any:
        begun.append(further)
        return lanes(pair, further)

    monkeypatch.setattr(job, "_lanes", counted)
    job.start()
    assert gate.begun.acquire(timeout=10)

    def visit() -> None:
        with model_host.turn(lambda: False, lambda _ahead: None):
            served.append(len(begun))

    visitor = threading.Thread(target=visit)
    visitor.start()
    wait(lambda: model_host.queue.awaited)
    gate.open()
    visitor.join(10)
    messages = sent(job.messages())
    assert served == [1]
    assert len(messages[-1]["pool"]["runs"]) == 1 + FURTHER
    assert not model_host.queue.awaited


def test_the_file_of_a_race_has_its_further_runs(
    raced: Callable[..., Recording], model_host: ModelHost
) -> None:
    race = raced(temperature=0.9)
    last = all_messages(race, model_host)[-1]
    file = race.log().to_json()
    again = OpenedRun(RaceLog.from_json(file))
    runs = RaceLog.from_json(file).pool.runs
    assert runs == race.pool.runs
    for run in runs:
        fixed, dynamic = run.lanes[:2], run.lanes[2]
        assert all(set(lane.expected_steps.tokens) == {24} for lane in fixed)
        assert dynamic.expected_steps is None  # its trees are not known beforehand
    shown = json.loads(again.whole())
    assert shown["verdict"]["headlines"] == last["verdict"]["headlines"]
    assert len(shown["pool"]["runs"]) == 1 + FURTHER
    assert shown["pool"]["more"] == 0  # a race from a file cannot go on
    with pytest.raises(BadTrace, match="not made here"):
        MoreRunsJob(again, model_host, LOCAL)


def test_a_race_does_not_go_on_with_other_models(
    raced: Callable[..., Recording], model_host: ModelHost, pair: Pair
) -> None:
    race = raced()
    race.meta["target"] = "another"
    last = all_messages(race, model_host)[-1]
    assert "other models are loaded now" in last["error"]
    assert len(last["pool"]["runs"]) == 1

"""The Experiments tab's handlers: the list, recorded results, a run from the request to its
messages, what is kept after a stop, and how a run makes way for others."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from visits import Reading, request, wait

from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit
from sequoia.experiments.runner import EXPERIMENTS
from ui.experiments import experiment_job
from ui.experiments.experiment_job import ALL_DONE, ExperimentJob
from ui.experiments.messages import recorded_message
from ui.experiments.tab import ExperimentsTab
from ui.serving.fair_queue import Work
from ui.serving.limits import LOCAL, Limits
from ui.serving.model_host import ModelHost
from ui.serving.temporary_folder import VARIABLE
from ui.words.experiment_result import Axis, Words
from ui.words.experiments import WORDS

UNITS = 5


class Toy:
    """An experiment without models. passes: how many more units may run. has_begun: set when the
    first unit begins. ran: the keys of the units that have run."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.passes = threading.Semaphore(1000)
        self.has_begun = threading.Event()

    def measure(self, _pair: Any, unit: Unit) -> list[Entry]:
        self.has_begun.set()
        assert self.passes.acquire(timeout=10)
        self.ran.append(unit.key)
        return [Entry(lane="toy", figures={"tokens": 1.0 + unit.number})]

    def experiment(self) -> Experiment:
        settings = {"kinds": ["code"], "temperatures": [0.0], "prompts": UNITS}
        return Experiment("toy", "Does it run?", {"small": settings}, self.measure, pairs)


def pairs(_settings: Settings, places: Places) -> Iterator[tuple[Cell, Cell]]:
    return ((lanes["toy"], lanes["toy"]) for lanes in places)


TOY = Words(
    title="A toy",
    x=Axis("x", "x"),
    y=Axis("y", "y"),
    drawn=lambda _: (),
    columns=(),
    compared=lambda _: None,
    finding=lambda result: [f"{result.done} ran."],
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    toy = Toy()
    monkeypatch.setitem(EXPERIMENTS, "toy", toy.experiment())
    monkeypatch.setitem(WORDS, "toy", TOY)
    monkeypatch.setattr(experiment_job, "SECONDS_PER_RESULT", 0.0)
    return toy


@pytest.fixture
def made(
    model_host: ModelHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., ExperimentsTab]:
    """Makes the tab in a page of its own. Its files go to the test's temporary folder."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))

    def make(limits: Limits = LOCAL, host: ModelHost = model_host) -> ExperimentsTab:
        with gr.Blocks():
            tab = ExperimentsTab(host, limits)
            tab.build()
        return tab

    return make


def runs(tab: ExperimentsTab, name: Any = "toy", who: str = "one", **more: Any) -> Reading:
    return Reading(tab.run_experiment(gr.EventData(None, {"name": name, **more}), request(who)))


def parsed(messages: Any) -> list[dict[str, Any]]:
    return [json.loads(one)["run"] for one in messages]


def gated_run(tab: ExperimentsTab, toy: Toy, who: str = "one") -> tuple[Any, Any]:
    """A run's message before its first unit, and its last message."""
    toy.passes = threading.Semaphore(0)
    reading = runs(tab, who=who)
    first = next(run for one in reading if "result" in (run := json.loads(one)["run"]))
    toy.passes.release(1000)
    return first, parsed(reading)[-1]


def test_a_run_reports_its_progress_and_its_result(
    made: Callable[..., ExperimentsTab], toy: Toy
) -> None:
    first, last = gated_run(made(), toy)
    assert first["going"]
    assert (first["name"], first["share"], first["words"]) == ("toy", 0, "0 of 5 parts done")
    assert last["going"] is False
    result = last["result"]
    assert (result["done"], result["total"], result["source"]) == (UNITS, UNITS, "measured")
    assert result["finding"].startswith("5 ran.")
    assert "share" not in last
    assert last["notice"] == ""
    assert len(toy.ran) == UNITS


def stopped_after(tab: ExperimentsTab, toy: Toy, units: int) -> dict[str, Any]:
    """The last message of a run that was stopped when `units` units were done."""
    toy.passes = threading.Semaphore(units)
    reading = runs(tab)
    for message in reading:
        run = json.loads(message)["run"]
        if run.get("result", {}).get("done") == units:
            tab.stop(request())
            toy.passes.release()  # for the unit that has begun
            break
    return parsed(reading)[-1]


def test_a_stopped_run_keeps_what_is_done_and_goes_on(
    made: Callable[..., ExperimentsTab], toy: Toy
) -> None:
    tab = made()
    last = stopped_after(tab, toy, 2)
    assert last["result"]["done"] == 3
    words = "Stopped. 3 of 5 parts are done. Press Continue to run the rest."
    assert last["notice"] == words
    first, last = gated_run(tab, toy)
    assert first["result"]["done"] == 3
    assert first["words"] == "3 of 5 parts done"
    assert last["result"]["done"] == UNITS
    assert len({*toy.ran}) == len(toy.ran) == UNITS  # each once
    assert parsed(runs(tab))[-1]["notice"] == ALL_DONE


def test_a_complete_run_is_run_again_if_asked(
    made: Callable[..., ExperimentsTab], toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each unit is run again exactly once, although the run takes many turns."""
    ends = itertools.cycle([False, True])  # at most one unit a turn
    monkeypatch.setattr(ExperimentJob, "_ends_turn", lambda _: next(ends))
    tab = made()
    parsed(runs(tab))
    toy.ran.clear()
    toy.passes = threading.Semaphore(UNITS)
    last = parsed(runs(tab, again=True))[-1]
    assert (last["result"]["done"], last["notice"]) == (UNITS, "")
    assert len({*toy.ran}) == len(toy.ran) == UNITS


def test_a_visitor_who_leaves_is_forgotten(made: Callable[..., ExperimentsTab], toy: Toy) -> None:
    tab = made()
    parsed(runs(tab))
    path = tab._kept.folder("one")
    assert (path / "toy.jsonl").is_file()
    tab._model_host.leave("one")
    assert not path.exists()
    assert len(toy.ran) == UNITS


def test_the_time_limit_ends_a_run(made: Callable[..., ExperimentsTab], toy: Toy) -> None:
    tab = made(Limits(seconds=0.0))
    last = parsed(runs(tab))[-1]
    assert last["result"]["done"] == 0
    assert last["notice"].startswith("Stopped at the limit of 0 s of computing. 0 of 5 parts")
    assert toy.ran == []


def test_a_run_makes_way_for_the_next_visitor(
    made: Callable[..., ExperimentsTab],
    model_host: ModelHost,
    toy: Toy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next visitor comes during the first unit and is served before the last unit."""
    monkeypatch.setattr(experiment_job, "TURN_SECONDS", 0.0)
    toy.passes = threading.Semaphore(0)
    done_before = list[int]()

    def visit() -> None:
        with model_host.queue.turn(lambda: False, lambda _: None, Work()):
            done_before.append(len(toy.ran))

    reading = runs(made())
    assert json.loads(next(reading))["run"]["going"]
    assert toy.has_begun.wait(10)
    other = threading.Thread(target=visit)
    other.start()
    wait(lambda: model_host.queue.awaited)
    toy.passes.release(1000)
    last = parsed(reading)[-1]
    other.join(10)
    assert last["result"]["done"] == UNITS
    assert done_before[0] < UNITS
    assert len(toy.ran) == UNITS


@pytest.mark.parametrize("name", ["../x", None, []])
def test_an_unknown_name_is_refused(made: Callable[..., ExperimentsTab], name: Any) -> None:
    tab = made()
    (refused,) = parsed(runs(tab, name))
    assert refused["error"].startswith("Not run: unknown experiment")
    assert json.loads(tab.get_recorded_experiment(name))["error"].startswith("unknown experiment")


# -- recorded results ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_recorded_result_is_sent_with_its_figure_and_tables(name: str) -> None:
    sent = json.loads(recorded_message(name))["recorded"]["bundled"]
    assert sent["finding"]
    assert sent["partial"] == ""
    assert 'data-part="table"' in sent["tables"]
    assert 'data-part="comparisons"' in sent["tables"]
    assert f"python -m sequoia.experiments {name} --size small" in sent["tables"]
    assert sent["figure"]["data"]

"""A finished run of the Decode view that is run again, so that its verdict rests on more runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sequoia import SequoiaError
from ui.decode.again import AgainJob, job_again
from ui.decode.recordings import Finished, Recording
from ui.decode.run import MORE_RUNS, DecodeJob
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost


def finished(make: Callable[..., DecodeJob], **fields: Any) -> Recording:
    live = make(tokens=32, **fields)
    live.start(None)
    list(live.messages())
    assert live.recording is not None
    return live.recording


def run_again(recording: Recording, model_host: ModelHost) -> list[dict[str, Any]]:
    job = AgainJob(recording, model_host, LOCAL)
    job.start()
    return [json.loads(text) for text in job.messages()]


@pytest.mark.parametrize(("temperature", "texts"), [(0.0, 1), (0.8, 1 + MORE_RUNS)])
def test_the_verdict_rests_on_all_runs(
    make: Callable[..., DecodeJob], model_host: ModelHost, temperature: float, texts: int
) -> None:
    """Above temperature 0, each run has its own seed, so the texts differ."""
    recording = finished(make, compare=True, temperature=temperature)
    before = recording.meta["speedup"]
    said = run_again(recording, model_host)
    assert {message["run"] for message in said} == {recording.name}
    assert [message["again"] for message in said][-1] is False
    verdict = said[-1]["meta"]["speedup"]
    assert recording.run().meta["speedup"] == verdict
    assert (before["runs"], verdict["runs"]) == (1, 1 + MORE_RUNS)
    assert verdict["low"] < verdict["ratio"] < verdict["high"]
    assert verdict["seconds"] == before["seconds"]  # those of the run on screen
    assert len({run.text for run, _ in recording.timed}) == texts
    assert [run.seed for run, _ in recording.timed] == [*range(1 + MORE_RUNS)]


def test_the_page_learns_how_long_further_runs_take(make: Callable[..., DecodeJob]) -> None:
    again = finished(make, compare=True).meta["again"]
    assert again["runs"] == MORE_RUNS
    assert again["seconds"] > 0


def test_only_a_run_made_here_that_was_compared_can_be_run_again(
    make: Callable[..., DecodeJob], model_host: ModelHost
) -> None:
    recording = finished(make)
    assert "again" not in recording.meta
    for refused in (recording, Finished(recording.run()), None):
        with pytest.raises(SequoiaError, match="press Run for a new one"):
            job_again(refused, model_host, LOCAL)


def test_a_stopped_series_keeps_its_runs(
    make: Callable[..., DecodeJob], model_host: ModelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = finished(make, compare=True)
    job = AgainJob(recording, model_host, LOCAL)
    one_run = job._one_run
    monkeypatch.setattr(
        job, "_one_run", lambda pair, number: None if number > 1 else one_run(pair, number)
    )
    job.start()
    said = [json.loads(text) for text in job.messages()]
    assert said[-1]["meta"]["speedup"]["runs"] == 2
    assert said[-1]["notice"] == "Stopped. The runs so far are kept."

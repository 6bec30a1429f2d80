"""Runs and races as the page would make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sequoia import DecodeStats, Pair, Run, SamplingParams, SequoiaError, load_pair
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from ui.decode.recordings import RunStore
from ui.decode.request import DecodeRequest
from ui.decode.run import DecodeJob
from ui.race.form import PARAMS
from ui.race.messages import OpenedRace, StoredRace
from ui.race.presets import RacePreset
from ui.race.race_on import RaceOnJob
from ui.race.request import RaceRequest
from ui.race.run import RaceJob
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.serving.run_job import RunJob
from ui.shared.prompts import presets
from ui.shared.tree_request import TreeRequest


def opened_host(load: Callable[[], Pair] = load_pair) -> ModelHost:
    """The pair that `load` returns (by default the bundled one), ready for runs."""
    host = ModelHost(load, 1)
    host.open()
    return host


def prompt_named(name: str) -> str:
    """The text of an example prompt."""
    return next(one.text for one in presets() if one.name == name)


def request_of(
    prompt: str, params: SamplingParams, tree: Sequence[Any], verifier: str = DEFAULT_VERIFIER
) -> DecodeRequest:
    """A run followed by plain decoding. prompt: the name of an example prompt. tree: the kind of
    tree, then the values of its fields in the form, such as ("best", 64, 6)."""
    kind, *numbers = tree
    tree_request = TreeRequest(kind, tuple(numbers))
    return DecodeRequest(prompt_named(prompt), params, tree_request, verifier)


def record_run(decode_request: DecodeRequest, model_host: ModelHost) -> Run:
    """Make the requested run. Raises SequoiaError if the run fails."""
    run = DecodeJob(decode_request, model_host, LOCAL, RunStore(1, LOCAL.stored_nodes))
    return _made(run).run()


def record_race(
    preset: RacePreset, prompt: str, params: SamplingParams, goes_on: bool, model_host: ModelHost
) -> str:
    """Make the race of `preset` and return the text of its file. prompt: used if `preset` has none.
    goes_on: whether to add all further runs that the page offers. Raises SequoiaError if the race
    or a further run fails."""
    asked = {name: getattr(params, name) for name in PARAMS}
    form = {
        **asked,
        "prompt": preset.prompt or prompt,
        "second_prompt": preset.second_prompt,
        "lanes": preset.lanes,
        "clock": preset.clock,
        "check": True,
    }
    store: RunStore[StoredRace] = RunStore(1, LOCAL.stored_nodes)
    race = _made(RaceJob(RaceRequest.parse(form, LOCAL), model_host, LOCAL, store))
    if goes_on:
        race = _made(RaceOnJob(race, model_host, LOCAL))
    return OpenedRace(race.log()).log().to_json()


def _made(job: RunJob) -> Any:
    """Run `job` to its end and return its recording. Raises SequoiaError if the job fails."""
    job.start()
    for _ in job.messages():
        pass
    if job.error or job.recording is None:
        raise SequoiaError(job.error or f"the {job.name} did not start")
    return job.recording


def repeated(makes: Mapping[str, Callable[[], Run]], rounds: int) -> dict[str, list[Run]]:
    """Make every run once per round. There are `rounds` + 1 rounds, of which the first only warms
    up. Returns the runs of the other rounds, by name."""
    runs: dict[str, list[Run]] = {name: [] for name in makes}
    for number in range(rounds + 1):
        for name, make in makes.items():
            run = make()
            if number:
                runs[name].append(run)
    return runs


def quietest(runs: Sequence[Run]) -> Run:
    """The run whose time, plus the time of plain decoding for as many tokens, is shortest: other
    programs disturbed it least."""
    return min(runs, key=_seconds)


def _seconds(run: Run) -> float:
    stats = DecodeStats.fold(run.steps)
    return stats.total_seconds + stats.tokens * run.meta["plain_seconds"]


def speedup_of(run: Run) -> float:
    """The time of plain decoding per token, divided by that of the run."""
    stats = DecodeStats.fold(run.steps)
    return run.meta["plain_seconds"] * stats.tokens / stats.total_seconds

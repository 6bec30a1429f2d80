"""Runs as the page would make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sequoia import DecodeStats, Pair, Run, SamplingParams, SequoiaError, load_pair
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.loading.pair_request import BUNDLED_NAME, preset
from sequoia.saved_files.race_file import RaceLog
from ui.run.decode_job import DecodeJob
from ui.run.form import FIRST_LANES
from ui.run.messages import OpenedRun
from ui.run.more_runs import MoreRunsJob
from ui.run.presets import RunPreset
from ui.run.recordings import RunStore
from ui.run.request import RunRequest
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.serving.run_job import RunJob
from ui.shared.prompts import chat_presets, presets


def opened_host(load: Callable[[], Pair] = load_pair) -> ModelHost:
    """The pair that `load` returns (by default the bundled one), ready for runs."""
    host = ModelHost(load, 1)
    host.open()
    return host


def host_of(name: str, target: str | None) -> ModelHost:
    """The pair called `name`, ready for runs. target: a folder with the pair's target, for a
    machine that cannot download it. Raises BadModel for an unknown name."""
    if name == BUNDLED_NAME:
        return opened_host()
    known = preset(name)

    def load() -> Pair:
        pair = load_pair(target=target or known.target.ref, draft=known.draft.ref)
        pair.target.name = known.target.id  # the folder's name means nothing elsewhere
        return pair

    return opened_host(load)


def prompt_named(name: str) -> str:
    """The text of an example prompt."""
    return next(one.text for one in [*presets(), *chat_presets()] if one.name == name)


def request_of(
    prompt: str,
    params: SamplingParams,
    tree: Sequence[Any] = ("planned",),
    verifier: str = DEFAULT_VERIFIER,
) -> RunRequest:
    """A run of a tree beside plain decoding. tree: its kind, then the values of its fields in the
    form, such as ("best", 64, 6)."""
    kind, *numbers = tree
    lane = (kind, ", ".join(map(str, numbers)), verifier)
    form = {**_values(params), "prompt": prompt, "lanes": [lane, FIRST_LANES[-1]], "chat": True}
    return RunRequest.parse(form, LOCAL)


def request_of_preset(preset: RunPreset, prompt: str, params: SamplingParams) -> RunRequest:
    """The run of a preset. prompt: used if `preset` has none."""
    form = {
        **_values(params),
        "prompt": preset.prompt or prompt,
        "second_prompt": preset.second_prompt,
        "lanes": preset.lanes,
        "clock": preset.clock,
        "check": True,
        "chat": True,
    }
    return RunRequest.parse(form, LOCAL)


def _values(params: SamplingParams) -> dict[str, Any]:
    names = ("temperature", "top_p", "max_new_tokens", "seed")
    return {name: getattr(params, name) for name in names}


def record(asked: RunRequest, model_host: ModelHost, goes_on: bool = False) -> RaceLog:
    """Make the requested run, as a file has it. goes_on: whether to add all further runs that the
    page offers. Raises SequoiaError if the run or a further one fails."""
    store = RunStore(1, LOCAL.stored_nodes)
    made = _made(DecodeJob(asked, model_host, LOCAL, store))
    if goes_on:
        made = _made(MoreRunsJob(made, model_host, LOCAL))
    return OpenedRun(made.log()).log()


def _made(job: RunJob) -> Any:
    """Run `job` to its end and return its recording. Raises SequoiaError if the job fails."""
    job.start()
    for _ in job.messages():
        pass
    if job.error or job.recording is None:
        raise SequoiaError(job.error or f"the {job.name} did not start")
    return job.recording


def repeated(makes: Mapping[str, Callable[[], RaceLog]], rounds: int) -> dict[str, list[RaceLog]]:
    """Make every run once per round. There are `rounds` + 1 rounds, of which the first only warms
    up. Returns the runs of the other rounds, by name."""
    runs: dict[str, list[RaceLog]] = {name: [] for name in makes}
    for number in range(rounds + 1):
        for name, make in makes.items():
            run = make()
            if number:
                runs[name].append(run)
    return runs


def quietest(runs: Sequence[RaceLog]) -> RaceLog:
    """The run whose time in all lanes is shortest: other programs disturbed it least."""
    return min(runs, key=lambda run: sum(_seconds(lane.run) for lane in run.lanes))


def _seconds(run: Run) -> float:
    return DecodeStats.fold(run.steps).total_seconds


def tokens_per_step(log: RaceLog) -> float:
    """Of the first lane."""
    return DecodeStats.fold(log.lanes[0].run.steps).tokens_per_step


def speedup_of(log: RaceLog) -> float:
    """The time of plain decoding per token, the last lane, divided by that of the first lane."""
    tree, plain = (DecodeStats.fold(log.lanes[i].run.steps) for i in (0, -1))
    return (plain.total_seconds / plain.tokens) * tree.tokens / tree.total_seconds

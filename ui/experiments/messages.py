"""The messages to the browser: a recorded result, the state of a run."""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import Any

from sequoia import SequoiaError
from sequoia.assets_folder import ASSETS
from sequoia.experiments.result import ExperimentResult
from sequoia.experiments.runner import experiment_named
from sequoia.validate_input import json_text
from ui.experiments.experiment_job import Found
from ui.experiments.figure import figure
from ui.experiments.tables import tables
from ui.serving.job import Report
from ui.words.experiments import WORDS

# where the results of each pair are that comes with the program
FOLDERS = {
    "bundled": ASSETS / "experiments",
    "smollm2-135m": ASSETS / "experiments/smollm2-135m",
}
# The browser ignores a message that equals the previous one. So each message about a run has a
# number of its own.
_numbers = count(1)


def recorded_message(name: Any) -> str:
    """A message with the recorded results of the experiment `name` by pair; for an unknown name,
    with an error."""
    try:
        return _recorded_message(experiment_named(name).name)
    except SequoiaError as problem:
        return json_text({"error": str(problem)})


@cache
def _recorded_message(name: str) -> str:
    pairs = [pair for pair, folder in FOLDERS.items() if (folder / f"{name}.json").exists()]
    return json_text(
        {"name": name, "recorded": {pair: shown(recorded_result(name, pair)) for pair in pairs}}
    )


@cache
def recorded_result(name: str, pair: str = "bundled") -> ExperimentResult:
    """The result of the experiment `name` with `pair` that comes with the program."""
    return ExperimentResult.from_json((FOLDERS[pair] / f"{name}.json").read_bytes())


def shown(result: ExperimentResult) -> dict[str, Any]:
    """What the browser shows of a result: texts, a figure, and tables as HTML."""
    words = WORDS[result.name]
    view = words.view(result)
    finding, *details = view["finding"].split("\n")
    parts = "" if result.is_complete else f"{result.done} of {result.total} parts done"
    made = f"{view['source']} {result.date}, {result.machine}"
    return {
        "name": result.name,
        "source": view["source"],
        "finding": finding,
        "details": details,
        "partial": parts and f"Partial result: {parts}.",
        "done": result.done,
        "total": result.total,
        "figure": figure(view),
        "caption": [words.title, "; ".join(filter(None, (parts, made)))],
        "tables": tables(view, words.note, words.table),
    }


def refusal_message(words: str) -> str:
    """A message that says why an experiment was not started or is no longer running."""
    return _run_message({"going": False, "error": words})


def report_message(report: Report, name: str) -> str:
    """A message about a run of the experiment `name`, in progress or ended."""
    going = not report.over
    run: dict[str, Any] = {"name": name, "going": going}
    if going:
        run |= {"share": report.share, "words": report.words}
    if report.error:
        run["error"] = f"Not finished: {report.error}"
    elif isinstance(report.result, Found):
        run |= _found(report, report.result)
    elif not going:
        run["notice"] = report.words
    return _run_message(run)


def _found(report: Report, found: Found) -> dict[str, Any]:
    result = found.result
    words = [found.message]
    if report.over and not result.is_complete:
        words += [
            f"{report.words.rstrip('.')}.",
            f"{result.done} of {result.total} parts are done.",
        ]
        words += ["Press Continue to run the rest."]
    return {"result": shown(result), "notice": " ".join(filter(None, words))}


def _run_message(run: dict[str, Any]) -> str:
    return json_text({"run": {**run, "number": next(_numbers)}})

"""The messages to the browser: the list of experiments, a recorded result, the state of a run."""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import Any

from sequoia import SequoiaError
from sequoia.assets_folder import ASSETS
from sequoia.experiments.experiment import Experiment, units
from sequoia.experiments.registry import EXPERIMENTS, experiment_named
from sequoia.experiments.result import ExperimentResult
from sequoia.validate_input import json_text
from ui.experiments.experiment_job import SIZE, Found
from ui.serving.job import Report
from ui.shared.saved_profiles import shipped
from ui.words.experiments import WORDS

FOLDER = ASSETS / "experiments"
MISSING = (
    "This program comes without a recorded result of this experiment. Press Run for a small "
    "version on this machine, or record the full one with the command below."
)
# The browser ignores a message that equals the previous one. So each message about a run has a
# number of its own.
_numbers = count(1)


def list_message() -> str:
    """A message with all experiments, in the order in which they are shown, and with the names of
    the hardware profiles that settings may mention."""
    profiles = {key: entry.name for key, entry in shipped().items()}
    return json_text({"list": [_about(one) for one in EXPERIMENTS.values()], "profiles": profiles})


def _about(experiment: Experiment) -> dict[str, Any]:
    command = f"python -m sequoia.experiments {experiment.name}"
    words = WORDS[experiment.name]
    return {
        "name": experiment.name,
        "title": words.title,
        "question": experiment.question,
        "note": words.note,
        "table": words.table,
        "units": len(units(experiment.sizes[SIZE])),
        "command": f"{command} --size {SIZE}",
        "full": f"{command} --size full --out assets/experiments --source recorded",
    }


def recorded_message(name: Any) -> str:
    """A message with the recorded result of the experiment `name`, or with the reason why none can
    be shown. For an unknown name, a message with an error."""
    try:
        return _recorded_message(experiment_named(name).name)
    except SequoiaError as problem:
        return json_text({"error": str(problem)})


@cache
def _recorded_message(name: str) -> str:
    try:
        result = recorded_result(name)
    except SequoiaError as problem:
        words = f"The recorded result cannot be read: {problem}"
        return json_text({"name": name, "missing": words})
    if result is None:
        return json_text({"name": name, "missing": MISSING})
    return json_text({"name": name, "recorded": WORDS[name].view(result)})


def recorded_result(name: str) -> ExperimentResult | None:
    """The recorded result that comes with the program; None if there is none. Raises SequoiaError
    if its file is damaged or cannot be read."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        return None
    try:
        return ExperimentResult.from_json(path.read_bytes())
    except OSError as problem:
        raise SequoiaError(str(problem)) from None


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
    return {"result": WORDS[result.name].view(result), "notice": " ".join(filter(None, words))}


def _run_message(run: dict[str, Any]) -> str:
    return json_text({"run": {**run, "number": next(_numbers)}})

"""What the tour shows: its words and settings, its recorded runs, and the times of its machines.
Independent of Gradio and of models."""

from __future__ import annotations

from typing import Any

from sequoia import Run
from sequoia.assets_folder import ASSETS
from sequoia.planning.named_profiles import named_profile
from sequoia.text_files import load_json
from ui.decode import messages, recordings
from ui.shared.message_text import message_text

FOLDER = ASSETS / "lessons"
OPENING = "opening"  # the run that the page opens with


def tour() -> dict[str, Any]:
    """The settings and words of the tour."""
    return load_json(FOLDER / "tour.json")


def recorded_run(name: str) -> Run:
    """A recorded run of the tour."""
    return Run.from_json((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def message() -> str:
    """What the browser needs beside tour.json: {"runs", "profiles"}, each by the name that it has
    there."""
    settings = tour()
    return message_text(
        {
            "runs": {
                **{name: _parts(recorded_run(name)) for name in settings["recordings"]},
                OPENING: _parts(_opening()),
            },
            "profiles": {name: named_profile(name).to_dict() for name in settings["machines"]},
        }
    )


def _opening() -> Run:
    path = next(iter(recordings.shipped().values()))
    return Run.from_json(path.read_text(encoding="utf-8"))


def _parts(run: Run) -> dict[str, Any]:
    data = run.to_dict()
    parts = {name: data[name] for name in ("trees", "pieces", "steps")}
    return {"meta": messages.recorded(data["meta"]), **parts}

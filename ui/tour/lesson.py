"""What the tour shows: its words and settings, its recorded runs, and the times of its machines.
Independent of Gradio and of models."""

from __future__ import annotations

from typing import Any

from sequoia import Run
from sequoia.assets_folder import ASSETS
from sequoia.planning.named_profiles import named_profile
from sequoia.text_files import load_json
from ui.decode import messages
from ui.shared.message_text import message_text

FOLDER = ASSETS / "lessons"


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
            "runs": {name: _run_message(name) for name in settings["recordings"]},
            "profiles": {name: named_profile(name).to_dict() for name in settings["machines"]},
        }
    )


def _run_message(name: str) -> dict[str, Any]:
    data = recorded_run(name).to_dict()
    return {key: data[key] for key in ("meta", "trees", "pieces", "steps")} | {
        "meta": messages.recorded(data["meta"])
    }

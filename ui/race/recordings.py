"""Reads races from files, and gives the run of one lane a title."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sequoia import SequoiaError
from sequoia.assets_folder import ASSETS
from sequoia.saved_files.race_file import LaneLog, RaceLog
from sequoia.saved_files.run_file import Run
from sequoia.validate_input import MAX_JSON_BYTES
from ui.decode.recordings import json_of
from ui.race.messages import OpenedRace

RACES = ASSETS / "races"
WELCOME = "welcome"


def opened(path: Any, most: int) -> OpenedRace:
    """The race in the file at `path`, which may have at most `most` bytes. Raises BadTrace with a
    message for the visitor."""
    return OpenedRace(RaceLog.from_dict(json_of(path, most, "race")))


def welcome() -> OpenedRace | None:
    """The race the view opens with; None if it cannot be read."""
    try:
        return opened(str(RACES / f"{WELCOME}.json"), MAX_JSON_BYTES)
    except SequoiaError:
        return None


def titled(lane: LaneLog) -> Run:
    """The run of `lane`, with a title that names the lane."""
    return replace(lane.run, meta={**lane.run.meta, "title": f"lane {lane.full_name} of a race"})

"""Reads races from files, and keeps races by name, which a page can show again."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from sequoia import SequoiaError
from sequoia.assets_folder import ASSETS
from sequoia.saved_files.race_file import RaceLog
from sequoia.validate_input import MAX_JSON_BYTES
from ui.decode.recordings import NODE_BYTES, RunStore, json_of
from ui.race.messages import OpenedRace, StoredRace
from ui.serving.limits import Limits

RACES = ASSETS / "races"
WELCOME = "welcome"
_MEMORY_PER_BYTE = 5  # bytes of memory that a byte of a race file takes, about


def opened(path: Any, most: int) -> OpenedRace:
    """The race in the file at `path`, which may have at most `most` bytes. Raises BadTrace with a
    message for the visitor."""
    race = OpenedRace(RaceLog.from_dict(json_of(path, most, "race")))
    # a file with small trees can still have long texts
    in_memory = Path(path).stat().st_size * _MEMORY_PER_BYTE
    race.node_count = max(race.node_count, in_memory // NODE_BYTES)
    return race


def welcome() -> OpenedRace | None:
    """The race the view opens with; None if it cannot be read."""
    try:
        return opened(str(RACES / f"{WELCOME}.json"), MAX_JSON_BYTES)
    except SequoiaError:
        return None


class StoredRaces:
    """newest: the last races that were run or opened here. welcome: the recorded race that the view
    opens with; None if it cannot be read."""

    def __init__(self, limits: Limits) -> None:
        self.newest: RunStore[StoredRace] = RunStore(limits.runs, limits.stored_nodes)
        self.welcome = welcome()

    def file_text(self, race: StoredRace) -> str:
        """The text of a race's file. Raises BadTrace if the race cannot be saved."""
        return self._welcome_text if race is self.welcome else race.log().to_json()

    def message(self, race: StoredRace) -> str:
        """A message with the whole race."""
        return self._welcome_message if race is self.welcome else race.whole()

    # made only once, because most pages open with this race
    @cached_property
    def _welcome_text(self) -> str:
        return self.welcome.log().to_json() if self.welcome else ""

    @cached_property
    def _welcome_message(self) -> str:
        return self.welcome.whole(stored=False) if self.welcome else ""

"""Hardware profiles by name: those that come with the program and those a visitor keeps in the
browser. Nothing is believed.

Whether a profile was measured here cannot be told from a file, so whatever is read is at
best a recorded one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sequoia import HardwareProfile, SequoiaError
from sequoia.assets_folder import ASSETS
from sequoia.errors import BadProfile
from sequoia.planning.hardware_profile import MAX_JSON_CHARS
from sequoia.validate_input import shown
from ui.shared.markup import visible

FOLDER = ASSETS / "hardware_profiles"
MAX_KEPT = 12
MAX_NAME = 60
MAX_NOTE = 400


@dataclass(frozen=True)
class Entry:
    """A profile under its name; `note` says what in it is assumed."""

    name: str
    profile: HardwareProfile
    note: str = ""

    def file(self) -> str:
        """The profile as JSON, with its name and note; `read` and
        `HardwareProfile.from_json` take it."""
        return json.dumps({**self.profile.to_dict(), "name": self.name, "note": self.note})


def read(text: str, name: str) -> Entry:
    """The profile in `text`, recorded where it says that it was measured; `name` serves where
    the file has none."""
    profile = HardwareProfile.from_json(text)
    if profile.source == "measured":
        profile = replace(profile, source="recorded")
    data = json.loads(text)
    given = data.get("name")
    note = data.get("note", "")
    return Entry(
        named(given if isinstance(given, str) and given.strip() else name),
        profile,
        visible(note)[:MAX_NOTE] if isinstance(note, str) else "",
    )


def opened(path: Any) -> Entry:
    """The profile in an uploaded file. Raises BadProfile with the value and the bound."""
    if not isinstance(path, str):
        raise BadProfile(f"no file to import, but {shown(path)}")
    try:
        size = Path(path).stat().st_size
        if size > MAX_JSON_CHARS:
            raise BadProfile(f"the file has {size} bytes; a profile may have {MAX_JSON_CHARS}")
        text = Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise BadProfile("not a profile: it is not text in UTF-8") from None
    except (OSError, ValueError):  # ValueError: a name that no file can have
        raise BadProfile("the file could not be read") from None
    return read(text, Path(path).stem[:MAX_NAME])


def named(name: Any) -> str:
    """A name fit for the menu. Raises BadProfile for others."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise BadProfile(f"name: {shown(name)} is not a text of 1 to {MAX_NAME} characters")
    return visible(" ".join(name.split()))[:MAX_NAME]


@cache
def shipped() -> Mapping[str, Entry]:
    """The profiles that come with the program, by file name."""
    return {
        path.stem: read(path.read_text(encoding="utf-8"), path.stem)
        for path in sorted(FOLDER.glob("*.json"))
    }


def kept(store: Any) -> dict[str, Entry]:
    """What the visitor's browser has kept, by name; entries that are no profiles are left out."""
    entries: dict[str, Entry] = {}
    for text in store[:MAX_KEPT] if isinstance(store, list) else []:
        try:
            entry = read(text, "unnamed")
        except SequoiaError:
            continue
        entries[entry.name] = entry
    return entries


def keep(store: Any, entry: Entry) -> list[str]:
    """The browser's store with `entry` added, or put in the place of the one of its name. Raises
    BadProfile where it is full."""
    entries = kept(store)
    if entry.name not in entries and len(entries) >= MAX_KEPT:
        raise BadProfile(
            f"{len(entries)} profiles are kept; at most {MAX_KEPT} can be, so remove one first"
        )
    return _stored([*(old for old in entries.values() if old.name != entry.name), entry])


def without(store: Any, name: str) -> list[str]:
    """The browser's store without the profile `name`."""
    return _stored([entry for entry in kept(store).values() if entry.name != name])


def _stored(entries: Sequence[Entry]) -> list[str]:
    return [entry.file() for entry in entries]

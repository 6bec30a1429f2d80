"""Hardware profiles by name: those shipped with the program, and those saved in a visitor's
browser. The saved ones are untrusted input.

A file cannot prove that its profile was measured on this machine, so a profile read from a file
or from the browser is never labelled "measured".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sequoia import HardwareProfile, SequoiaError
from sequoia.errors import BadProfile
from sequoia.planning.hardware_profile import MAX_JSON_CHARS
from sequoia.planning.named_profiles import profile_files, profile_names
from sequoia.validate_input import read_json, shown
from ui.shared.markup import visible
from ui.shared.uploads import uploaded_json

SAVED = "kept:"  # begins the keys of saved profiles
MAX_KEPT = 12
MAX_NAME = 60
MAX_NOTE = 400


@dataclass(frozen=True)
class Entry:
    """A profile with its name. note: where its figures come from, in words. bundled: whether its
    models are known to be the bundled pair."""

    name: str
    profile: HardwareProfile
    note: str = ""
    bundled: bool = False

    @property
    def model_names(self) -> tuple[str, str]:
        """The names to show for target and draft. A profile of the bundled pair calls its models
        just "target" and "draft". These become "bundled target" and "bundled draft"."""
        names = (self.profile.target, self.profile.draft)
        bundled = names == ("target", "draft") and (self.bundled or "bundled pair" in self.name)
        return ("bundled target", "bundled draft") if bundled else names

    def file(self) -> str:
        """The profile as JSON, with its name and note. `parse_entry` and
        `HardwareProfile.from_json` accept it."""
        return json.dumps({**self.profile.to_dict(), "name": self.name, "note": self.note})


def parse_entry(text: str | bytes, name: str) -> Entry:
    """The profile in the JSON `text`. The source "measured" becomes "recorded". name: used if the
    text has no name. Raises BadProfile."""
    return _entry_of(read_json(text, "profile", MAX_JSON_CHARS, BadProfile), name)


def _entry_of(data: Mapping[str, Any], name: str) -> Entry:
    profile = HardwareProfile.from_dict(data)
    if profile.source == "measured":
        profile = replace(profile, source="recorded")
    given = data.get("name")
    note = data.get("note", "")
    return Entry(
        clean_name(given if isinstance(given, str) and given.strip() else name),
        profile,
        visible(note)[:MAX_NOTE] if isinstance(note, str) else "",
    )


def load_upload(path: Any) -> Entry:
    """The profile in an uploaded file. A profile without a name is named after its file. Raises
    BadProfile if the file cannot be read or contains no valid profile."""
    data = uploaded_json(path, MAX_JSON_CHARS, "profile", BadProfile)
    return _entry_of(data, Path(path).stem[:MAX_NAME])


def clean_name(name: Any) -> str:
    """`name` as menus show it. Raises BadProfile if it is blank, too long or not text."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise BadProfile(
            f"a profile name must have 1 to {MAX_NAME} characters, but got {shown(name)}"
        )
    return visible(" ".join(name.split()))[:MAX_NAME]


@cache
def shipped() -> Mapping[str, Entry]:
    """The profiles shipped with the program, by file name without suffix. They include old
    profiles that newer ones have replaced."""
    return {name: _entry_of(data, name) for name, data in profile_files().items()}


def saved_entries(store: Any) -> dict[str, Entry]:
    """The profiles saved in the visitor's browser (`store`), by name. Invalid entries are skipped,
    and so are all after the first MAX_KEPT."""
    entries: dict[str, Entry] = {}
    for text in store[:MAX_KEPT] if isinstance(store, list) else []:
        try:
            entry = parse_entry(text, "unnamed")
        except SequoiaError:
            continue
        entries[entry.name] = entry
    return entries


def all_entries(store: Any) -> dict[str, Entry]:
    """The saved profiles, then those shipped with the program, by their keys in menus."""
    saved = {SAVED + name: entry for name, entry in saved_entries(store).items()}
    return {**saved, **shipped()}


def listed(entries: Mapping[str, Entry], *chosen: Any) -> dict[str, Entry]:
    """The entries that a menu lists: all except shipped profiles that a newer one has replaced. A
    replaced profile is still listed if it is among `chosen`, because a link may name it."""
    replaced = shipped().keys() - {*profile_names(), *chosen}
    return {key: entry for key, entry in entries.items() if key not in replaced}


def add_entry(store: Any, entry: Entry) -> list[str]:
    """The browser's store with `entry`, which replaces any entry of the same name. Raises
    BadProfile if the store would then have more than MAX_KEPT entries."""
    entries = saved_entries(store)
    if entry.name not in entries and len(entries) >= MAX_KEPT:
        raise BadProfile(
            f"{len(entries)} profiles are saved, which is the most allowed; remove one first"
        )
    entries.pop(entry.name, None)
    return _stored([*entries.values(), entry])


def remove_entry(store: Any, name: str) -> list[str]:
    """The browser's store without the profile `name`."""
    return _stored([entry for entry in saved_entries(store).values() if entry.name != name])


def _stored(entries: Sequence[Entry]) -> list[str]:
    return [entry.file() for entry in entries]

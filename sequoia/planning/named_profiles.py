"""Hardware profiles that come with the program, by name: simulated ones for well-known cards, and
recorded or published ones. Each is a file in assets/hardware_profiles."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from sequoia.assets_folder import ASSETS
from sequoia.errors import BadProfile
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.validate_input import shown

FOLDER = ASSETS / "hardware_profiles"


@cache
def profile_names() -> tuple[str, ...]:
    """Names of the profiles that come with the program, in alphabetical order, without those that
    another one has replaced."""
    return tuple(sorted(name for name, path in _files().items() if not _replaced(path)))


@cache
def named_profile(name: str) -> HardwareProfile:
    """The profile `name`, one of `profile_names()` or one that was replaced since. Raises
    BadProfile for other names."""
    path = _files().get(name) if isinstance(name, str) else None
    if path is None:
        raise BadProfile(
            f"no hardware profile is named {shown(name)}; there are {', '.join(profile_names())}"
        )
    return HardwareProfile.from_json(path.read_text(encoding="utf-8"))


def _files() -> dict[str, Path]:
    return {path.stem: path for path in FOLDER.glob("*.json")}


def _replaced(path: Path) -> bool:
    return "replaced_by" in json.loads(path.read_text(encoding="utf-8"))

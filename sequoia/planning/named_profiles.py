"""Hardware profiles that come with the program, by name. Each is a file in
assets/hardware_profiles."""

from __future__ import annotations

from functools import cache
from typing import Any

from sequoia.assets_folder import ASSETS
from sequoia.errors import BadProfile
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.text_files import load_json
from sequoia.validate_input import shown

FOLDER = ASSETS / "hardware_profiles"


def profile_names() -> tuple[str, ...]:
    """Names of the profiles that come with the program, in alphabetical order. Profiles replaced by
    a newer one are left out."""
    return tuple(name for name, content in profile_files().items() if "replaced_by" not in content)


def named_profile(name: str) -> HardwareProfile:
    """The profile `name`. Replaced profiles are found too, because saved files may still name them.
    Raises BadProfile for unknown names."""
    if not isinstance(name, str) or name not in profile_files():
        raise BadProfile(
            f"no hardware profile is named {shown(name)}; choose one of "
            f"{', '.join(profile_names())}"
        )
    return _profile(name)


def machine_name(name: str) -> str:
    """The machine of the profile `name`, in a few words: the field "name" of its file up to the
    first comma. Without this field, its device up to the first comma. Raises BadProfile for unknown
    names."""
    device = named_profile(name).device
    return str(profile_files()[name].get("name", device)).split(",")[0]


def is_clock_name(name: str) -> bool:
    """Whether a profile that comes with the program has `name` in its field "name"."""
    return any(content.get("name") == name for content in profile_files().values())


def roofline_figures(name: str) -> dict[str, Any] | None:
    """The published figures from which the profile `name` is computed, as in its file. None for a
    profile that is not computed, and for unknown names."""
    found = profile_files().get(name) if isinstance(name, str) else None
    return found.get("roofline") if found else None


@cache
def _profile(name: str) -> HardwareProfile:
    return HardwareProfile.from_dict(profile_files()[name])


@cache
def profile_files() -> dict[str, dict[str, Any]]:
    """Contents of all files, by name."""
    return {path.stem: load_json(path) for path in sorted(FOLDER.glob("*.json"))}

"""Moves the results of a report into the assets, after checking each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sequoia.assets_folder import ASSETS
from sequoia.bench.random_weights import SHAPES
from sequoia.errors import SequoiaError
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.report.folder import BadReport, Folder, checksum, program_version, write_text_at_once
from sequoia.report.stages import OPENING, RACE, RUN
from sequoia.report.tasks.pairs import PROFILE
from sequoia.saved_files.race_file import RaceLog
from sequoia.saved_files.run_file import Run

# the device that a file names
Read = Callable[[str], str]


@dataclass(frozen=True)
class Place:
    """A file that a stage writes, and where in the assets it goes. `{machine}` stands for the
    machine's name. read: returns the device that the file names; raises SequoiaError for a damaged
    file."""

    stage: str
    file: str
    asset: str
    read: Read


def device_of_profile(text: str) -> str:
    """Raises BadProfile, and BadReport for one that was not measured."""
    profile = HardwareProfile.from_json(text)
    if profile.source != "measured":
        raise BadReport(f"the profile is {profile.source}, not measured")
    return profile.device


def device_of_run(text: str) -> str:
    """Raises BadTrace."""
    return str(Run.from_json(text).meta.get("device"))


def device_of_race(text: str) -> str:
    """Raises BadTrace."""
    return str(RaceLog.from_json(text).meta.get("device"))


def places() -> Iterator[Place]:
    """Every file that can be adopted."""
    profiles = "hardware_profiles/{machine}-"
    yield Place("profile", PROFILE, profiles + "bundled.json", device_of_profile)
    for name in SHAPES:
        for kind in ("", "-eager"):
            asset = f"{profiles}{name}{kind}.json"
            yield Place(f"shape-{name}{kind}", PROFILE, asset, device_of_profile)
    yield Place("run", RUN, "runs/{machine}.json", device_of_run)
    yield Place("race", RACE, "races/welcome.json", device_of_race)
    yield Place("opening", OPENING, "runs/welcome.json", device_of_run)


def adopt(folder: Folder, assets: Path = ASSETS, show: Callable[[str], None] = print) -> bool:
    """Move every file that passes its checks. Returns whether none was refused. Raises BadReport if
    there is no report, or one by another version of the program."""
    identity = folder.identity()
    if identity["program"] != program_version():
        raise BadReport(
            f"{folder.path} was made by version {identity['program']} of the program, and this is "
            f"{program_version()}; make a new report"
        )
    passed = [_moved(folder, place, identity["machine"], assets, show) for place in places()]
    return all(passed)


def _moved(
    folder: Folder, place: Place, machine: str, assets: Path, show: Callable[[str], None]
) -> bool:
    """Move a file, where its stage left one. Returns False if it is refused."""
    path = folder.stages / place.stage / place.file
    try:
        text = checked(folder, place, machine)
    except (SequoiaError, OSError, ValueError) as problem:
        show(f"refused: {path}: {problem}")
        return False
    if text is not None:
        target = assets / place.asset.format(machine=file_name(machine))
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text_at_once(target, text)
        path.unlink()
        show(f"{path} -> {target}")
    return True


def checked(folder: Folder, place: Place, machine: str) -> str | None:
    """The text of a file, if it is unchanged since its stage wrote it, can be read, and names the
    machine of the report. None if the stage wrote none, or it was moved. Raises SequoiaError,
    OSError or ValueError."""
    path = folder.stages / place.stage / place.file
    result = folder.result(place.stage)
    if not path.exists() or (result and result.outcome.status != "done"):
        return None
    if result is None:
        raise BadReport("the result of its stage cannot be read")
    if result.files.get(place.file) != checksum(path):
        raise BadReport("it was changed after its stage wrote it")
    text = path.read_text(encoding="utf-8")
    device = place.read(text)
    if not device.startswith(machine):
        raise BadReport(f"it is from {device!r}, and the report is from {machine!r}")
    return text


def file_name(machine: str) -> str:
    """The machine's name as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", machine.lower()).strip("-")

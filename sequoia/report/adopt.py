"""Moves the result files of a report (see folder.py) into the assets, after checking each file."""

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

Read = Callable[[str], str]  # from the text of a file to the device that the file names


@dataclass(frozen=True)
class Adoptable:
    """A file that a stage writes, and the asset that it becomes. `{machine}` in `asset` stands for
    `file_name(machine)`. read: returns the device that the file names; raises SequoiaError for a
    file that is damaged or must not be adopted."""

    stage: str
    file: str
    asset: str
    read: Read


def device_of_profile(text: str) -> str:
    """The device of a profile file. Raises BadProfile for a damaged file, and BadReport if the
    profile was not measured."""
    profile = HardwareProfile.from_json(text)
    if profile.source != "measured":
        raise BadReport(f"the profile is {profile.source}, not measured")
    return profile.device


def device_of_run(text: str) -> str:
    """The device of a run file. Raises BadTrace for a damaged file."""
    return str(Run.from_json(text).meta.get("device"))


def device_of_race(text: str) -> str:
    """The device of a race file. Raises BadTrace for a damaged file."""
    return str(RaceLog.from_json(text).meta.get("device"))


def places() -> Iterator[Adoptable]:
    """Every file that can be adopted."""
    profiles = "hardware_profiles/{machine}-"
    yield Adoptable("profile", PROFILE, profiles + "bundled.json", device_of_profile)
    for name in SHAPES:
        for kind in ("", "-eager"):
            asset = f"{profiles}{name}{kind}.json"
            yield Adoptable(f"shape-{name}{kind}", PROFILE, asset, device_of_profile)
    yield Adoptable("run", RUN, "runs/{machine}.json", device_of_run)
    yield Adoptable("race", RACE, "races/{machine}.json", device_of_race)
    yield Adoptable("opening", OPENING, "runs/welcome.json", device_of_run)


def adopt(folder: Folder, assets: Path = ASSETS, show: Callable[[str], None] = print) -> bool:
    """Move every file that passes its checks into `assets`. Returns False if any file was refused
    or could not be moved. Raises BadReport if `folder` contains no report, or a report by another
    version of the program."""
    identity = folder.identity()
    if identity["program"] != program_version():
        raise BadReport(
            f"{folder.path} was made by version {identity['program']} of the program, but this is "
            f"version {program_version()}; make a new report"
        )
    passed = [_moved(folder, place, identity["machine"], assets, show) for place in places()]
    return all(passed)


def _moved(
    folder: Folder, place: Adoptable, machine: str, assets: Path, show: Callable[[str], None]
) -> bool:
    """Move the file of `place`, if there is one and its stage succeeded. Returns False if the file
    is refused or cannot be moved."""
    path = folder.stages / place.stage / place.file
    try:
        text = checked(folder, place, machine)
        if text is not None:
            target = assets / place.asset.format(machine=file_name(machine))
            target.parent.mkdir(parents=True, exist_ok=True)
            write_text_at_once(target, text)
            path.unlink()
            show(f"{path} -> {target}")
    except (SequoiaError, OSError, ValueError) as problem:
        show(f"refused: {path}: {problem}")
        return False
    return True


def checked(folder: Folder, place: Adoptable, machine: str) -> str | None:
    """The text of the file of `place`. None if there is no file, or its stage did not succeed.
    Raises SequoiaError, OSError or ValueError if the file must not be adopted."""
    path = folder.stages / place.stage / place.file
    result = folder.result(place.stage)
    if not path.exists() or (result and result.outcome.status != "done"):
        return None
    if result is None:
        raise BadReport("the result of its stage cannot be read")
    if result.files.get(place.file) != checksum(path):
        raise BadReport("the file was changed after its stage wrote it")
    text = path.read_text(encoding="utf-8")
    device = place.read(text)
    if not device.startswith(machine):
        raise BadReport(f"the file is from {device!r}, but the report is from {machine!r}")
    return text


def file_name(machine: str) -> str:
    """The machine's name in the form used in file names: lower case, with hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", machine.lower()).strip("-")

"""Moving the result files of a report into the assets: each file is checked first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sequoia.assets_folder import ASSETS
from sequoia.planning.named_profiles import named_profile
from sequoia.report import adopt as adopting
from sequoia.report.adopt import adopt, file_name
from sequoia.report.folder import BadReport, Folder
from sequoia.report.stage import Outcome

CARD = "NVIDIA H200"
VERSION = "0123456789ab"
DONE = Outcome("done", "words")


@pytest.fixture(autouse=True)
def _this_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopting, "program_version", lambda: VERSION)


def report(path: Path, version: str = VERSION) -> Folder:
    """A report with a profile, a run, a race, and a file from a stage that failed."""
    folder = Folder(path)
    path.mkdir()
    folder.identify(CARD, version)
    profile = {**named_profile("h200-qwen3-32b").to_dict(), "device": CARD, "source": "measured"}
    put(folder, "profile", "profile.json", json.dumps(profile))
    run = json.loads((ASSETS / "runs" / "chain.json").read_text())
    run["meta"]["device"] = CARD
    put(folder, "opening", "welcome.json", json.dumps(run))
    race = json.loads((ASSETS / "races" / "welcome.json").read_text())
    race["meta"]["device"] = CARD
    put(folder, "race", "race.json", json.dumps(race))
    put(folder, "run", "other.txt", "", Outcome("failed", "killed by SIGSEGV"))
    return folder


def put(folder: Folder, stage: str, name: str, text: str, outcome: Outcome = DONE) -> None:
    (folder.work(stage) / name).write_text(text)
    folder.finish(stage, outcome)


def adopted(folder: Folder, assets: Path) -> tuple[bool, str]:
    lines: list[str] = []
    return adopt(folder, assets, lines.append), "\n".join(lines)


def files(assets: Path) -> list[str]:
    return sorted(str(path.relative_to(assets)) for path in assets.rglob("*") if path.is_file())


def test_good_files_are_moved_into_the_assets(tmp_path: Path) -> None:
    folder = report(tmp_path / "out")
    is_good, text = adopted(folder, tmp_path / "assets")
    assert is_good, text
    assert files(tmp_path / "assets") == [
        "hardware_profiles/nvidia-h200-bundled.json",
        "races/nvidia-h200.json",
        "runs/welcome.json",
    ]
    assert not (folder.stages / "opening" / "welcome.json").exists()
    assert adopted(folder, tmp_path / "assets") == (True, "")


def test_the_race_that_the_page_opens_with_stays(tmp_path: Path) -> None:
    welcome = tmp_path / "assets" / "races" / "welcome.json"
    welcome.parent.mkdir(parents=True)
    welcome.write_text("made by ui.record")
    assert adopted(report(tmp_path / "out"), tmp_path / "assets")[0]
    assert welcome.read_text() == "made by ui.record"


def rewritten(change: Callable[[dict], object]) -> Callable[[Folder], None]:
    """Damage to profile.json: edits its data with `change`, then stores it as a new result."""

    def write(folder: Folder) -> None:
        data = json.loads((folder.stages / "profile" / "profile.json").read_text())
        change(data)
        put(folder, "profile", "profile.json", json.dumps(data))

    return write


def cut_short(folder: Folder) -> None:
    path = folder.stages / "profile" / "profile.json"
    path.write_text(path.read_text()[:-50])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut_short, "the file was changed after its stage wrote it"),
        (lambda f: put(f, "profile", "profile.json", "{"), "not a JSON file"),
        (
            rewritten(lambda data: data.update(device="NVIDIA A100")),
            "the file is from 'NVIDIA A100'",
        ),
        (rewritten(lambda data: data.update(source="simulated")), "is simulated, not measured"),
        (rewritten(lambda data: data.pop("target_seconds")), "target_seconds"),
        (
            lambda f: (f.stages / "profile" / "result.json").unlink(),
            "the result of its stage cannot be read",
        ),
    ],
)
def test_a_damaged_file_is_refused_and_the_others_are_moved(
    tmp_path: Path, damage: Callable[[Folder], object], words: str
) -> None:
    folder = report(tmp_path / "out")
    damage(folder)
    is_good, text = adopted(folder, tmp_path / "assets")
    assert not is_good
    refused = [line for line in text.splitlines() if line.startswith("refused: ")]
    assert len(refused) == 1
    assert words in refused[0]
    assert files(tmp_path / "assets") == ["races/nvidia-h200.json", "runs/welcome.json"]
    assert (folder.stages / "profile" / "profile.json").exists()


def test_a_profile_in_place_of_a_run_is_refused(tmp_path: Path) -> None:
    folder = report(tmp_path / "out")
    profile = (folder.stages / "profile" / "profile.json").read_text()
    put(folder, "opening", "welcome.json", profile)
    is_good, text = adopted(folder, tmp_path / "assets")
    assert not is_good
    assert "refused: " in text
    assert "runs/welcome.json" not in files(tmp_path / "assets")


def test_a_refusal_names_the_assets_folder_that_cannot_be_written(tmp_path: Path) -> None:
    folder = report(tmp_path / "out")
    (tmp_path / "assets").touch()
    is_good, text = adopted(folder, tmp_path / "assets")
    assert not is_good
    lines = text.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith("refused: ")
        assert str(tmp_path / "assets") in line
    assert (folder.stages / "profile" / "profile.json").exists()


def test_a_report_of_another_version_is_refused(tmp_path: Path) -> None:
    folder = report(tmp_path / "out", "ba9876543210")
    with pytest.raises(BadReport, match="by version ba9876543210 of the program"):
        adopted(folder, tmp_path / "assets")


def test_a_folder_without_a_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadReport, match="there is no readable report in"):
        adopted(Folder(tmp_path), tmp_path / "assets")


def test_names_of_machines_become_names_of_files() -> None:
    assert file_name("cpu (2 threads, AMD EPYC)") == "cpu-2-threads-amd-epyc"

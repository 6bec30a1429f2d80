"""Files that the program saved still open after an editor has added a byte order mark or other line
ends. A file that an editor saved in UTF-16 is refused with a sentence that says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sequoia import HardwareProfile, Run, SequoiaError, Tree
from ui.run.recordings import opened
from ui.serving.limits import LOCAL
from ui.shared.saved_profiles import load_upload

SAVED = Path(__file__).resolve().parents[1] / "saved"
BOM = b"\xef\xbb\xbf"
UPLOADS: dict[str, Callable[[str], Any]] = {
    "races/greedy": lambda path: opened(path, LOCAL.upload),
    "profiles/kept": load_upload,
}
TEXTS: dict[str, Callable[[str], Any]] = {
    "runs/greedy": Run.from_json,
    "profiles/measured": HardwareProfile.from_json,
    "trees/tree": Tree.from_json,
}


def saved(name: str) -> bytes:
    return (SAVED / f"{name}.json").read_bytes()


@pytest.fixture
def file(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(data: bytes) -> Path:
        path = tmp_path / "edited.json"
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("name", UPLOADS)
def test_an_edited_file_opens_in_the_page(file: Callable[[bytes], Path], name: str) -> None:
    data = json.dumps(json.loads(saved(name)), indent=1).replace("\n", "\r\n").encode()
    UPLOADS[name](str(file(BOM + data)))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
@pytest.mark.parametrize("name", UPLOADS)
def test_a_file_in_another_encoding_is_refused_by_its_name(
    file: Callable[[bytes], Path], name: str, encoding: str
) -> None:
    with pytest.raises(SequoiaError, match=f"{encoding[:6].upper()} text; save it again as UTF-8"):
        UPLOADS[name](str(file(saved(name).decode().encode(encoding))))


@pytest.mark.parametrize("name", TEXTS)
def test_an_edited_file_opens_in_python(name: str) -> None:
    assert TEXTS[name]((BOM + saved(name)).decode("utf-8"))

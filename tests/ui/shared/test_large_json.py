"""Uploaded JSON: small and large files give the same values and the same refusals. Hostile files
are refused before they take much memory or time."""

from __future__ import annotations

import json
import marshal
from pathlib import Path
from typing import Any

import pytest
from nightly_cases import nightly

from sequoia.errors import BadTrace
from ui.shared import json_worker, large_json
from ui.shared.large_json import uploaded_json

MOST = 32 * 1024 * 1024
GOOD = {"format": "sequoia-run", "version": 1, "x": [1, 2.5, None, True, 'é[{\\"', {"a": [[]]}]}


def read(path: Path, text: str | bytes) -> Any:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return uploaded_json(str(path), MOST, "run", BadTrace)


@pytest.fixture(params=["small", "large"])
def file(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "large":
        monkeypatch.setattr(large_json, "LARGE", -1)
        monkeypatch.setattr(large_json, "read_json", None)  # a call would fail
    return tmp_path / "file.json"


def test_small_and_large_files_give_the_same_values(file: Path) -> None:
    assert read(file, json.dumps(GOOD)) == GOOD
    assert read(file, json.dumps(GOOD, ensure_ascii=False)) == GOOD


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[1", "]", "}{", "nothing", '{"a": NaN}', '{"a": Infinity}'),
        *("[]", "{}", "1", '"x"', "null", b"\xff\xfe", b'{"\xed\xa0\x80": 1}'),
        '{"format": "sequoia-run", "version": 2}',
        '{"format": "sequoia-run", "version": 1, "x": NaN}',
        '{"format": "sequoia-race", "version": 1}',
    ],
)
def test_damaged_files_are_refused(file: Path, text: str | bytes) -> None:
    with pytest.raises(BadTrace, match="not a"):
        read(file, text)


def hostile(kind: str, size: int) -> str:
    opener, closer = {"[": "[]", "{": "{}"}.get(kind[0], "xx")
    if kind.endswith("deep"):
        return opener * (size // 2) + closer * (size // 2)
    if kind == "text":
        return json.dumps({str(i): "ab" for i in range(size // 18)})
    return f"[{f'{opener}{closer},' * (size // 3)}1]"


@pytest.mark.parametrize("kind", ["[ many", "{ many", "[ deep", *nightly("text")])
def test_a_hostile_file_is_refused_before_it_is_parsed(tmp_path: Path, kind: str) -> None:
    """The reason is never the limit on time."""
    text = hostile(kind, MOST - 1000)
    with pytest.raises(BadTrace, match=r"it has more|levels deep|too much memory"):
        read(tmp_path / "file.json", text)


@pytest.mark.parametrize("depth", [json_worker.MAX_DEPTH, json_worker.MAX_DEPTH + 1])
def test_depth_is_scanned_outside_of_texts(depth: int) -> None:
    """Brackets inside a JSON string do not count."""
    text = json.dumps('[[[[[[[[[[[[[[[["\\[{').encode()
    data = b"[" * (depth - 1) + b'{"a": ' + text + b"}" + b"]" * (depth - 1)
    if depth <= json_worker.MAX_DEPTH:
        json_worker.scan(data)
    else:
        with pytest.raises(json_worker.Refused, match="levels deep"):
            json_worker.scan(data)


@pytest.mark.parametrize("opener", [b"[", b'{"a":', b'[{"a":', b'{"a":['])
def test_lists_and_objects_share_one_limit_on_depth(opener: bytes) -> None:
    """With a limit for each kind, alternating lists and objects could be nested twice as deep."""
    levels = len(opener.replace(b'"a":', b""))
    closer = opener[::-1].translate(bytes.maketrans(b"[{", b"]}"), b'"a:')
    times = json_worker.MAX_DEPTH // levels
    json_worker.scan(opener * times + b"1" + closer * times)
    with pytest.raises(json_worker.Refused, match="levels deep"):
        json_worker.scan(opener * (times + 1) + b"1" + closer * (times + 1))


def test_the_other_process_has_little_memory_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large files are parsed in another process."""
    text = json.dumps({**GOOD, "x": list(range(200_000))})
    assert read(tmp_path / "file.json", text)
    monkeypatch.setattr(large_json, "MEMORY", 24 * 1024 * 1024)
    with pytest.raises(BadTrace, match=r"memory|process was stopped"):
        read(tmp_path / "file.json", text)
    monkeypatch.setattr(large_json, "MEMORY", 320 * 1024 * 1024)
    monkeypatch.setattr(large_json, "SECONDS", 0.001)
    with pytest.raises(BadTrace, match="took more than"):
        read(tmp_path / "file.json", text)


@pytest.mark.parametrize("most", [20, 400, 10_000])
def test_values_come_in_small_pieces(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the server reads a piece, all its other threads wait."""
    value = {"a": [{"b": list(range(50)), "c": "x" * i} for i in range(60)], "d": {"e": []}, "f": 1}
    monkeypatch.setattr(json_worker, "PIECE", most)
    pieces = [*json_worker.pieces_of(value)]
    assert json_worker.values_of(pieces) == value
    one_entry = 400
    assert max(len(marshal.dumps(piece)) for _, piece in pieces) <= most + one_entry


def test_lists_and_objects_are_counted() -> None:
    json_worker.scan(b"[" + b"[]," * (json_worker.MAX_LISTS - 1) + b"1]")
    with pytest.raises(json_worker.Refused, match="lists and objects"):
        json_worker.scan(b"[" + b"{}," * json_worker.MAX_LISTS + b"1]")


def test_values_are_counted() -> None:
    json_worker.scan(b"[" + b"1," * (json_worker.MAX_VALUES - 1) + b"1]")
    with pytest.raises(json_worker.Refused, match="values"):
        json_worker.scan(b"[" + b"1," * json_worker.MAX_VALUES + b"1]")

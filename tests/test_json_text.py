"""JSON that the program writes can be read back. JSON that strangers wrote takes little memory,
however it is made."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sequoia.errors import BadTrace
from sequoia.validate_input import (
    MAX_JSON_BYTES,
    MAX_JSON_MARKS,
    as_file,
    json_text,
    read_json,
    require_size,
)

MIB = 1024 * 1024
VALUE = as_file({"x": [1, 2.5, None, True, 'é"\\\n', (), {"a": [[]]}, -0.0], 7: "7"}, "run")
# what a hostile file repeats
REPEATED = {
    "lists": b"[],",
    "objects": b"{},",
    "objects of one field": b'{"a":0},',
    "numbers": b"1.5,",
    "texts": '"€",'.encode(),
}
KINDS = [*REPEATED, "fields", "levels", "one text"]
# reads each file and prints the largest memory taken so far, in kilobytes
_READ = """
import resource, sys
from sequoia.errors import BadTrace
from sequoia.validate_input import MAX_JSON_BYTES, read_json
for file in sys.argv[1:]:
    data = open(file, "rb").read()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        read_json(data, "run", MAX_JSON_BYTES, BadTrace)
    except BadTrace as problem:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, problem)
"""


def test_what_is_written_is_read_back() -> None:
    text = json_text(VALUE)
    assert read_json(text, "run", MAX_JSON_BYTES, BadTrace) == json.loads(json.dumps(VALUE))


@pytest.mark.parametrize("value", [[float("inf")], {"a": ([1.0, float("nan")],)}])
def test_infinity_and_nan_are_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match="not allowed in JSON"):
        json_text(value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[1", "]", "}{", "nothing", '{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}'),
        *("[]", "{}", "1", '"x"', "null", b"\xff\xfe", b'{"\xed\xa0\x80": 1}', "\ud800", None),
        '{"format": "sequoia-run", "version": 1}',
        '{"format": "sequoia-race", "version": 2}',
    ],
)
def test_damaged_files_are_refused(text: Any) -> None:
    with pytest.raises(BadTrace, match=r"not a|is text|of version"):
        read_json(text, "run", 1000, BadTrace)


def test_a_file_has_as_many_marks_when_it_is_written_as_when_it_is_read() -> None:
    marks = json_text(VALUE).count(",")
    most = {**VALUE, "y": [0] * (MAX_JSON_MARKS - 20 - marks)}
    text = json_text(most)
    require_size(text.encode(), "run", MAX_JSON_BYTES, BadTrace)
    assert read_json(text, "run", MAX_JSON_BYTES, BadTrace)["y"] == most["y"]
    over = {**VALUE, "y": [0] * (MAX_JSON_MARKS + 20)}
    with pytest.raises(BadTrace, match="at most"):
        require_size(json_text(over).encode(), "run", MAX_JSON_BYTES, BadTrace)


def hostile(kind: str) -> bytes:
    """The largest file of this kind that is parsed at all."""
    if kind == "levels":
        return b"[" * 1000 + b"]" * 1000
    if kind == "one text":
        return b'"' + "🙂".encode() + b"a" * (MAX_JSON_BYTES - 6) + b'"'
    if kind == "fields":
        return b"{" + b",".join(b'"%x":0' % n for n in range(MAX_JSON_MARKS // 2)) + b"}"
    one = REPEATED[kind]
    return b"[" + one * ((MAX_JSON_MARKS - 1) // _marks(one)) + b"0]"


def _marks(data: bytes) -> int:
    return sum(map(data.count, (b",", b":", b"[", b"{")))


def test_hostile_files_take_little_memory(tmp_path: Path) -> None:
    files = [tmp_path / kind for kind in KINDS]
    for file in files:
        file.write_bytes(hostile(file.name))
        assert _marks(file.read_bytes()) <= MAX_JSON_MARKS
    printed = subprocess.run(
        [sys.executable, "-c", _READ, *map(str, files)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(printed) == len(KINDS)
    assert all("not a sequoia-run file" in line for line in printed)
    assert max(1024 * int(line.split()[0]) for line in printed) < 250 * MIB


@pytest.mark.parametrize("one", [b"[],", b"{},", b"0,", b'{"a":'])
def test_a_file_with_too_many_values_is_refused_before_it_is_parsed(one: bytes) -> None:
    data = b"[" + one * (MAX_JSON_MARKS // _marks(one) + 1)  # would be refused as damaged
    with pytest.raises(BadTrace, match="commas, colons"):
        read_json(data, "run", MAX_JSON_BYTES, BadTrace)

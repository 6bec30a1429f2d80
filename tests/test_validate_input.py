"""Untrusted values and files: what is let through, and what a refusal says. Every form, parameter
and file of the program uses these functions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from sequoia import Acceptance, HardwareProfile, Run, Tree, load_pair
from sequoia.errors import BadAcceptance, BadProfile, BadTrace, BadTree, SequoiaError, reason
from sequoia.saved_files.race_file import RaceLog
from sequoia.validate_input import (
    MAX_JSON_BYTES,
    MAX_JSON_MARKS,
    MAX_PATH_SHOWN,
    as_file,
    items,
    json_text,
    number,
    one_of,
    read_json,
    short_text,
    shown,
    whole,
)


class Bad(SequoiaError):
    pass


NEITHER = (True, "3", None, math.nan, math.inf, -math.inf, 10**5000, [3], {}, b"3")


@pytest.mark.parametrize("value", [*NEITHER, 3.0, np.float64(3), 0, 9], ids=range(14))
def test_a_whole_number_has_no_other_type_and_is_in_its_range(value: Any) -> None:
    with pytest.raises(Bad, match=r"^size: .{1,60} is not a whole number from 1 to 8$"):
        whole(value, "size", 1, 8, Bad)


@pytest.mark.parametrize("value", [*NEITHER, -0.1, 1.5], ids=range(12))
def test_a_number_has_no_other_type_and_is_in_its_range(value: Any) -> None:
    with pytest.raises(Bad, match=r"^rate: .{1,60} is not a number from 0 to 1$"):
        number(value, "rate", 0, 1, Bad)


def test_numbers_become_plain_ones() -> None:
    assert [type(whole(one, "n", 0, 9, Bad)) for one in (3, np.int64(3))] == [int, int]
    assert [type(number(one, "n", 0, 9, Bad)) for one in (3, np.float32(3))] == [float, float]
    assert [whole(one, "n", 1, 8, Bad) for one in (1, 8)] == [1, 8]


@pytest.mark.parametrize("value", [None, 3, True, ["a"], b"a", "abcd"])
def test_other_values_are_refused(value: Any) -> None:
    for refuse in (
        lambda: short_text(value, "name", 3, Bad),
        lambda: one_of(value, "name", ("x", "y"), Bad),
    ):
        with pytest.raises(Bad, match=r"^name: .{1,60} (is|has)"):
            refuse()


@pytest.mark.parametrize("value", ["ab", b"ab", {1: 2}, None, 3])
def test_a_list_is_neither_text_nor_an_object(value: Any) -> None:
    with pytest.raises(Bad, match=r"^ids must be a list, not .{1,60}$"):
        items(value, "ids must be a list", 9, Bad)


def test_a_list_that_never_ends_is_read_up_to_its_limit() -> None:
    assert items(iter(int, 1), "ids must be a list", 3, Bad) == (0,) * 4


# -- files -----------------------------------------------------------------------------------------

READERS: dict[str, tuple[Callable[[Any], Any], type[SequoiaError]]] = {
    "tree": (Tree.from_json, BadTree),
    "acceptance": (Acceptance.from_json, BadAcceptance),
    "profile": (HardwareProfile.from_json, BadProfile),
    "run": (Run.from_json, BadTrace),
    "race": (RaceLog.from_json, BadTrace),
}
NO_FILES: tuple[Any, ...] = (
    *("", "null", "[]", "{}", "[" * 200_000, "9" * 5000, None, 5, ["x"]),
    *('{"a": NaN}', '{"a": 1e999}', b"\xff\xfe", b'{"\xed\xa0\x80": 1}', "\ud800"),
)


@pytest.mark.parametrize("text", NO_FILES, ids=range(len(NO_FILES)))
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_raises_the_error_of_its_reader(name: str, text: Any) -> None:
    read, error = READERS[name]
    with pytest.raises(error, match="file") as caught:
        read(text)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("version", ["1.0", "true", '"1"', "3", "null"])
@pytest.mark.parametrize("name", READERS)
def test_another_format_or_version_is_refused(name: str, version: str) -> None:
    read, error = READERS[name]
    for text in (f'"sequoia-{name}", "version": {version}', '"sequoia", "version": 1'):
        with pytest.raises(error, match=r"version \d"):
            read(f'{{"format": {text}}}')


@pytest.mark.parametrize("name", READERS)
def test_the_size_is_checked_first(name: str) -> None:
    read, error = READERS[name]
    with pytest.raises(error, match="file may have at most"):
        read(" " * (MAX_JSON_BYTES + 1))


@pytest.mark.parametrize("one", [b"[],", b'{"a":'])
def test_a_file_with_too_many_values_is_refused_before_it_is_parsed(one: bytes) -> None:
    data = b"[" + one * MAX_JSON_MARKS  # would be refused as damaged
    with pytest.raises(BadTrace, match="commas, colons"):
        read_json(data, "run", MAX_JSON_BYTES, BadTrace)


def test_what_is_written_is_read_back() -> None:
    value = as_file({"x": [1, 2.5, None, True, 'é"\\\n', (), {"a": [[]]}, -0.0], 7: "7"}, "run")
    text = json_text(value)
    assert read_json(text, "run", MAX_JSON_BYTES, BadTrace) == json.loads(json.dumps(value))


@pytest.mark.parametrize("value", [[math.inf], {"a": ([1.0, math.nan],)}])
def test_infinity_and_nan_are_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match="not allowed in JSON"):
        json_text(value)


# -- words -----------------------------------------------------------------------------------------

LONG = "/srv/models/of our group/checkpoints/2026-11/run-7/step-120000/final-of-seven"
VERY_LONG = "/srv/" + "models/" * 60 + "final-of-seven"


@pytest.mark.parametrize("path", [LONG, LONG.replace("/", "\\")])
def test_a_long_path_is_shown_whole(path: str) -> None:
    assert shown(path) == repr(path)


def test_a_very_long_path_keeps_its_end() -> None:
    assert shown(VERY_LONG).endswith("final-of-seven'")
    assert len(shown(VERY_LONG)) <= MAX_PATH_SHOWN + 3


def test_a_model_that_is_not_there_is_named_by_the_end_of_its_path() -> None:
    with pytest.raises(SequoiaError, match="final-of-seven"):
        load_pair(target=VERY_LONG, draft=VERY_LONG, online=False)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (MemoryError(), "there is not enough memory"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried 2 GiB."), "there is not enough memory"),
        (AssertionError(), "the library gives no reason"),
        (TypeError("unhashable type: 'list'"), "the library cannot handle one of its values"),
    ],
)
def test_an_error_of_a_library_is_one_clause(problem: Exception, words: str) -> None:
    assert reason(problem) == words

"""The types of the fields of runs and races, with their bounds. A value from a file that has
another type or is out of bounds is refused with one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import ConfigDict, Field, GetPydanticSchema, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from sequoia.errors import SequoiaError
from sequoia.validate_input import alone, shown

T = TypeVar("T")
MAX_STEPS = 4096  # of a run, and the longest list of most fields
MAX_ID = 2**31
# for the outermost types; those inside them have it too
CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, ser_json_inf_nan="constants")

Truth = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=0, le=MAX_ID)]
Node = Annotated[int, Field(strict=True, ge=0, lt=MAX_STEPS)]
Number = Annotated[float, Field(strict=True, ge=-1e12, le=1e12)]
Amount = Annotated[float, Field(strict=True, ge=0, le=1e12)]
Seconds = Annotated[float, Field(strict=True, ge=0, le=1e6)]
Probability = Annotated[float, Field(strict=True, ge=0, le=1.00001)]
Name = Annotated[str, Field(strict=True, max_length=200)]
Words = Annotated[str, Field(strict=True, max_length=2000)]
Text = Annotated[str, Field(strict=True, max_length=1000)]
LongText = Annotated[str, Field(strict=True, max_length=100_000)]
# Lists of at most MAX_STEPS entries. The first wrong entry ends the reading.
Many = Annotated[tuple[T, ...], Field(max_length=MAX_STEPS, fail_fast=True)]
Listed = Annotated[list[T], Field(max_length=MAX_STEPS, fail_fast=True)]


class Phases(TypedDict):
    """Seconds of one step."""

    draft: Seconds
    verify: Seconds
    overhead: Seconds


PhaseSeconds = Annotated[
    Mapping[str, float], GetPydanticSchema(lambda _, handler: handler.generate_schema(Phases))
]


def checked(
    adapter: TypeAdapter[T], data: Any, error: type[SequoiaError], trees: Sequence[Any] = ()
) -> T:
    """The value that `adapter` reads from `data`. Raises `error` with a sentence about the first
    wrong field, or what the type's own checks raise. trees: those that steps refer to by number."""
    try:
        with alone():
            return adapter.validate_python(data, context={"trees": trees})
    except ValidationError as problem:
        raise error(sentence(problem)) from None


def json_of(adapter: TypeAdapter[Any], value: Any, trees: Mapping[Any, int] | None = None) -> bytes:
    """`value` as JSON, without the fields that have their default. trees: the number of each.
    Raises ValueError for NaN and infinity, which JSON does not have."""
    data = adapter.dump_json(
        value, exclude_defaults=True, warnings=False, context={"trees": trees or {}}
    )
    if b"NaN" in data or b"Infinity" in data:  # perhaps only in a text
        orjson.loads(data)
    return data


def sentence(problem: ValidationError) -> str:
    """What is wrong first, such as "steps.3.tokens.0: 'x'; input should be a valid integer"."""
    first = problem.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part)[:40] for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    if first["type"] == "missing":
        return f"{where} is missing"
    return f"{where}: {shown(first['input'])}; {message}"

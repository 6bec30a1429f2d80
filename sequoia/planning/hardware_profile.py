"""HardwareProfile: how long passes of two models take on one machine. Does not measure, and does
not know trees or acceptance.

A measured point is (size, seconds, spread): the median time of a pass over `size` nodes and the
spread of its repeats.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cached_property
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from sequoia.algorithm.acceptance import non_increasing
from sequoia.errors import BadProfile
from sequoia.validate_input import check_format, number, read_json, shown, whole

Point = tuple[int, float, float]  # size, seconds, spread

MAX_POINTS = 256
MAX_SIZE = 65_536
MAX_SECONDS = 1e6
MAX_TEXT = 200
MAX_JSON_CHARS = 256 * 1024
FORMAT = "sequoia-profile"
SOURCES = ("measured", "recorded", "paper", "simulated")


@dataclass(frozen=True)
class HardwareProfile:
    """Times of one machine and pair. Raises BadProfile naming the field, the value and the bound.

    target_seconds: one verification pass over that many nodes; it starts at 1 node, which is plain
    decoding. draft_seconds: one draft pass over that many nodes of a level. overhead_seconds: what
    a step with that many nodes spends outside both models, one number or points. level_overhead:
    what each level that is drafted from adds to that. Sizes increase; between them time is read off
    straight lines that never fall, beyond the last along the last two. source: one of SOURCES.
    date: ISO 8601. versions: library to version.
    """

    device: str
    dtype: str
    target: str
    draft: str
    prefix_length: int
    target_seconds: tuple[Point, ...]
    draft_seconds: tuple[Point, ...]
    source: str
    date: str
    overhead_seconds: tuple[Point, ...] = ((1, 0.0, 0.0),)
    versions: tuple[tuple[str, str], ...] = ()
    level_overhead: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.overhead_seconds, Real):
            object.__setattr__(self, "overhead_seconds", ((1, self.overhead_seconds, 0.0),))
        checked: dict[str, Any] = {
            name: _text(getattr(self, name), name)
            for name in ("device", "dtype", "target", "draft")
        }
        checked["prefix_length"] = whole(self.prefix_length, "prefix_length", 0, 2**24, BadProfile)
        for name, least in (
            ("target_seconds", 1e-12),
            ("draft_seconds", 1e-12),
            ("overhead_seconds", 0.0),
        ):
            checked[name] = _points(getattr(self, name), name, least)
        checked["source"] = _source(self.source)
        checked["date"] = _date(self.date)
        checked["versions"] = _versions(self.versions)
        checked["level_overhead"] = number(
            self.level_overhead, "level_overhead", 0, MAX_SECONDS, BadProfile
        )
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.target_seconds[0][0] != 1:
            raise BadProfile(
                f"target_seconds starts at {self.target_seconds[0][0]} nodes; it must start "
                "at 1, plain decoding"
            )

    def verify_seconds(self, n: int) -> float:
        """One target pass over `n` nodes."""
        return _at(self._target_line, n)

    def draft_seconds_at(self, width: int) -> float:
        """One draft pass over `width` nodes."""
        return _at(self._draft_line, width)

    def overhead(self, n: int, drafted: int = 0) -> float:
        """What a step with `n` nodes spends outside the two models, where `drafted` levels
        are drafted from."""
        return _at(self._overhead_line, n) + drafted * self.level_overhead

    def level_seconds(self, width: int) -> float:
        """What a level costs whose `width` nodes are drafted from: the draft's pass, and the
        overhead of one level more."""
        return self.draft_seconds_at(width) + self.level_overhead

    @property
    def plain_seconds(self) -> float:
        """One token of plain decoding on the same engine."""
        return self.verify_seconds(1) + self.overhead(1)

    @cached_property
    def _target_line(self) -> np.ndarray:
        return _line(self.target_seconds)

    @cached_property
    def _draft_line(self) -> np.ndarray:
        return _line(self.draft_seconds)

    @cached_property
    def _overhead_line(self) -> np.ndarray:
        return _line(self.overhead_seconds)

    def to_dict(self) -> dict[str, Any]:
        """The profile as JSON values, with its format."""
        return {"format": FORMAT, "version": 1, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Any) -> HardwareProfile:
        """The profile that `to_dict` wrote; raises BadProfile for anything else. Files of before
        `level_overhead` have it among the overhead of their nodes."""
        data = {"level_overhead": 0.0, **check_format(data, FORMAT, BadProfile)}
        names = [field.name for field in fields(cls)]
        if missing := [name for name in names if name not in data]:
            raise BadProfile(
                f"the profile has no {', '.join(missing)}; it needs {', '.join(names)}"
            )
        return cls(**{name: data[name] for name in names})

    def to_json(self) -> str:
        """The profile as the text of a file."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> HardwareProfile:
        """The profile in `text`, as written by `to_json`; raises BadProfile for anything else."""
        return cls.from_dict(read_json(text, FORMAT, MAX_JSON_CHARS, BadProfile))


def _line(points: tuple[Point, ...]) -> np.ndarray:
    """(2, points): sizes and seconds. A larger pass cannot be faster, so a dip is noise and is
    pooled with what came before."""
    seconds = non_increasing([-seconds for _, seconds, _ in points])
    return np.array([[size for size, _, _ in points], [-value for value in seconds]], dtype=float)


def _at(line: np.ndarray, size: int) -> float:
    """Seconds at `size`: flat before the first point, straight between points, on along the last
    two beyond the end."""
    size = whole(size, "nodes of a pass", 1, MAX_SIZE, BadProfile)
    sizes, seconds = line
    if len(sizes) == 1 or size <= sizes[-1]:
        return float(np.interp(size, sizes, seconds))
    slope = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
    return float(seconds[-1] + slope * (size - sizes[-1]))


def _points(points: Any, name: str, least: float) -> tuple[Point, ...]:
    points = tuple(
        _point(point, f"{name}[{i}]", least)
        for i, point in enumerate(_items(points, name, MAX_POINTS))
    )
    if not points:
        raise BadProfile(f"{name} has no points; allowed are 1 to {MAX_POINTS}")
    for i in range(1, len(points)):
        if points[i][0] <= points[i - 1][0]:
            raise BadProfile(
                f"{name}[{i}] has size {points[i][0]}; it must be above the "
                f"{points[i - 1][0]} before it"
            )
    return points


def _point(point: Any, name: str, least: float) -> Point:
    size, seconds, spread = _exactly(point, name, 3, "size, seconds, spread")
    return (
        whole(size, f"size of {name}", 1, MAX_SIZE, BadProfile),
        number(seconds, f"seconds of {name}", least, MAX_SECONDS, BadProfile),
        number(spread, f"spread of {name}", 0, MAX_SECONDS, BadProfile),
    )


def _versions(versions: Any) -> tuple[tuple[str, str], ...]:
    pairs = _items(versions.items() if isinstance(versions, Mapping) else versions, "versions", 32)
    return tuple(
        sorted(
            (_text(a, "name in versions"), _text(b, "value in versions"))
            for a, b in (
                _exactly(pair, "an entry of versions", 2, "name, version") for pair in pairs
            )
        )
    )


def _exactly(value: Any, name: str, count: int, meaning: str) -> tuple[Any, ...]:
    items = _items(value, name, count)
    if len(items) != count:
        raise BadProfile(f"{name} has {len(items)} parts; it must have {count}: {meaning}")
    return items


def _items(value: Any, name: str, limit: int) -> tuple[Any, ...]:
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise BadProfile(f"{name} must be a list, not {shown(value)}")
    items = tuple(islice(value, limit + 1))
    if len(items) > limit:
        raise BadProfile(f"{name} has more than the {limit} entries allowed")
    return items


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise BadProfile(f"{name}: {shown(value)} is not a text of at most {MAX_TEXT} characters")
    return value


def _source(value: Any) -> str:
    if value not in SOURCES:
        raise BadProfile(f"source: {shown(value)} is not one of {', '.join(SOURCES)}")
    return value


def _date(value: Any) -> str:
    try:
        datetime.fromisoformat(_text(value, "date"))
    except ValueError:
        raise BadProfile(f"date: {shown(value)} is not an ISO date such as 2025-01-31") from None
    return value

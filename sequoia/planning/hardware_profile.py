"""HardwareProfile: how long forward passes of two models take on one machine.

A point is (size, seconds, spread). If it was measured, `seconds` is the median of repeated
measurements for `size` nodes, and `spread` is half their interquartile range. In
`overhead_seconds`, `seconds` is computed from such medians (see `_by_level` in
measuring/hardware.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import date as Date
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.dataclasses import dataclass

from sequoia.algorithm.acceptance import non_increasing
from sequoia.checked_types import sentence
from sequoia.errors import BadProfile
from sequoia.planning.roofline import Roofline, RooflineDevice, RooflineModel
from sequoia.validate_input import as_file, check_format, read_json, whole

Point = tuple[int, float, float]  # size, seconds, spread

MAX_POINTS = 256
MAX_SIZE = 65_536
MAX_SECONDS = 1e6
LEAST_SECONDS = 1e-12  # of a pass
MAX_TEXT = 200
MAX_JSON_CHARS = 256 * 1024
Source = Literal["measured", "recorded", "paper", "simulated"]


# -- the types of the fields -----------------------------------------------------------------------


def _increasing(points: tuple[Point, ...]) -> tuple[Point, ...]:
    sizes = [size for size, _, _ in points]
    if any(left >= right for left, right in pairwise(sizes)):
        raise ValueError("sizes must increase")
    return points


def _from_plain(points: tuple[Point, ...]) -> tuple[Point, ...]:
    if points[0][0] != 1:
        raise ValueError("the first size must be 1 (plain decoding)")
    return points


def _as_points(value: Any) -> Any:
    return [(1, value, 0.0)] if isinstance(value, Real) else value


def _as_pairs(versions: Any) -> Any:
    return sorted(versions.items()) if isinstance(versions, Mapping) else versions


def _iso_date(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("it must be an ISO date such as 2025-01-31") from None
    return text


Text = Annotated[str, Field(strict=True, max_length=MAX_TEXT)]
Time = Annotated[float, Field(strict=True, ge=0, le=MAX_SECONDS)]
Size = Annotated[int, Field(strict=True, ge=1, le=MAX_SIZE)]
PassPoint = tuple[Size, Annotated[Time, Field(ge=LEAST_SECONDS)], Time]
Several = Field(min_length=1, max_length=MAX_POINTS)
PassPoints = Annotated[tuple[PassPoint, ...], Several, AfterValidator(_increasing)]
Points = Annotated[tuple[tuple[Size, Time, Time], ...], Several, AfterValidator(_increasing)]


# -- the profile -----------------------------------------------------------------------------------


@dataclass(frozen=True, config=ConfigDict(allow_inf_nan=False))
class HardwareProfile:
    """Times of a pair on one machine. Raises BadProfile naming the field, the value and the bound.

    target_seconds: points of the verify pass, by its number of nodes. The first point has 1 node,
    which is plain decoding. draft_seconds: points of the draft pass, by the number of nodes it
    processes. overhead_seconds: points of the time that a step spends outside both models, by the
    step's number of nodes; or one number for all sizes. level_overhead: seconds added to the
    overhead for each draft pass. prefix_length: tokens in the KV cache before a pass. date: ISO
    8601. versions: library to version. calibrated_nodes: see `calibrated_up_to`; None means the
    largest size in target_seconds.

    Sizes increase within each list. Between two points, time is interpolated linearly and never
    decreases. Sizes below the first point get the time of the first point. For sizes above the last
    point, time is extrapolated from the last two points. With a single point, time is the same for
    all sizes.
    """

    device: Text
    dtype: Text
    target: Text
    draft: Text
    prefix_length: Annotated[int, Field(strict=True, ge=0, le=2**24)]
    target_seconds: Annotated[PassPoints, AfterValidator(_from_plain)]
    draft_seconds: PassPoints
    source: Source
    date: Annotated[Text, AfterValidator(_iso_date)]
    overhead_seconds: Annotated[Points, BeforeValidator(_as_points)] = ((1, 0.0, 0.0),)
    versions: Annotated[
        tuple[tuple[Text, Text], ...], Field(max_length=32), BeforeValidator(_as_pairs)
    ] = ()
    level_overhead: Time = 0.0
    calibrated_nodes: Annotated[int, Field(strict=True, ge=0, le=MAX_SIZE)] | None = None

    @model_validator(mode="wrap")
    @classmethod
    def _refused(cls, data: Any, make: Callable[[Any], HardwareProfile]) -> HardwareProfile:
        try:
            return make(data)
        except ValidationError as problem:
            raise BadProfile(sentence(problem)) from None

    @classmethod
    def roofline(
        cls,
        device: RooflineDevice | Mapping[str, Any],
        target: RooflineModel | Mapping[str, Any],
        draft: RooflineModel | Mapping[str, Any],
        *,
        prefix_length: int = 0,
        overhead_seconds: float | tuple[Point, ...] = 0.0,
        level_overhead: float = 0.0,
        calibrated_nodes: int = 0,
        dtype: str = "",
        date: str | None = None,
    ) -> HardwareProfile:
        """A simulated profile, computed from published figures by the roofline model (Williams et
        al., 2009; see sequoia/planning/roofline.py).

        device, target, draft: a RooflineDevice and two RooflineModels, or mappings of their fields.
        dtype: the text to show; by default it says how many bits a weight has. date: ISO 8601, by
        default today. Raises BadProfile naming the part, the field, the value and the bound.
        """
        # `Any`, because Roofline also accepts mappings; its annotations name only the classes
        parts: dict[str, Any] = {"device": device, "target": target, "draft": draft}
        try:
            roofline = Roofline(**parts, prefix_length=prefix_length)
        except ValidationError as problem:
            raise BadProfile(sentence(problem)) from None
        return cls(
            device=roofline.device.name,
            dtype=dtype or f"{8 * roofline.target.bytes_per_weight:g} bits per weight",
            target=roofline.target.name,
            draft=roofline.draft.name,
            prefix_length=roofline.prefix_length,
            target_seconds=roofline.points("target"),
            draft_seconds=roofline.points("draft"),
            source="simulated",
            date=Date.today().isoformat() if date is None else date,
            overhead_seconds=overhead_seconds,  # pyright: ignore[reportArgumentType]
            level_overhead=level_overhead,
            calibrated_nodes=calibrated_nodes,
        )

    @property
    def calibrated_up_to(self) -> int:
        """Nodes of the largest tree whose time was measured or compared with a measurement, 0 if
        there is none. Times of larger trees are predicted without such a check."""
        if self.calibrated_nodes is None:
            return self.target_seconds[-1][0]
        return self.calibrated_nodes

    def verify_seconds(self, n: int) -> float:
        """Seconds of one target pass over `n` nodes."""
        return _at(self._target_line, n)

    def draft_seconds_at(self, width: int) -> float:
        """Seconds of one draft pass over `width` nodes."""
        return _at(self._draft_line, width)

    def overhead(self, n: int, drafted: int = 0) -> float:
        """Seconds that a step with `n` nodes and `drafted` draft passes spends outside the two
        models."""
        return _at(self._overhead_line, n) + drafted * self.level_overhead

    def level_seconds(self, width: int) -> float:
        """Seconds that a level with a draft pass over `width` nodes adds to a step: the pass, and
        the overhead of one more level."""
        return self.draft_seconds_at(width) + self.level_overhead

    @property
    def plain_seconds(self) -> float:
        """Seconds of one token in plain decoding."""
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
        """The profile as JSON values, with the name and version of the file format."""
        data = asdict(self)
        if self.calibrated_nodes is None:
            del data["calibrated_nodes"]
        return as_file(data, "profile")

    @classmethod
    def from_dict(cls, data: Any) -> HardwareProfile:
        """The profile from data written by `to_dict`, or computed from the roofline parameters in
        `data`. Raises BadProfile for anything else. Files without `level_overhead` include that
        time in `overhead_seconds`."""
        data = check_format(data, "profile", BadProfile)
        if "roofline" in data:
            data = _with_roofline(data)
        return cls(**{one.name: data[one.name] for one in fields(cls) if one.name in data})

    def to_json(self) -> str:
        """The profile as the text of a file."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> HardwareProfile:
        """The profile in `text`, which is JSON that `from_dict` accepts. Raises BadProfile for
        anything else."""
        return cls.from_dict(read_json(text, "profile", MAX_JSON_CHARS, BadProfile))


def _with_roofline(data: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a profile's file, completed with the curves computed from its roofline. Curves
    in the file replace computed ones. The profile counts as simulated, unless the file has the
    curves of both models and a `source`."""
    try:
        computed = HardwareProfile.roofline(**data["roofline"]).to_dict()
    except TypeError:
        raise BadProfile(
            "roofline must be an object with device, target and draft, and no unknown field"
        ) from None
    if "target_seconds" in data and "draft_seconds" in data:
        computed.pop("calibrated_nodes", None)  # this number is about the computed curves
        return {**computed, **data}
    return {**computed, **data, "source": "simulated"}


def _line(points: tuple[Point, ...]) -> np.ndarray:
    """(2, points): sizes and seconds. A larger pass cannot be faster, so a dip is noise. It is
    averaged with the points before it."""
    seconds = non_increasing([-seconds for _, seconds, _ in points])
    return np.array([[size for size, _, _ in points], [-value for value in seconds]], dtype=float)


def _at(line: np.ndarray, size: int) -> float:
    """Seconds at `size`, interpolated as HardwareProfile describes."""
    size = whole(size, "nodes of a pass", 1, MAX_SIZE, BadProfile)
    sizes, seconds = line
    if len(sizes) == 1 or size <= sizes[-1]:
        return float(np.interp(size, sizes, seconds))
    slope = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
    return float(seconds[-1] + slope * (size - sizes[-1]))

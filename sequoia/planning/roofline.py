"""Roofline model: how long a forward pass takes, computed from published figures of a device and a
model.

A pass over n nodes launches kernels, reads the weights and the KV cache, copies the offloaded
weights from the host, and computes. Launching and reading follow one another: while a kernel starts
or ends, the memory is idle. Copying overlaps with both, so only the longer of the two times counts.
It is called `fixed`, because it hardly depends on n. The time of computing, `compute`, is
proportional to n. The whole pass takes a smooth maximum of the two, sqrt(fixed² + compute²): nearly
flat at first, then a bend where they are equal, then nearly proportional to n. The arithmetic of
attention is left out, because it is small for contexts of a few thousand tokens.

Compared with a measured 7B target on an H100, the model is at most 17% off up to 512 nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationInfo
from pydantic.dataclasses import dataclass

from sequoia.algorithm.tree import MAX_NODES
from sequoia.errors import BadProfile, SequoiaError
from sequoia.validate_input import number, short_text, shown, whole

EFFICIENCY = 0.55  # share of the peak arithmetic rate that matrix products reach
MAX_TEXT = 200
GIGA = 1e9
TERA = 1e12
MICRO = 1e-6
# Up to four sizes for each doubling: straight lines between them are within 1% of the curve.
SIZES = tuple(sorted({round(2 ** (k / 4)) for k in range(4 * int(math.log2(MAX_NODES)) + 1)}))


# -- checks ----------------------------------------------------------------------------------------


def checked(check: Callable[..., Any], *bounds: Any, optional: bool = False) -> PlainValidator:
    """For the type of a field: its value is `check(value, name of the field, *bounds, BadProfile)`,
    which raises BadProfile for other values. optional: whether it may also be None."""

    def value_of(value: Any, info: ValidationInfo) -> Any:
        is_left_out = optional and value is None
        return None if is_left_out else check(value, info.field_name, *bounds, BadProfile)

    return PlainValidator(value_of)


def _named(value: Any, what: str, error: type[SequoiaError]) -> str:
    if not short_text(value, what, MAX_TEXT, error).strip():
        raise error(f"{what} is empty")
    return value


Name = Annotated[str, checked(_named)]


# -- the figures -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class RooflineDevice:
    """The peak figures of a device. Raises BadProfile naming the field that is invalid, and why.

    memory_gb_per_s: bandwidth of the device's memory, 10^9 bytes per second. tflops: peak rate of
    dense 16-bit matrix products, 10^12 operations per second. efficiency: share of the peak rate
    that is reached, 0.01 to 1. link_gb_per_s: bandwidth from host memory to the device, for
    offloaded weights; None if nothing is offloaded.
    """

    name: Name
    memory_gb_per_s: Annotated[float, checked(number, 0.001, 1e6)]
    tflops: Annotated[float, checked(number, 0.001, 1e6)]
    efficiency: Annotated[float, checked(number, 0.01, 1)] = EFFICIENCY
    link_gb_per_s: Annotated[float | None, checked(number, 0.001, 1e6, optional=True)] = None


@dataclass(frozen=True)
class RooflineModel:
    """The work of a forward pass of a model. Raises BadProfile naming the field that is invalid,
    and why.

    parameters: number of weights; every pass reads all of them. launch_us_per_layer: microseconds
    that a layer takes beyond reading its weights: several hundred if its kernels are launched from
    Python (eager), 145 in a CUDA graph (measured on an H100). kv_bytes_per_token: bytes of KV cache
    per token. offloaded: share of the weights that every pass copies from host memory, 0 to 1.
    """

    name: Name
    parameters: Annotated[float, checked(number, 1000, 1e14)]
    layers: Annotated[int, checked(whole, 1, 10_000)]
    launch_us_per_layer: Annotated[float, checked(number, 0, 1e6)]
    bytes_per_weight: Annotated[float, checked(number, 0.1, 16)] = 2.0
    kv_bytes_per_token: Annotated[float, checked(number, 0, 1e9)] = 0.0
    offloaded: Annotated[float, checked(number, 0, 1)] = 0.0


def _part(value: Any, name: str, error: type[SequoiaError]) -> RooflineDevice | RooflineModel:
    """`value` itself, or the device or model made from `value`, a mapping of its fields. Errors
    begin with `name`."""
    kind = RooflineDevice if name == "device" else RooflineModel
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise error(f"{name} must be an object with its fields, not {shown(value)}")
    known = {field.name: field for field in fields(kind)}
    needed = [key for key, field in known.items() if field.default is MISSING]
    if missing := [key for key in needed if key not in value]:
        raise error(f"{name} has no {', '.join(missing)}; it needs {', '.join(needed)}")
    if unknown := [key for key in value if key not in known]:
        raise error(f"{name}: {shown(unknown[0])} is not one of {', '.join(known)}")
    try:
        return kind(**value)
    except BadProfile as problem:
        raise error(f"{name}: {problem}") from None


@dataclass(frozen=True)
class Roofline:
    """Two models on one device. Each of these three may be given as a mapping of its fields, as
    read from a file. prefix_length: tokens in the KV cache before the pass. Raises BadProfile if a
    field is invalid, or if a model is offloaded and the device has no link_gb_per_s."""

    device: Annotated[RooflineDevice, checked(_part)]
    target: Annotated[RooflineModel, checked(_part)]
    draft: Annotated[RooflineModel, checked(_part)]
    prefix_length: Annotated[int, checked(whole, 0, 2**24)] = 0

    def __post_init__(self) -> None:
        for role, model in (("target", self.target), ("draft", self.draft)):
            if model.offloaded and self.device.link_gb_per_s is None:
                raise BadProfile(
                    f"{role}: offloaded is {model.offloaded:g}, but the device has no "
                    "link_gb_per_s; give the link's bandwidth, or set offloaded to 0"
                )

    def verify_seconds(self, nodes: int) -> float:
        """Seconds of one target pass over `nodes` nodes."""
        return pass_seconds(self.target, self.device, nodes, self.prefix_length)

    def draft_seconds_at(self, width: int) -> float:
        """Seconds of one draft pass over `width` nodes."""
        return pass_seconds(self.draft, self.device, width, self.prefix_length)

    def points(self, role: str) -> tuple[tuple[int, float, float], ...]:
        """(size, seconds, spread) of a pass for each size in SIZES, with a spread of 0. role:
        "target" or "draft"."""
        seconds = self.verify_seconds if role == "target" else self.draft_seconds_at
        return tuple((size, seconds(size), 0.0) for size in SIZES)


def pass_seconds(model: RooflineModel, device: RooflineDevice, nodes: int, prefix: int) -> float:
    """Seconds of one pass over `nodes` nodes after `prefix` tokens."""
    return math.hypot(fixed_seconds(model, device, nodes + prefix), compute(model, device, nodes))


def fixed_seconds(model: RooflineModel, device: RooflineDevice, cached: int) -> float:
    """The longer of two times, in seconds: to launch a pass and read `cached` tokens of KV cache
    and the weights on the device, and to copy the offloaded weights."""
    launch = model.layers * model.launch_us_per_layer * MICRO
    memory, link = _read_seconds(model, device, cached)
    return max(launch + memory, link)


def compute(model: RooflineModel, device: RooflineDevice, nodes: int) -> float:
    """Seconds of arithmetic in a pass over `nodes` nodes: one multiplication and one addition for
    each weight and node."""
    return 2 * model.parameters * nodes / (device.tflops * TERA * device.efficiency)


def _read_seconds(model: RooflineModel, device: RooflineDevice, cached: int) -> tuple[float, float]:
    """(seconds to read from the device's memory, seconds to copy over the link)."""
    weights = model.parameters * model.bytes_per_weight
    resident = weights * (1 - model.offloaded) + model.kv_bytes_per_token * cached
    memory = resident / (device.memory_gb_per_s * GIGA)
    if not model.offloaded or device.link_gb_per_s is None:
        return memory, 0.0
    return memory, weights * model.offloaded / (device.link_gb_per_s * GIGA)

"""Roofline model: how long a forward pass takes, computed from published figures of a device and a
model.

A pass over n nodes launches kernels, reads the weights and the KV cache, copies the offloaded
weights from the host, and computes. Launching, reading and copying overlap, so only the longest of
these times counts. It is called `fixed`, because it hardly depends on n. The time of computing,
`compute`, is proportional to n. The whole pass takes a smooth maximum of the two, sqrt(fixed² +
compute²): nearly flat at first, then a bend where they are equal, then nearly proportional to n.
The arithmetic of attention is left out, because it is small for contexts of a few thousand tokens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from sequoia.algorithm.tree import MAX_NODES
from sequoia.errors import BadProfile
from sequoia.validate_input import number, short_text, shown, whole

EFFICIENCY = 0.55  # share of the peak arithmetic rate that matrix products reach
MAX_TEXT = 200
GIGA = 1e9
TERA = 1e12
MICRO = 1e-6
# Up to four sizes for each doubling: straight lines between them are within 1% of the curve.
SIZES = tuple(sorted({round(2 ** (k / 4)) for k in range(4 * int(math.log2(MAX_NODES)) + 1)}))


@dataclass(frozen=True)
class RooflineDevice:
    """The peak figures of a device. Raises BadProfile naming the field that is invalid, and why.

    memory_gb_per_s: bandwidth of the device's memory, 10^9 bytes per second. tflops: peak rate of
    dense 16-bit matrix products, 10^12 operations per second. efficiency: share of the peak rate
    that is reached, 0.01 to 1. link_gb_per_s: bandwidth from host memory to the device, for
    offloaded weights; None if nothing is offloaded.
    """

    name: str
    memory_gb_per_s: float
    tflops: float
    efficiency: float = EFFICIENCY
    link_gb_per_s: float | None = None

    def __post_init__(self) -> None:
        _set(self, "name", _text(self.name))
        _set(self, "memory_gb_per_s", _number(self, "memory_gb_per_s", 0.001, 1e6))
        _set(self, "tflops", _number(self, "tflops", 0.001, 1e6))
        _set(self, "efficiency", _number(self, "efficiency", 0.01, 1))
        if self.link_gb_per_s is not None:
            _set(self, "link_gb_per_s", _number(self, "link_gb_per_s", 0.001, 1e6))


@dataclass(frozen=True)
class RooflineModel:
    """The work of a forward pass of a model. Raises BadProfile naming the field that is invalid,
    and why.

    parameters: number of weights; every pass reads all of them. launch_us_per_layer: microseconds
    to launch one layer's kernels: hundreds if each is launched from Python (eager), tens in a CUDA
    graph. kv_bytes_per_token: bytes of KV cache per token. offloaded: share of the weights that
    every pass copies from host memory, 0 to 1.
    """

    name: str
    parameters: float
    layers: int
    launch_us_per_layer: float
    bytes_per_weight: float = 2.0
    kv_bytes_per_token: float = 0.0
    offloaded: float = 0.0

    def __post_init__(self) -> None:
        _set(self, "name", _text(self.name))
        _set(self, "parameters", _number(self, "parameters", 1000, 1e14))
        _set(self, "layers", whole(self.layers, "layers", 1, 10_000, BadProfile))
        _set(self, "launch_us_per_layer", _number(self, "launch_us_per_layer", 0, 1e6))
        _set(self, "bytes_per_weight", _number(self, "bytes_per_weight", 0.1, 16))
        _set(self, "kv_bytes_per_token", _number(self, "kv_bytes_per_token", 0, 1e9))
        _set(self, "offloaded", _number(self, "offloaded", 0, 1))


@dataclass(frozen=True)
class Roofline:
    """Two models on one device. Each of these three may be given as a mapping of its fields, as
    read from a file. prefix_length: tokens in the KV cache before the pass. Raises BadProfile if a
    field is invalid, or if a model is offloaded and the device has no link_gb_per_s."""

    device: RooflineDevice
    target: RooflineModel
    draft: RooflineModel
    prefix_length: int = 0

    def __post_init__(self) -> None:
        _set(self, "device", _part(RooflineDevice, self.device, "device"))
        for role in ("target", "draft"):
            model = _part(RooflineModel, getattr(self, role), role)
            _set(self, role, model)
            if model.offloaded and self.device.link_gb_per_s is None:
                raise BadProfile(
                    f"{role}: offloaded is {model.offloaded:g}, but the device has no "
                    "link_gb_per_s; give the link's bandwidth, or set offloaded to 0"
                )
        prefix = whole(self.prefix_length, "prefix_length", 0, 2**24, BadProfile)
        _set(self, "prefix_length", prefix)

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
    """The longest of three times, in seconds: to launch a pass, to read `cached` tokens of KV cache
    and the weights on the device, and to copy the offloaded weights."""
    launch = model.layers * model.launch_us_per_layer * MICRO
    return max(launch, *_read_seconds(model, device, cached))


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


# -- checks ----------------------------------------------------------------------------------------

T = TypeVar("T")


def _part(kind: type[T], value: Any, name: str) -> T:
    """`value` itself if it is a `kind`, or a `kind` made from `value`, a mapping of its fields.
    Errors begin with `name`."""
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise BadProfile(f"{name} must be an object with its fields, not {shown(value)}")
    known = {field.name: field for field in fields(kind)}  # pyright: ignore[reportArgumentType]
    needed = [key for key, field in known.items() if field.default is MISSING]
    if missing := [key for key in needed if key not in value]:
        raise BadProfile(f"{name} has no {', '.join(missing)}; it needs {', '.join(needed)}")
    if unknown := [key for key in value if key not in known]:
        raise BadProfile(f"{name}: {shown(unknown[0])} is not one of {', '.join(known)}")
    try:
        return kind(**value)
    except BadProfile as problem:
        raise BadProfile(f"{name}: {problem}") from None


def _number(owner: Any, field: str, low: float, high: float) -> float:
    return number(getattr(owner, field), field, low, high, BadProfile)


def _text(value: Any) -> str:
    if not short_text(value, "name", MAX_TEXT, BadProfile).strip():
        raise BadProfile("name is empty")
    return value


def _set(owner: Any, field: str, value: Any) -> None:
    object.__setattr__(owner, field, value)

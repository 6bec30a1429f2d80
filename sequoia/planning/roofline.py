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
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints
from pydantic.dataclasses import dataclass

from sequoia.algorithm.tree import MAX_NODES
from sequoia.errors import BadProfile

EFFICIENCY = 0.55  # share of the peak arithmetic rate that matrix products reach
GIGA = 1e9
TERA = 1e12
MICRO = 1e-6
# Up to four sizes for each doubling: straight lines between them are within 1% of the curve.
SIZES = tuple(sorted({round(2 ** (k / 4)) for k in range(4 * int(math.log2(MAX_NODES)) + 1)}))


CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)
Name = Annotated[
    str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=200)
]
Rate = Annotated[float, Field(strict=True, ge=0.001, le=1e6)]

# -- the figures -----------------------------------------------------------------------------------


@dataclass(frozen=True, config=CONFIG)
class RooflineDevice:
    """The peak figures of a device.

    memory_gb_per_s: bandwidth of the device's memory, 10^9 bytes per second. tflops: peak rate of
    dense 16-bit matrix products, 10^12 operations per second. efficiency: share of the peak rate
    that is reached, 0.01 to 1. link_gb_per_s: bandwidth from host memory to the device, for
    offloaded weights; None if nothing is offloaded.
    """

    name: Name
    memory_gb_per_s: Rate
    tflops: Rate
    efficiency: Annotated[float, Field(strict=True, ge=0.01, le=1)] = EFFICIENCY
    link_gb_per_s: Rate | None = None


@dataclass(frozen=True, config=CONFIG)
class RooflineModel:
    """The work of a forward pass of a model.

    parameters: number of weights; every pass reads all of them. launch_us_per_layer: microseconds
    that a layer takes beyond reading its weights: several hundred if its kernels are launched from
    Python (eager), 145 in a CUDA graph (measured on an H100). kv_bytes_per_token: bytes of KV cache
    per token. offloaded: share of the weights that every pass copies from host memory, 0 to 1.
    """

    name: Name
    parameters: Annotated[float, Field(strict=True, ge=1000, le=1e14)]
    layers: Annotated[int, Field(strict=True, ge=1, le=10_000)]
    launch_us_per_layer: Annotated[float, Field(strict=True, ge=0, le=1e6)]
    bytes_per_weight: Annotated[float, Field(strict=True, ge=0.1, le=16)] = 2.0
    kv_bytes_per_token: Annotated[float, Field(strict=True, ge=0, le=1e9)] = 0.0
    offloaded: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0


@dataclass(frozen=True, config=CONFIG)
class Roofline:
    """Two models on one device. Each of these three may be given as a mapping of its fields, as
    read from a file. prefix_length: tokens in the KV cache before the pass. Raises pydantic's
    ValidationError if a field is invalid, and BadProfile if a model is offloaded and the device has
    no link_gb_per_s."""

    device: RooflineDevice
    target: RooflineModel
    draft: RooflineModel
    prefix_length: Annotated[int, Field(strict=True, ge=0, le=2**24)] = 0

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

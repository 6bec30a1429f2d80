"""Decides where to put the parts of a target that is too large for one device: on several devices,
or partly in host memory. Only sizes in bytes are needed, not the weights: the modules are built
from the config on torch's `meta` device, so nothing is loaded or allocated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel, OutOfMemory
from sequoia.loading.model_checks import Source
from sequoia.loading.offload import LayerStream, streamed_layers
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.layers import decoder_layers
from sequoia.models.memory_needs import USUAL_RUN_NODES, usual_distribution_bytes, usual_run_bytes
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.dtypes import usual_dtype
from sequoia.this_machine.memory import ROOM, DeviceBytes, free_bytes, size
from sequoia.validate_input import whole


@dataclass(frozen=True)
class ModelParts:
    """Names of a causal LM's modules, in the model's order: those `ahead` of the decoder layers,
    the `layers`, and those `behind` them. A module that comes after the layers but has no weights
    of its own, such as a tied head, counts as `ahead`. sizes: module -> bytes. tied: the head
    shares the embedding's weights, so both must be on the same device."""

    ahead: tuple[str, ...]
    layers: tuple[str, ...]
    behind: tuple[str, ...]
    sizes: dict[str, int]
    tied: bool

    @property
    def total(self) -> int:
        """Bytes of all weights. Tied weights count once."""
        return sum(self.sizes.values())

    @property
    def largest(self) -> int:
        """Bytes of the largest layer."""
        return max(self.sizes[name] for name in self.layers)


def parts_of(config: Any, dtype: torch.dtype) -> ModelParts:
    """The parts of the model that `config` describes, with weights in `dtype`. Raises BadModel
    if its decoder layers are not in a single list."""
    with torch.device("meta"):
        hf = AutoModelForCausalLM.from_config(config, dtype=dtype)
    names, _ = decoder_layers(hf)
    pieces = [*_pieces(hf, names[0].rpartition(".")[0])]
    weights = [(name, one.numel() * one.element_size()) for name, one in hf.named_parameters()]
    sizes = {
        piece: sum(count for name, count in weights if name.startswith(f"{piece}."))
        for piece in pieces
    }
    last = pieces.index(names[-1])
    tied = hf.get_output_embeddings().weight is hf.get_input_embeddings().weight
    behind = tuple(name for name in pieces[last + 1 :] if sizes[name])
    return ModelParts(
        tuple(name for name in pieces if name not in (*names, *behind)), names, behind, sizes, tied
    )


def _pieces(module: nn.Module, layers: str, name: str = "") -> Iterator[str]:
    """Name of each indivisible part, in order: every layer in the list called `layers`,
    and the modules before and after it."""
    for child, inside in module.named_children():
        full = f"{name}.{child}" if name else child
        if f"{layers}.".startswith(f"{full}."):
            yield from _pieces(inside, layers, full)
        else:
            yield full


# fraction of the free memory that a plan may use; operations need some of the rest for a short time
SHARE = 0.9
HOST = torch.device("cpu")
_STEPS = 64  # shares tried in the search for the smallest one that suffices


@dataclass(frozen=True)
class ExtraBytes:
    """Bytes needed in addition to the target's weights. per_layer: for each layer's KV cache, on
    the layer's device. together: for the draft, masks, logits and the rest, on the device of the
    logits."""

    per_layer: int
    together: int


@dataclass(frozen=True)
class SpreadPlacement:
    """A target spread over several devices. where: the device of each module by name, as a
    `device_map` for `accelerate` (GPUs as numbers). layer_devices: the device of each decoder
    layer. output: the device of the head and the draft. needs: predicted bytes on each device
    that is used.
    """

    where: Mapping[str, int | str]
    layer_devices: tuple[torch.device, ...]
    output: torch.device
    needs: DeviceBytes

    @property
    def words(self) -> str:
        """The placement in words, "" if only one device is used."""
        return f"spread over {' and '.join(map(str, self.needs))}" if len(self.needs) > 1 else ""


@dataclass(frozen=True)
class OffloadPlacement:
    """A target with `resident` of its `layers` on `output`, the device that computes. The remaining
    layers are in host memory, from which they are streamed to the device."""

    output: torch.device
    resident: int
    layers: int

    @property
    def words(self) -> str:
        """The placement in words, "" if nothing is streamed."""
        if self.resident == self.layers:
            return ""
        return f"{self.layers - self.resident} of {self.layers} layers streamed from host memory"


def spread(
    parts: ModelParts,
    extra: ExtraBytes,
    free: Mapping[torch.device, int],
    all_of_them: bool = False,
) -> SpreadPlacement:
    """The target spread over as few devices as have room for it, or over all with `all_of_them`.
    Each device may be filled up to the same share of its free memory, the smallest share tried that
    suffices. A device that is not needed at this share stays empty. free: free bytes of each
    device. Raises OutOfMemory if the target does not fit."""
    devices = sorted(free, key=lambda device: -free[device])
    for count in range(len(devices) if all_of_them else 1, len(devices) + 1):
        used = sorted(devices[:count], key=str)
        for step in range(1, _STEPS + 1):
            caps = [free[device] * SHARE * step / _STEPS for device in used]
            if found := _filled(parts, extra, used, caps):
                return found
    needed = parts.total + extra.together + extra.per_layer * len(parts.layers)
    figures = ", ".join(f"{size(free[device])} on {device}" for device in devices)
    raise OutOfMemory(
        f"the two models and a run need about {size(needed)} on {len(devices)} devices together "
        f"(a layer is never split); free: {figures}, of which {SHARE:.0%} can be used; with "
        "offload=True (--offload), layers that do not fit stay in host memory"
    )


def _filled(
    parts: ModelParts, extra: ExtraBytes, devices: Sequence[torch.device], caps: Sequence[float]
) -> SpreadPlacement | None:
    """The placement that fills the devices in order with at most `caps` bytes each, None if the
    target does not fit that way."""
    first = devices[0]
    last = devices[-1]
    where = dict.fromkeys(parts.ahead, first) | dict.fromkeys(parts.behind, last)
    output = first if parts.tied or not parts.behind else last
    needs = Counter(dict.fromkeys(devices, 0))
    for name, device in where.items():
        needs[device] += parts.sizes[name]
    needs[output] += extra.together
    turn = 0
    for name in parts.layers:
        layer = parts.sizes[name] + extra.per_layer
        while turn < len(devices) and needs[devices[turn]] + layer > caps[turn]:
            turn += 1
        if turn == len(devices):
            return None
        where[name] = devices[turn]
        needs[devices[turn]] += layer
    if any(needs[device] > cap for device, cap in zip(devices, caps, strict=True)):
        return None
    layer_devices = tuple(where[name] for name in parts.layers)
    named = {
        name: device.type if device.index is None else device.index
        for name, device in where.items()
    }
    return SpreadPlacement(named, layer_devices, output, +needs)  # without empty devices


def offload(
    parts: ModelParts,
    extra: ExtraBytes,
    device: torch.device,
    free: Mapping[torch.device, int],
    resident: int | None,
    converted: bool = False,
) -> OffloadPlacement:
    """The placement with `resident` layers on `device`, or with as many as fit if `resident` is
    None.

    free: free bytes of `device` and of the host. converted: whether loading changes the dtype. If
    so, all weights are first copied into host memory. Otherwise the files are mapped, not copied.
    Raises BadModel if `resident` is not between 0 and the number of layers, and OutOfMemory if the
    placement does not fit.
    """
    layers = len(parts.layers)
    needs = [_offload_needs(parts, extra, device, n, converted) for n in range(layers + 1)]
    fitting = [n for n in range(layers + 1) if needs[n][device] <= free[device] * SHARE]
    most = max(fitting, default=0)
    kept = whole(most if resident is None else resident, "resident layers", 0, layers, BadModel)
    for one, needed in needs[kept].items():
        if needed > free[one] * SHARE:
            raise OutOfMemory(
                f"with {kept} resident and {layers - kept} streamed layers, the two models and a "
                f"run need about {size(needed)} on {one}; {size(free[one])} is free, of which "
                f"{SHARE:.0%} can be used"
            )
    return OffloadPlacement(device, kept, layers)


def _offload_needs(
    parts: ModelParts, extra: ExtraBytes, device: torch.device, resident: int, converted: bool
) -> DeviceBytes:
    """Bytes on `device`, with up to two buffers for streamed layers, and in host memory."""
    streamed = streamed_layers(len(parts.layers), resident)
    host = sum(parts.sizes[parts.layers[i]] for i in streamed)
    buffers = min(len(streamed), 2) * parts.largest
    run = extra.per_layer * len(parts.layers) + extra.together
    needs = Counter({device: parts.total - host + buffers + run})
    if converted and device != HOST:
        # All weights are in host memory at first. A layer that is being copied to pinned memory is
        # there twice. (On a CPU they do not stay in memory in their stored dtype.)
        host = max(host, parts.total + parts.largest)
    needs[HOST] += host
    return needs


# -- a target, placed ------------------------------------------------------------------------------


class StreamedModel(TreeModel):
    """A target with layers that `stream` copies from host memory. If all layers are resident on the
    device, nothing is streamed."""

    def __init__(
        self, hf: Any, name: str, plan: OffloadPlacement, text: Sequence[int] = ()
    ) -> None:
        self.stream = LayerStream(hf, plan.resident, plan.output)
        super().__init__(hf, name, plan.output, placement=plan.words)
        use_fast_forward(self, text)


def plan_large(
    target: Source,
    draft: Source,
    sizes: Sequence[int],
    device: str,
    where: torch.device,
    dtype: torch.dtype | None,
    offloaded: Any,
) -> SpreadPlacement | OffloadPlacement | None:
    """The placement of the target, or None if both models go to `where` entirely.

    sizes: bytes of memory to load target and draft (see `loaded_bytes` in load.py). device: the
    requested one. "spread" spreads the target. "auto" does so only if the GPU `where` is too small
    and there are others. dtype: None for the usual one on `where`. offloaded: False; True to keep
    as many layers resident on the device as fit; or the number of resident layers. Raises BadModel
    or OutOfMemory.
    """
    dtype = dtype or usual_dtype(where, target.stored_dtype)
    gpus = torch.cuda.device_count()
    if device == "spread" and gpus < 2:
        raise BadModel(f"device 'spread' needs at least 2 CUDA devices; this machine has {gpus}")
    if offloaded is not False:
        free = {one: free_bytes(one) for one in (HOST, where)}
        resident = None if offloaded is True else offloaded
        parts = _parts(target, draft, sizes[1], dtype, where)
        return offload(*parts, where, free, resident, converted=dtype != target.stored_dtype)
    # with "auto", `where` is the CPU if the GPUs cannot be used
    can_spread = device == "auto" and where.type == "cuda" and gpus > 1
    if device == "spread" or (can_spread and sum(sizes) * ROOM > free_bytes(where)):
        free = {one: free_bytes(one) for one in (torch.device("cuda", i) for i in range(gpus))}
        return spread(*_parts(target, draft, sizes[1], dtype, where), free, device == "spread")
    return None


def placed(
    hf: Any, title: str, plan: SpreadPlacement | OffloadPlacement, text: Sequence[int] = ()
) -> TreeModel:
    """The target `hf` as a model that runs according to `plan`. `hf` must be on the devices of a
    SpreadPlacement, or on the CPU for an OffloadPlacement. text: token ids of an ordinary text, for
    the check of a faster forward."""
    if isinstance(plan, OffloadPlacement):
        return StreamedModel(hf, title, plan, text)
    model = TreeModel(hf, title, plan.output, plan.layer_devices, plan.words)
    return use_fast_forward(model, text)


def _parts(
    target: Source, draft: Source, draft_bytes: int, dtype: torch.dtype, where: torch.device
) -> tuple[ModelParts, ExtraBytes]:
    """The target's parts, and the bytes that the draft and a run need in addition."""
    text = target.config.get_text_config()
    per_layer, rest = usual_run_bytes(text, dtype.itemsize)
    rest += usual_distribution_bytes(where, USUAL_RUN_NODES, text.vocab_size)
    together = rest + draft_bytes
    if draft_bytes:  # a lookup has no cache either
        config = draft.config.get_text_config()
        draft_cache, draft_rest = usual_run_bytes(config, dtype.itemsize)
        together += draft_cache * config.num_hidden_layers + draft_rest
    return parts_of(target.config, dtype), ExtraBytes(per_layer, together)

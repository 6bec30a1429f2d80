"""Places a target that is too large for one device: `accelerate` spreads it over several devices,
or some layers are streamed from host memory. placement.py decides what goes where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from accelerate import cpu_offload

from sequoia.errors import BadModel
from sequoia.loading.large.offload import LayerStream
from sequoia.loading.large.placement import (
    HOST,
    ExtraBytes,
    ModelParts,
    OffloadPlacement,
    SpreadPlacement,
    offload,
    parts_of,
    spread,
)
from sequoia.loading.model_checks import Source
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.memory_needs import USUAL_RUN_NODES, usual_distribution_bytes, usual_run_bytes
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.dtypes import usual_dtype
from sequoia.this_machine.memory import ROOM, free_bytes
from sequoia.validate_input import shown


class StreamedModel(TreeModel):
    """A target with layers that `stream` copies from host memory. If all layers are resident on the
    device, nothing is streamed."""

    def __init__(
        self, hf: Any, name: str, plan: OffloadPlacement, text: Sequence[int] = ()
    ) -> None:
        self.stream = LayerStream(hf, plan.resident, plan.output)
        super().__init__(hf, name, plan.output, placement=plan.words)
        use_fast_forward(self, text)
        if plan.words:
            self.forward = self.stream.alone(self.forward)


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
    _refuse_nonsense(device, offloaded, gpus)
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


def _refuse_nonsense(device: str, offloaded: Any, gpus: int) -> None:
    if not isinstance(offloaded, int):
        raise BadModel(
            f"offload must be True, False or a number of resident layers, not {shown(offloaded)}"
        )
    if device == "spread" and gpus < 2:
        raise BadModel(f"device 'spread' needs at least 2 CUDA devices; this machine has {gpus}")


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


def offloaded_by_accelerate(model: StreamedModel) -> TreeModel:
    """The target of `model`, offloaded with `accelerate`'s cpu_offload for comparison. `accelerate`
    copies every layer just before use instead of in advance. `model` cannot be used afterwards,
    because it shares its weights with the result."""
    model.stream.remove()
    other = TreeModel(
        cpu_offload(model.hf, model.device),
        model.name,
        model.device,
        placement="offloaded by accelerate",
    )
    other.vocab = model.vocab
    return other


def _parts(
    target: Source, draft: Source, draft_bytes: int, dtype: torch.dtype, where: torch.device
) -> tuple[ModelParts, ExtraBytes]:
    """The target's parts, and the bytes that the draft and a run need in addition."""
    text = target.config.get_text_config()
    per_layer, rest = usual_run_bytes(text, dtype.itemsize)
    rest += usual_distribution_bytes(where, USUAL_RUN_NODES, text.vocab_size)
    config = draft.config.get_text_config()
    draft_cache, draft_rest = usual_run_bytes(config, dtype.itemsize)
    together = rest + draft_bytes + draft_cache * config.num_hidden_layers + draft_rest
    return parts_of(target.config, dtype), ExtraBytes(per_layer, together)

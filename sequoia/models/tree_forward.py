"""A causal language model that can run a tree. Each forward pass processes some or all of the
tree's nodes after a prefix. After the last pass, the accepted nodes are added to the prefix.

The model object is an unmodified one from `transformers`. The KV cache and the mask are ours, and
so may be the forward pass (see choose_forward.py).
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from functools import partial
from typing import Any, Self

import torch
from torch.backends import cuda

from sequoia.errors import BadPrompt
from sequoia.models.cache_and_mask import (
    DynamicTreeLayout,
    KVCache,
    TreeLayout,
    aligned,
    causal,
)
from sequoia.models.cuda_graphs import Forward, GraphedForward, result_rows
from sequoia.models.draft import Draft, DraftContext
from sequoia.models.layers import context_length, layer_configs
from sequoia.models.memory_needs import cache_bytes, mask_and_logit_bytes
from sequoia.this_machine.memory import DeviceBytes


@contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """A context in which torch does not use cuDNN's attention. cuDNN spends time on a new plan for
    every number of attended tokens, and that number changes in almost every step."""
    usual = cuda.cudnn_sdp_enabled()
    cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        cuda.enable_cudnn_sdp(usual)


_WORDS = {
    "native": "this program's own forward pass, compiled for this CPU",
    "fast": "this program's own optimised forward pass",
}
PREFILL_CHUNK = 1024  # prompt tokens per pass, each with a row in the mask
_AHEAD = 64  # graphs for a longer prefix are captured up to this many tokens before they are needed


class TreeModel(Draft):
    """A causal LM of `transformers` with full attention, for any number of runs. Each run opens a
    Context of its own. Only one pass may run at a time. With CUDA graphs, the logits of a pass are
    valid only until the next pass.

    vocab: the number of logits used; any further ones are padding. limit, limit_reason: see
    layers.py. forward: the forward in use, at first the one of `transformers`. layer_devices: the
    device of each layer's KV cache. tested: the result of the self-test, in words. For the other
    attributes see Draft.
    """

    tested = ""

    def __init__(
        self,
        model: Any,
        name: str,
        device: torch.device | None = None,
        layer_devices: Sequence[torch.device] = (),
        placement: str = "",
    ) -> None:
        self.hf = model.eval().requires_grad_(False)
        self.name = name
        self.config = model.config.get_text_config()
        head = model.get_output_embeddings()
        # without reading the weight, which a rounded head computes anew
        self.vocab = (
            getattr(head, "vocab", 0) or getattr(head, "out_features", 0) or head.weight.shape[0]
        )
        self.limit, self.limit_reason = context_length(self.config)
        self.device = device or model.device
        self.dtype = model.dtype
        self.layer_devices = tuple(layer_devices) or (self.device,) * self.config.num_hidden_layers
        self.placement = placement
        self.forward: Forward = partial(transformers_forward, model)

    @property
    def forward_name(self) -> str:
        """The name of the forward in use, for reports."""
        return getattr(self.forward, "name", "transformers")

    @property
    def forward_words(self) -> str:
        """The forward in use, in words."""
        words = _WORDS.get(self.forward_name, f"the forward pass of {self.forward_name}")
        is_rounded = getattr(self.forward, "is_rounded", False)
        return f"{words}, weights rounded to seven bits" if is_rounded else words

    @property
    def numbers(self) -> str:
        """The name of the dtype of the weights in use, such as "bfloat16" or "int8"."""
        return self.rounding.numbers if self.rounding else str(self.dtype).removeprefix("torch.")

    @property
    def rounding(self) -> Any:
        """How the weights were rounded, None if they were not (see rounded_copy.py)."""
        return getattr(self.hf, "rounding", None)

    @property
    def parameters(self) -> int:
        """The number of parameters, those that are rounded included."""
        return self.rounding.parameters if self.rounding else self.hf.num_parameters()

    @property
    def mask_dtype(self) -> torch.dtype:
        """The dtype that the forward in use requires for additive masks."""
        return getattr(self.forward, "mask_dtype", self.dtype)

    @property
    def graphs(self) -> GraphedForward | None:
        """The forward in use if it uses CUDA graphs, otherwise None."""
        return self.forward if isinstance(self.forward, GraphedForward) else None

    def open(self, capacity: int) -> Context:
        """The state of one run, with a KV cache of `capacity` slots."""
        return Context(self, capacity)

    def with_forward(self, forward: Forward) -> Self:
        """A copy of this model that uses another forward and shares everything else."""
        other = copy(self)
        other.forward = forward
        return other

    def capturing(self) -> AbstractContextManager[None]:
        """A context manager for capturing CUDA graphs early: within it, a size is captured at its
        first pass, not only after several. Without effect if the model uses no graphs."""
        return self.graphs.capturing() if self.graphs else nullcontext()

    def kv_cache(self, capacity: int) -> KVCache:
        """A KV cache for one run, with at least `capacity` slots."""
        make = self.graphs.acquire if self.graphs and capacity else KVCache
        return make(self.config.num_hidden_layers, capacity, self._layers_are_alike)

    @property
    def _layers_are_alike(self) -> bool:
        """Whether the keys and values of all layers are expected to have the same shape, dtype and
        device (see KVCache)."""
        return (
            self.placement == ""
            and len({*self.layer_devices}) == 1
            and len(layer_configs(self.config)) == 1
            and not getattr(self.config, "num_kv_shared_layers", 0)
        )

    def forget(self) -> None:
        """Free the KV caches that were kept for later runs."""
        if self.graphs:
            self.graphs.release(None)

    @property
    def may_use_graphs(self) -> bool:
        """Whether the whole model is on one GPU."""
        return (
            self.device.type == "cuda"
            and {*self.layer_devices} == {self.device}
            and not self.placement
        )


class Context(DraftContext):
    """The state of one run on one model. `extend` appends tokens to the prefix. `forward` writes
    the nodes of a tree to the KV cache; `keep` then adds some of them to the prefix."""

    model: TreeModel

    def __init__(self, model: TreeModel, capacity: int) -> None:
        self.model = model
        self.capacity = capacity
        self.device = model.device
        self.kv_cache = model.kv_cache(capacity)
        if model.graphs and capacity:
            weakref.finalize(self, model.graphs.release, self.kv_cache).atexit = False
        self._causal = causal(2, self, capacity)
        self._next_capture = 0  # `capture_ahead` does nothing up to this many mask columns

    @property
    def length(self) -> int:
        """Tokens in the prefix."""
        return self.kv_cache.length

    @property
    def mask_dtype(self) -> torch.dtype:
        return self.model.mask_dtype

    def needs(self, nodes: int) -> DeviceBytes:
        """Those for KV cache, mask and logits."""
        if not self.capacity:
            return Counter()
        model = self.model
        beside = mask_and_logit_bytes(self.capacity, nodes, model.vocab, model.mask_dtype.itemsize)
        if model.graphs:
            rows = 2 * result_rows(nodes)  # twice, as buffers for smaller trees may still exist
            beside += rows * model.vocab * model.mask_dtype.itemsize
        return Counter({model.device: beside}) + self._cache_bytes()

    def held(self) -> DeviceBytes:
        """Those of the KV cache, once it was used."""
        return self._cache_bytes() if self.kv_cache.memory else Counter()

    def _cache_bytes(self) -> DeviceBytes:
        model = self.model
        dtype = getattr(model.forward, "cache_dtype", model.mask_dtype)
        each = cache_bytes(model.config, self.kv_cache.capacity, dtype.itemsize)
        return Counter({device: each * n for device, n in Counter(model.layer_devices).items()})

    @torch.inference_mode()
    def extend(self, tokens: Sequence[int]) -> torch.Tensor:
        """Append `tokens` to the prefix. Returns the logits (vocab,) after the last of them. Raises
        BadPrompt if there are not enough cache slots."""
        n = len(tokens)
        if self.length + n > self.capacity:
            raise BadPrompt(
                f"{self.length + n:,} tokens do not fit in this run's {self.capacity:,} cache slots"
            )
        for start in range(0, n - PREFILL_CHUNK, PREFILL_CHUNK):
            self._extend(tokens[start : start + PREFILL_CHUNK])
        return self._extend(tokens[(n - 1) // PREFILL_CHUNK * PREFILL_CHUNK :])

    def _extend(self, tokens: Sequence[int]) -> torch.Tensor:
        n = len(tokens)
        mask = self._causal if n <= 2 else causal(n, self, self.length)
        depths = torch.arange(n, device=self.device)
        logits = self._pass(tokens, depths, mask.view(self.length, 0, n), last_only=True)[-1]
        self.kv_cache.keep(range(n))
        return logits

    @torch.inference_mode()
    def forward(
        self, tokens: Sequence[int] | torch.Tensor, layout: TreeLayout | DynamicTreeLayout
    ) -> torch.Tensor:
        """The nodes are written to the KV cache, but not added to the prefix. Tokens given as a
        tensor (nodes,) on the device are not copied to the host."""
        first = self.kv_cache.written
        last = first + len(tokens)
        mask = layout.mask.view(self.length, first, last)
        return self._pass(tokens, layout.depths[first:last], mask)

    def keep(self, rows: Sequence[int]) -> None:
        self.kv_cache.keep(rows)

    def drop_values(self) -> None:
        """Mark the written slots as damaged by an overflow. The next `keep` then zeroes the slots
        that it drops. This is necessary because a captured pass reads dropped slots too. Their
        weight is 0, but 0 times infinity is NaN."""
        self.kv_cache.has_damaged_slots = True

    @torch.inference_mode()
    def capture(self, sizes: Iterable[int], ends: Iterable[int] = ()) -> None:
        if not self.model.graphs or self.model.graphs.failed:
            return
        passes = [*((rows, False) for rows in sizes), *((rows, True) for rows in ends)]
        for rows, last_only in passes:
            if self.length + rows <= self.capacity:
                mask = causal(rows, self, self.length).view(self.length, 0, rows)
                # All rows are at depth 0, which is the position right after the prefix: the cache
                # may have room for more positions than the model's context.
                depths = torch.zeros(rows, dtype=torch.long, device=self.device)
                with self.model.capturing():
                    self._pass([0] * rows, depths, mask, last_only)
                self.kv_cache.keep([])

    @torch.inference_mode()
    def capture_ahead(self, most: int) -> None:
        graphs = self.model.graphs
        columns = min(self.length + most + _AHEAD, self.capacity)
        if not graphs or columns <= self._next_capture:
            return
        # The graphs for `columns` are enough until the prefix is _AHEAD tokens longer.
        self._next_capture = columns + _AHEAD
        for rows, last_only in graphs.ahead(self.kv_cache, columns):
            if self.length + rows <= self.capacity:
                self.kv_cache.reserve(rows)
                mask = self._causal.view(0, 0, 1)
                graphs.capture_ahead(self.kv_cache, rows, last_only, columns, mask)
                self.kv_cache.keep([])

    def _pass(
        self,
        tokens: Sequence[int] | torch.Tensor,
        depths: torch.Tensor,
        mask: torch.Tensor,
        last_only: bool = False,
    ) -> torch.Tensor:
        ids = torch.as_tensor(tokens, device=self.device)[None]  # (1, rows)
        positions = (depths + self.length)[None]  # (1, rows)
        self.kv_cache.reserve(len(tokens))
        logits = self.model.forward(ids, positions, mask, self.kv_cache, last_only)
        return logits[:, : self.model.vocab]


def transformers_forward(
    hf: Any,
    ids: torch.Tensor,
    positions: torch.Tensor,
    mask: torch.Tensor,
    kv_cache: KVCache,
    last_only: bool,
) -> torch.Tensor:
    """Logits (rows, vocab), or (1, vocab) with `last_only`, from the model's own forward. ids,
    positions: (1, rows). mask: additive, (1, 1, rows, columns)."""
    mask = aligned(mask) if mask.is_cuda else mask
    with without_cudnn_attention():
        return hf(
            input_ids=ids,
            position_ids=positions,
            attention_mask=mask,
            past_key_values=kv_cache,
            use_cache=True,
            logits_to_keep=1 if last_only else 0,
        ).logits[0]

"""A causal language model that can run a tree: the nodes go through it in one forward pass after a
prefix, and the accepted ones are kept.

The model is Hugging Face's and stays untouched; the cache and the mask are ours. Independent of
drafts and verification.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import partial
from typing import Any

import torch

from sequoia.errors import BadPrompt
from sequoia.models.attention_kernels import without_cudnn_attention
from sequoia.models.context_length import context_length
from sequoia.models.cuda_graphs import Forward, GraphedForward, result_rows
from sequoia.models.fast_llama import FastLlama
from sequoia.models.kv_cache import KVCache
from sequoia.models.layer_configs import layer_configs
from sequoia.models.memory_needs import cache_bytes, mask_and_logit_bytes
from sequoia.models.tree_mask import (
    DynamicTreeLayout,
    TreeLayout,
    aligned,
    causal,
)
from sequoia.this_machine.memory import DeviceBytes

_COLDEST = 0.05  # down to this temperature, divided logits stay well within any dtype
# tokens; the mask grows with the square of them, so a longer prompt takes several passes
PREFILL_CHUNK = 1024
_AHEAD = 64  # columns: so many tokens before they are needed, CUDA graphs are captured


class TreeModel:
    """A full-attention causal LM of `transformers`, shared by any number of runs; each run
    opens its own Context. Passes are made one after the other: with CUDA graphs, logits are valid
    only until the next one.

    vocab: logits are cut to so many tokens, for models whose vocabulary is padded. limit: tokens it
    can hold at most, and limit_reason: why that is less than its config states, "" where it is not
    (see context_length.py).
    forward: the forward in use, the model's own unless `use_fast_forward` found a faster one;
    forward_name says which. no_fast_forward: why the faster one for this family cannot be used, ""
    where none was tried or it is in use. no_gpu_verification: the same of the kernel that verifies
    trees on the GPU, for a target.
    device: where token ids go in and logits come out. layer_devices: where each layer's KV cache
    is. placement: in words how the weights are placed, "" where all of them are on `device`.
    tested: the result of the self-test, in words. temperature: what its logits are divided by
    already.
    """

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
        self.vocab = model.get_output_embeddings().weight.shape[0]
        longest = context_length(self.config)
        self.limit = longest.tokens
        self.limit_reason = longest.reason
        self.device = device or model.device
        self.dtype = model.dtype
        self.layer_devices = tuple(layer_devices) or (self.device,) * self.config.num_hidden_layers
        self.placement = placement
        self.tested = ""
        self.temperature = 1.0
        self.no_fast_forward = ""
        self.no_gpu_verification = ""
        self.forward: Forward = partial(transformers_forward, model)

    @property
    def forward_name(self) -> str:
        """The forward in use, in words."""
        return getattr(self.forward, "name", "transformers")

    @property
    def numbers(self) -> str:
        """The dtype of the weights in use, by name."""
        if getattr(self.forward, "int8", False):
            return "int8"
        return str(self.dtype).removeprefix("torch.")

    @property
    def mask_dtype(self) -> torch.dtype:
        """The dtype of the additive masks that the forward in use takes."""
        return getattr(self.forward, "mask_dtype", self.dtype)

    @property
    def graphs(self) -> GraphedForward | None:
        """The forward in use, where it uses CUDA graphs."""
        return self.forward if isinstance(self.forward, GraphedForward) else None

    def open(self, capacity: int, first: int = 0) -> Context:
        """A run's own state, with a KV cache of `capacity` slots, the first of which is at position
        `first`."""
        return Context(self, capacity, first)

    def with_forward(self, forward: Forward) -> TreeModel:
        """This model with another forward in use; they share all else."""
        other = copy(self)
        other.forward = forward
        return other

    def at_temperature(self, temperature: float) -> TreeModel:
        """This model with its logits divided by `temperature`, where its forward can do that at no
        cost; else the model itself. The `temperature` of the result says which."""
        if not (
            isinstance(self.forward, FastLlama)
            and self.forward.takes_temperature
            and temperature >= _COLDEST
        ):
            return self
        other = self.with_forward(self.forward.at_temperature(temperature))
        other.temperature = self.temperature * temperature
        return other

    def capturing(self) -> AbstractContextManager[None]:
        """A context in which every pass is captured as a CUDA graph, where the model uses them."""
        return self.graphs.capturing() if self.graphs else nullcontext()

    def kv_cache(self, capacity: int) -> KVCache:
        """The KV cache of one run."""
        make = self.graphs.acquire if self.graphs and capacity else KVCache
        return make(self.config.num_hidden_layers, capacity, self._layers_are_alike)

    @property
    def _layers_are_alike(self) -> bool:
        """Whether the KV caches of all layers have the same shape and device, and none is that of
        another layer."""
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
        """Whether the whole model is on one graphics card."""
        return (
            self.device.type == "cuda"
            and {*self.layer_devices} == {self.device}
            and not self.placement
        )


class Context:
    """One run's state on one model. `extend` and `forward` write to the KV cache; `keep` makes
    what was written part of the prefix."""

    def __init__(self, model: TreeModel, capacity: int, first: int = 0) -> None:
        self.model = model
        self.capacity = capacity
        self.first = first
        self.kv_cache = model.kv_cache(capacity)
        if model.graphs and capacity:
            weakref.finalize(self, model.graphs.release, self.kv_cache).atexit = False
        self._causal = causal(2, self, capacity)
        self._captured_up_to = 0  # columns

    @property
    def length(self) -> int:
        return self.kv_cache.length

    @property
    def device(self) -> torch.device:
        """The device of masks and positions."""
        return self.model.device

    @property
    def mask_dtype(self) -> torch.dtype:
        return self.model.mask_dtype

    def needs(self, nodes: int) -> DeviceBytes:
        """Bytes by device that this run will keep allocated with trees of `nodes` nodes: KV cache,
        mask and logits."""
        if not self.capacity:
            return Counter()
        model = self.model
        beside = mask_and_logit_bytes(self.capacity, nodes, model.vocab, model.mask_dtype.itemsize)
        if model.graphs:
            rows = 2 * result_rows(nodes)  # with what they had when trees were smaller
            beside += rows * model.vocab * model.mask_dtype.itemsize
        return Counter({model.device: beside}) + self._cache_bytes()

    def held(self) -> DeviceBytes:
        """Those of them that are allocated already: the KV cache of an earlier run."""
        return self._cache_bytes() if self.kv_cache.allocated else Counter()

    def _cache_bytes(self) -> DeviceBytes:
        model = self.model
        each = cache_bytes(model.config, self.kv_cache.capacity, model.mask_dtype.itemsize)
        return Counter({device: each * n for device, n in Counter(model.layer_devices).items()})

    @torch.inference_mode()
    def extend(self, tokens: Sequence[int]) -> torch.Tensor:
        """Append `tokens` to the prefix; logits after the last, (vocab,)."""
        n = len(tokens)
        if self.length + n > self.capacity:
            raise BadPrompt(
                f"{self.length + n} tokens do not fit the {self.capacity} cache slots of this run"
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
        """Logits (nodes, vocab) after each of the next `len(tokens)` nodes of `layout`, which are
        written but not kept. Tokens that are on the device already, (nodes,), stay there."""
        first = self.kv_cache.written
        last = first + len(tokens)
        mask = layout.mask.view(self.length, first, last)
        return self._pass(tokens, layout.depths[first:last], mask)

    def keep(self, rows: Sequence[int]) -> None:
        """Make the written slots `rows` (increasing) part of the prefix and drop the others."""
        self.kv_cache.keep(rows)

    def drop_values(self) -> None:
        """Some of the written slots hold numbers that overflowed: the next `keep` sets those it
        drops to zero. A captured pass reads them too, with weight 0, and 0 times infinity is not
        0."""
        self.kv_cache.has_damaged_slots = True

    @torch.inference_mode()
    def capture(self, sizes: Iterable[int], ends: Iterable[int] = ()) -> None:
        """Capture CUDA graphs of passes over so many tokens, where the model uses graphs, so that
        no step has to wait for it. ends: sizes of passes that give the last token's logits only."""
        if not self.model.graphs or self.model.graphs.failed:
            return
        passes = [*((rows, False) for rows in sizes), *((rows, True) for rows in ends)]
        for rows, last_only in passes:
            if self.length + rows <= self.capacity:
                mask = causal(rows, self, self.length).view(self.length, 0, rows)
                # depth 0: the only position that is sure to lie within the model's context
                depths = torch.zeros(rows, dtype=torch.long, device=self.device)
                with self.model.capturing():
                    self._pass([0] * rows, depths, mask, last_only)
                self.kv_cache.keep([])

    @torch.inference_mode()
    def capture_ahead(self, most: int) -> None:
        """Between steps: if trees of `most` nodes soon leave the reach of the graphs in use,
        capture those of the next one now, so that no step has to."""
        graphs = self.model.graphs
        columns = min(self.length + most + _AHEAD, self.capacity)
        if not graphs or columns <= self._captured_up_to:
            return
        self._captured_up_to = columns + _AHEAD
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
        positions = (depths + (self.first + self.length))[None]  # (1, rows)
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
    positions: (1, rows)."""
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

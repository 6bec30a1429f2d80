"""A causal language model that can run a tree: write rows after a prefix, score them in one
forward, keep the accepted ones.

The model is Hugging Face's and stays untouched; the cache and the mask are ours. Knows nothing of
drafts or verification.
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

from sequoia.algorithm.tree import Tree
from sequoia.errors import BadPrompt
from sequoia.models.context_length import context_length
from sequoia.models.cuda_graphs import CudaCapture, Forward, GraphedForward
from sequoia.models.fast_llama import FastLlama, fast_forward
from sequoia.models.kv_cache import KVCache
from sequoia.models.memory_needs import cache_bytes, mask_and_logit_bytes
from sequoia.models.tree_mask import GrowingTreeLayout, TreeLayout, causal

_ALIGNED = 8  # numbers; 16 bytes of the narrowest type
INT8_TOLERANCE = 0.5  # of the logits' spread: still the same model, though not to the last digit
_COLDEST = 0.05  # temperature from which on divided logits are far from what a number type can hold
# rows; the mask of a text has rows times columns, so a long one is read in parts
READ_AT_ONCE = 1024


class TreeModel:
    """A full-attention causal LM of `transformers`, shared by any number of runs; each run
    opens its own Context. Passes are made one after the other: where they are recorded, logits
    hold until the next one.

    vocab: logits are cut to so many tokens, for models whose vocabulary is padded. limit: tokens it
    can hold at most, and limit_reason: why that is less than its config states, "" where it is not
    (see context_length.py).
    run: the forward in use, the model's own unless `use_fast_forward` found a quicker one;
    forward_name says which.
    device: where token ids go in and logits come out. layer_devices: where each layer's slots live.
    placement: in words how the weights are placed, "" where all of them simply are on `device`.
    tested: what the self-test found, in words. temperature: what its logits are divided by already.
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
        self.run: Forward = partial(transformers_forward, model)
        if (
            self.device.type == "cuda"
        ):  # cuDNN would plan its attention anew for every number of columns, a moment of its own
            torch.backends.cuda.enable_cudnn_sdp(False)

    @property
    def forward_name(self) -> str:
        """The forward in use, in words."""
        return getattr(self.run, "name", "transformers")

    @property
    def numbers(self) -> str:
        """The number type of the weights in use, by name."""
        return (
            "int8" if getattr(self.run, "int8", False) else str(self.dtype).removeprefix("torch.")
        )

    @property
    def mask_dtype(self) -> torch.dtype:
        """Number type of the additive masks that the forward in use takes."""
        return getattr(self.run, "mask_dtype", self.dtype)

    def open(self, capacity: int, first: int = 0) -> Context:
        """A run's own cache for `capacity` rows, the first of which stands at position `first`."""
        return Context(self, capacity, first)

    def use_fast_forward(self, int8: bool = False) -> TreeModel:
        """Use the lean forward, or on CUDA a recorded one, where the model has one and it gives the
        same logits as the `transformers` one.

        int8: the one with rounded weights, for drafts; its logits may differ by more, as
        verification does not mind.
        """
        usual = self.run
        bound = INT8_TOLERANCE if int8 else tolerance(self.dtype)
        try:
            self.run = fast_forward(self.hf, int8) or self._with_graphs() or usual
            agrees = self.run is usual or self._agrees_with(usual, bound)
        except (
            RuntimeError,
            AttributeError,
            TypeError,
            IndexError,
        ):  # a member of the family that is built otherwise
            agrees = False
        self.run = self.run if agrees else usual
        return self

    def _agrees_with(self, usual: Forward, bound: float) -> bool:
        """Whether the forward in use gives the logits of `usual`, up to `bound` of their spread."""
        other = copy(self)
        other.run = usual
        pairs = zip(_sample_logits(self), _sample_logits(other), strict=True)
        return all(distance(*two) <= bound for two in pairs)

    def at_temperature(self, temperature: float) -> TreeModel:
        """This model with its logits divided by `temperature` already where its forward does so for
        nothing, else itself: what comes out says which. The rest is theirs in common."""
        if not (
            isinstance(self.run, FastLlama)
            and self.run.takes_temperature
            and temperature >= _COLDEST
        ):
            return self
        other = copy(self)
        other.run = self.run.at_temperature(temperature)
        other.temperature = self.temperature * temperature
        return other

    def capturing(self) -> AbstractContextManager[None]:
        """Within it all passes are recorded where any are."""
        return self.run.capturing() if isinstance(self.run, GraphedForward) else nullcontext()

    def kv_cache(self, capacity: int) -> KVCache:
        """The cache of one run."""
        layers = self.config.num_hidden_layers
        return (
            self.run.acquire(layers, capacity)
            if capacity and isinstance(self.run, GraphedForward)
            else KVCache(layers, capacity)
        )

    def forget(self) -> None:
        """Let go of the cache that the last run left for the next."""
        if isinstance(self.run, GraphedForward):
            self.run.release(None)

    def _with_graphs(self) -> GraphedForward | None:
        """The model's own forward as CUDA graphs, which hold where all of the model is on
        one graphics card."""
        alone = (
            self.device.type == "cuda"
            and {*self.layer_devices} == {self.device}
            and not self.placement
        )
        return GraphedForward(self.run, CudaCapture(self.device)) if alone else None


class Context:
    """One run's state on one model. Rows are written by `extend` and `forward`, and become the
    prefix by `keep`."""

    def __init__(self, model: TreeModel, capacity: int, first: int = 0) -> None:
        self.model = model
        self.capacity = capacity
        self.first = first
        self.kv_cache = model.kv_cache(capacity)
        if isinstance(model.run, GraphedForward) and capacity:
            weakref.finalize(self, model.run.release, self.kv_cache).atexit = False
        self._causal = causal(2, self, capacity)

    @property
    def length(self) -> int:
        return self.kv_cache.length

    @property
    def device(self) -> torch.device:
        """Where masks and positions are."""
        return self.model.device

    @property
    def mask_dtype(self) -> torch.dtype:
        return self.model.mask_dtype

    def bytes(self, nodes: int) -> int:
        """What this run will keep allocated here with trees of `nodes` nodes: slots, mask and
        logits."""
        return self.needs(nodes).total()

    def needs(self, nodes: int) -> Counter[torch.device]:
        """Those bytes by device."""
        if not self.capacity:
            return Counter()
        model = self.model
        number = self.model.mask_dtype.itemsize
        found = Counter(
            {model.device: mask_and_logit_bytes(self.capacity, nodes, model.vocab, number)}
        )
        for device in model.layer_devices:
            found[device] += cache_bytes(model.config, self.kv_cache.capacity, number)
        return found

    def held(self) -> Counter[torch.device]:
        """Those of them that are allocated already: slots of an earlier run."""
        if not self.kv_cache.allocated:
            return Counter()
        each = cache_bytes(
            self.model.config, self.kv_cache.capacity, self.model.mask_dtype.itemsize
        )
        return Counter(
            {device: each * count for device, count in Counter(self.model.layer_devices).items()}
        )

    @torch.inference_mode()
    def extend(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read `tokens` one after the other after the prefix and keep all; logits after
        the last, (vocab,)."""
        n = len(tokens)
        if self.length + n > self.capacity:
            raise BadPrompt(
                f"{self.length + n} tokens do not fit the {self.capacity} slots of this run"
            )
        for start in range(0, n - READ_AT_ONCE, READ_AT_ONCE):
            self._read(tokens[start : start + READ_AT_ONCE])
        return self._read(tokens[(n - 1) // READ_AT_ONCE * READ_AT_ONCE :])

    def _read(self, tokens: Sequence[int]) -> torch.Tensor:
        n = len(tokens)
        mask = self._causal if n <= 2 else causal(n, self, self.length)
        depths = torch.arange(n, device=self.model.device)
        logits = self._run(tokens, depths, mask.view(self.length, 0, n), last_only=True)[-1]
        self.kv_cache.keep(range(n))
        return logits

    @torch.inference_mode()
    def forward(
        self, tokens: Sequence[int] | torch.Tensor, rows: TreeLayout | GrowingTreeLayout
    ) -> torch.Tensor:
        """Logits (rows, vocab) after each of the next `len(tokens)` rows of `rows`, which stay
        written but not kept. Tokens that are on the device already, (rows,), stay there."""
        first = self.kv_cache.written
        last = first + len(tokens)
        return self._run(tokens, rows.depths[first:last], rows.mask.view(self.length, first, last))

    def keep(self, rows: Sequence[int]) -> None:
        """Make the written rows `rows` (increasing) part of the prefix and forget the others."""
        self.kv_cache.keep(rows)

    @torch.inference_mode()
    def capture(self, sizes: Iterable[int], ends: Iterable[int] = ()) -> None:
        """Record what is recorded of passes over so many rows, with `ends` of those that want the
        last one's logits alone, so that no step has to wait for it."""
        if not isinstance(self.model.run, GraphedForward) or self.model.run.failed:
            return
        for rows, last_only in [
            *((rows, False) for rows in sizes),
            *((rows, True) for rows in ends),
        ]:
            if self.length + rows <= self.capacity:
                mask = causal(rows, self, self.length).view(self.length, 0, rows)
                # a place that every model has
                depths = torch.zeros(rows, dtype=torch.long, device=self.model.device)
                with self.model.capturing():
                    self._run([0] * rows, depths, mask, last_only)
                self.kv_cache.keep([])

    def _run(
        self,
        tokens: Sequence[int] | torch.Tensor,
        depths: torch.Tensor,
        mask: torch.Tensor,
        last_only: bool = False,
    ) -> torch.Tensor:
        ids = torch.as_tensor(tokens, device=self.model.device)[None]  # (1, rows)
        positions = (depths + (self.first + self.length))[None]  # (1, rows)
        self.kv_cache.reserve(len(tokens))
        return self.model.run(ids, positions, mask, self.kv_cache, last_only)[:, : self.model.vocab]


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
    mask = _aligned(mask) if mask.is_cuda else mask
    return hf(
        input_ids=ids,
        position_ids=positions,
        attention_mask=mask,
        past_key_values=kv_cache,
        use_cache=True,
        logits_to_keep=1 if last_only else 0,
    ).logits[0]


def _aligned(mask: torch.Tensor) -> torch.Tensor:
    """A copy of `mask` (1, 1, rows, columns) whose rows begin where kernels may load 16 bytes at
    once. A view of ours begins anywhere, and torch looks at the strides alone."""
    store = mask.new_empty((*mask.shape[:-1], -(-mask.shape[-1] // _ALIGNED) * _ALIGNED))
    return store[..., : mask.shape[-1]].copy_(mask)


def branched(
    model: TreeModel, tokens: Sequence[int], before: Sequence[int] = (), first: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """(vocab,) logits of the second branch of a tree of three `tokens` after the tokens `before`,
    or after the same three where none are given, and of the first of them once that branch was
    kept. first: the position that the text begins at."""
    before = before or tokens
    context = model.open(len(before) + 13, first)
    context.extend(before)
    branch = context.forward(tokens, TreeLayout(Tree((-1, 0, 0)), range(3), context))[2].double()
    context.keep([0, 2])
    return branch, context.extend(tokens[:1]).double()


@torch.inference_mode()
def own_logits(model: TreeModel, tokens: Sequence[int]) -> torch.Tensor:
    """(vocab,) float64 logits after `tokens` from the bare model: batch of one, no cache, mask or
    positions of ours."""
    ids = torch.tensor([tokens], device=model.device)
    return (
        model.hf(input_ids=ids, use_cache=False, logits_to_keep=1)
        .logits[0, -1, : model.vocab]
        .double()
    )


@torch.inference_mode()
def own_logits_from(model: TreeModel, tokens: Sequence[int], first: int, keep: int) -> torch.Tensor:
    """(keep, vocab) float64 logits after the last `keep` of `tokens`, the first of which stands at
    position `first`, from the bare model: batch of one, no cache or mask of ours."""
    ids = torch.tensor([tokens], device=model.device)
    positions = torch.arange(first, first + len(tokens), device=model.device)[None]
    return (
        model.hf(input_ids=ids, position_ids=positions, use_cache=False, logits_to_keep=keep)
        .logits[0, -keep:, : model.vocab]
        .double()
    )


def tolerance(dtype: torch.dtype) -> float:
    """Difference of logits that rounding explains, as a share of their spread."""
    return 1e-3 if dtype in (torch.float32, torch.float64) else 0.1


def _sample_logits(model: TreeModel) -> tuple[torch.Tensor, torch.Tensor]:
    """(vocab,) logits of a tree's branch after three tokens and after seven: a recording made for
    one length of text has to serve others."""
    tokens = [token % model.vocab for token in (1, 2, 3)]
    with model.capturing():
        return branched(model, tokens)[0], branched(model, tokens, (tokens * 3)[:7])[0]


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """Greatest difference of two logit rows (vocab,), relative to the spread of the second."""
    return float((one - other).abs().max() / other.std().clamp(min=1e-9))

"""What proposes tokens for a target: a model (tree_forward.py) or a lookup in the text (ngram.py).
A further kind of draft has the same methods, and needs no other base."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import torch

from sequoia.models.cache_and_mask import DynamicTreeLayout, TreeLayout
from sequoia.this_machine.memory import DeviceBytes


class Draft(Protocol):
    """A draft, for any number of runs. The properties describe it to people and to the planner."""

    no_fast_forward: str  # for this and the next two see TreeModel
    no_native_forward: str
    no_gpu_verification: str

    @property
    def name(self) -> str: ...

    @property
    def numbers(self) -> str:
        """The name of the dtype of its weights, or what it has instead of weights."""
        ...

    @property
    def forward_words(self) -> str:
        """How it computes its logits, in words."""
        ...

    @property
    def placement(self) -> str:
        """Where its weights are, in words; "" if all are on `device`."""
        ...

    @property
    def parameters(self) -> int: ...

    @property
    def vocab(self) -> int:
        """The number of tokens in the vocabulary."""
        ...

    @property
    def limit(self) -> int:
        """The longest text that it can process, in tokens."""
        ...

    @property
    def limit_reason(self) -> str:
        """Why `limit` is below what its config states; "" if it is not."""
        ...

    @property
    def device(self) -> torch.device:
        """The device of its logits."""
        ...

    @property
    def temperature(self) -> float:
        """The number by which its logits are divided already."""
        ...

    def at_temperature(self, temperature: float) -> Draft:
        """This draft, or a copy that divides its logits by `temperature` if that costs nothing."""
        ...

    def open(self, capacity: int, first: int = 0) -> DraftContext:
        """The state of one run with at most `capacity` tokens. first: the position of the first."""
        ...

    def offered(self, trees: Any) -> Any:
        """The TreeChoice `trees`, or one that leaves out those of its nodes for which the draft has
        nothing to propose."""
        ...

    def forget(self) -> None:
        """Free what was kept for later runs."""
        ...


class DraftContext(Protocol):
    """The state of one run of a draft."""

    @property
    def model(self) -> Draft: ...

    @property
    def capacity(self) -> int: ...

    @property
    def length(self) -> int:
        """The number of tokens known so far."""
        ...

    @property
    def device(self) -> torch.device: ...

    @property
    def mask_dtype(self) -> torch.dtype:
        """The dtype of additive masks."""
        ...

    def needs(self, nodes: int) -> DeviceBytes:
        """The memory that a pass over `nodes` nodes needs."""
        ...

    def held(self) -> DeviceBytes:
        """The memory that the run already has."""
        ...

    def extend(self, tokens: Sequence[int]) -> torch.Tensor:
        """Append `tokens` to the text. Returns the logits (vocab,) after the last."""
        ...

    def forward(
        self, tokens: Sequence[int] | torch.Tensor, layout: TreeLayout | DynamicTreeLayout
    ) -> torch.Tensor:
        """The logits (tokens, vocab) after each token of a part of a tree."""
        ...

    def keep(self, rows: Sequence[int]) -> None:
        """Append the tokens in these rows of the tree to the text, and drop the others."""
        ...

    def capture(self, sizes: Iterable[int], ends: Iterable[int] = ()) -> None:
        """Prepare passes over these numbers of tokens (see CUDA graphs)."""
        ...

    def capture_ahead(self, most: int) -> None:
        """Prepare for a longer text, outside timed steps."""
        ...

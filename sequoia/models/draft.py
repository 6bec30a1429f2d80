"""Draft: what proposes tokens for a target: a model (tree_forward.py), or a lookup in the text so
far (ngram.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import torch

from sequoia.models.tree_mask import DynamicTreeLayout, TreeLayout
from sequoia.this_machine.memory import DeviceBytes


class Draft(Protocol):
    """The distribution q of the next token after any text, for any number of runs. Each run opens a
    DraftContext of its own. For the attributes see TreeModel."""

    name: str
    vocab: int
    limit: int
    limit_reason: str
    device: torch.device
    placement: str
    temperature: float

    @property
    def numbers(self) -> str: ...

    @property
    def parameters(self) -> int: ...

    def open(self, capacity: int, first: int = 0) -> DraftContext: ...

    def at_temperature(self, temperature: float) -> Draft: ...

    def forget(self) -> None: ...

    def offered(self, trees: Any) -> Any:
        """The TreeChoice `trees`, or one that leaves out those of its nodes for which the draft has
        nothing to propose."""
        ...


class DraftContext(Protocol):
    """The state of one run on one draft. For the methods see Context in tree_forward.py."""

    capacity: int

    @property
    def model(self) -> Draft: ...

    @property
    def length(self) -> int: ...

    @property
    def device(self) -> torch.device: ...

    @property
    def mask_dtype(self) -> torch.dtype: ...

    def needs(self, nodes: int) -> DeviceBytes: ...

    def held(self) -> DeviceBytes: ...

    def extend(self, tokens: Sequence[int]) -> torch.Tensor: ...

    def forward(
        self, tokens: Sequence[int] | torch.Tensor, layout: TreeLayout | DynamicTreeLayout
    ) -> torch.Tensor: ...

    def keep(self, rows: Sequence[int]) -> None: ...

    def capture(self, sizes: Iterable[int], ends: Iterable[int] = ()) -> None: ...

    def capture_ahead(self, most: int) -> None: ...

"""What proposes tokens for a target: a model (tree_forward.py) or a lookup in the text (ngram.py).
A further kind of draft is a subclass of Draft, with a subclass of DraftContext for its runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

import torch

from sequoia.models.cache_and_mask import DynamicTreeLayout, TreeLayout
from sequoia.this_machine.memory import DeviceBytes

T = TypeVar("T")


class Draft(ABC):
    """A draft, for any number of runs, or a target, which has the same fields. What follows
    describes it to people and to the planner.

    vocab: the number of tokens in the vocabulary. limit: the longest text that it can process, in
    tokens. limit_reason: why that is less than its config states, or "". device: that of its
    logits. placement: where its weights are, in words, "" if all are on `device`.
    no_fast_forward: why no faster forward is in use, "" if one is in use or none exists.
    not_the_fastest: why a faster forward than the one in use was rejected, or "".
    no_gpu_verification: of a target, why the kernel that verifies trees on the GPU was rejected,
    or "".
    """

    name: str
    vocab: int
    limit: int
    device: torch.device
    limit_reason = ""
    placement = ""
    no_fast_forward = ""
    not_the_fastest = ""
    no_gpu_verification = ""

    @property
    @abstractmethod
    def numbers(self) -> str:
        """The name of the dtype of its weights, or what it has instead of weights."""

    @property
    @abstractmethod
    def forward_words(self) -> str:
        """How it computes its logits, in words."""

    @property
    def parameters(self) -> int:
        """The number of its parameters."""
        return 0

    @abstractmethod
    def open(self, capacity: int) -> DraftContext:
        """The state of one run with at most `capacity` tokens."""

    def offered(self, trees: T) -> T:
        """The TreeChoice that a run with this draft uses instead of `trees`, the one it was given:
        the same, or one that leaves out those of its nodes for which the draft has nothing to
        propose."""
        return trees

    def forget(self) -> None:  # noqa: B027  by default there is nothing
        """Free what was kept for later runs."""


class DraftContext(ABC):
    """The state of one run of a draft. capacity: the most tokens that it can have. device: that of
    masks and positions."""

    model: Draft
    capacity: int
    device: torch.device

    @property
    @abstractmethod
    def length(self) -> int:
        """The number of tokens known so far."""

    @property
    def mask_dtype(self) -> torch.dtype:
        """The dtype of additive masks."""
        return torch.float32

    @abstractmethod
    def needs(self, nodes: int) -> DeviceBytes:
        """Bytes on each device that this run needs with trees of `nodes` nodes."""

    def held(self) -> DeviceBytes:
        """The part of `needs` that is allocated already."""
        return Counter()

    @abstractmethod
    def extend(self, tokens: Sequence[int]) -> torch.Tensor:
        """Append `tokens` to the text. Returns the logits (vocab,) after the last of them."""

    @abstractmethod
    def forward(
        self, tokens: Sequence[int] | torch.Tensor, layout: TreeLayout | DynamicTreeLayout
    ) -> torch.Tensor:
        """Process the next nodes of `layout`, one for each of `tokens`. Returns the logits (nodes,
        vocab) after each node. The nodes are not part of the text yet."""

    @abstractmethod
    def keep(self, rows: Sequence[int]) -> None:
        """Append the nodes in these `rows` of the layout (increasing) to the text, and drop all
        others that were processed."""

    def capture(self, sizes: Iterable[int], ends: Iterable[int] = ()) -> None:  # noqa: B027
        """If the model uses CUDA graphs, capture them now, so that no step has to wait. sizes:
        numbers of tokens in passes over trees. ends: numbers of tokens in passes that return only
        the last token's logits."""

    def capture_ahead(self, most: int) -> None:  # noqa: B027
        """Capture CUDA graphs for a longer text now, if trees of `most` nodes will need them soon.
        Then no step has to wait."""

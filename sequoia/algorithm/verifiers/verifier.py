"""What a verifier is: one value with all that the program has to know of a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sequoia.algorithm.sampling import Chance, Drawn, Seeded
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict

DistributionOf = Callable[[int], np.ndarray]  # node -> law of the token after it (vocab,)
Draw = Callable[[Chance, torch.Tensor, Sequence[int]], Drawn]
DrawOnGpu = Callable[[Seeded, torch.Tensor, int], torch.Tensor]
Verify = Callable[[Tree, Sequence[int], DistributionOf, DistributionOf, Chance], Verdict]


@dataclass(frozen=True)
class OnGpu:
    """The same rule on a graphics card, where the walk is one kernel.

    `draw(chance, q, k)` gives every row of q (rows, vocab) k tokens, (rows, k), and leaves them on
    the card. replacing: whether those of one row are drawn independently, which the kernel has to
    know.
    """

    draw: DrawOnGpu
    replacing: bool


@dataclass(frozen=True)
class Verifier:
    """A way to draw children and the verification that is lossless for it.

    key: its name in saved files and arguments. label: its name for people. drawn: in words how
    children are drawn, "" where the label says it. `draw(chance, q, counts)` gives each row of q
    (rows, vocab) so many tokens. `verify(tree, tokens, p, q, chance)` decides a step. on_gpu: None
    where steps can only be verified on the host.
    """

    key: str
    label: str
    drawn: str
    draw: Draw
    verify: Verify
    on_gpu: OnGpu | None = None

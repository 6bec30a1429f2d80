"""Verifier: one value with everything that the rest of the program needs to know about a rule for
accepting drafted tokens. Verdict: the result of verifying one step, in the same form for every
rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.sampling import Chance, Drawn, Seeded
from sequoia.algorithm.tree import Tree
from sequoia.checked_types import Count, Many, Node, Probability, Truth


@dataclass(frozen=True)
class Trial:
    """The test of one drafted node.

    R and D are what the rejections of earlier siblings have left of the target's and the draft's
    distribution (see sequoia.py). p is the probability of the node's token in R, q that in D. The
    token is accepted if u * q < p. mass: after a rejection, the sum of max(R - D, 0); None after an
    acceptance.

    Two rules differ. In top-k match, R and D are the original distributions, a node is accepted if
    the target drew its token, and u and mass are None. For Traversal see `traverse`.
    """

    node: Node
    token: Count
    p: Probability
    q: Probability
    u: Probability | None
    accepted: Truth
    mass: Probability | None = None


@dataclass(frozen=True)
class Verdict:
    """The result of one step: the accepted nodes from the root down, the one token that the target
    adds, and all trials in order."""

    path: Many[Node]
    bonus: Count
    trials: Many[Trial]


DistributionOf = Callable[[int], np.ndarray]  # node -> distribution of the next token (vocab,)
Draw = Callable[[Chance, torch.Tensor, Sequence[int]], Drawn]
DrawOnGpu = Callable[[Seeded, torch.Tensor, int], torch.Tensor]
# (R, D, rejected token) -> (R, D, residual mass), see sequoia.py
Reject = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray, Any]]
# (p, q, siblings' tokens) -> for each sibling, the probability that it is accepted, given that
# verification reaches their parent
Chances = Callable[[np.ndarray, np.ndarray, Sequence[int]], list[Any]]
Verify = Callable[[Tree, Sequence[int], DistributionOf, DistributionOf, Chance], Verdict]


@dataclass(frozen=True)
class OnGpu:
    """A rule on a GPU, where the whole walk is one kernel.

    `draw(chance, q, k)` draws k tokens for every row of q (rows, vocab). The result (rows, k) stays
    on the GPU. replacing: whether the tokens of one row are drawn independently; if they are, a
    rejection leaves D (see sequoia.py) unchanged.
    """

    draw: DrawOnGpu
    replacing: bool


@dataclass(frozen=True)
class Verifier:
    """A way of drawing children, with the verification that makes it lossless.

    key: the name in saved files and arguments.
    label: the name on the page.
    about: how it works, in words that follow the label and a colon in a tooltip.
    colour, marker: its look in charts: the colours of the light and the dark theme, and Plotly's
        name of the marker.
    draw(chance, q, counts): draws counts[i] tokens for row i of q (rows, vocab).
    verify(tree, tokens, p, q, chance): verifies one step.
    chances(p, q, tokens): see `Chances`. None for a rule that starts at the leaves.
    reject: how a rejection changes R and D (see sequoia.py) for the next sibling. None if the rule
        starts at the leaves, or accepts a child only if it is the token that the target has drawn.
    on_gpu: the rule on a GPU. None if steps can only be verified on the host.
    """

    key: str
    label: str
    about: str
    colour: tuple[str, str]
    marker: str
    draw: Draw
    verify: Verify
    chances: Chances | None = None
    reject: Reject | None = None
    on_gpu: OnGpu | None = None

    @property
    def from_leaves(self) -> bool:
        """Whether it tests whole paths, from the leaves to the root."""
        return self.chances is None

    @property
    def keeps_q(self) -> bool:
        """Whether siblings are tried against the same q, however many were rejected."""
        even = np.full(2, 0.5)
        return self.reject is not None and bool((self.reject(even, even, 0)[1] == even).all())

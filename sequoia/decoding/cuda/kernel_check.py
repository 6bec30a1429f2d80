"""Compares the kernel that verifies a tree (verify_kernel.py) with the reference
(algorithm/verifiers/sequoia.py) on random cases, before the kernel is first used on a device. If
the two disagree, or the kernel cannot be compiled, the host verifies instead of the GPU."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import walk, without_replacement
from sequoia.algorithm.verifiers.specinfer import with_replacement
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.decoding.cuda.cuda_step import TreeOnDevice
from sequoia.this_machine.memory import is_out_of_memory

CASES = 200
# Every eleventh case has the whole vocabulary, the others a smaller one, for speed. Eleven and
# len(_TREES) have no common divisor, so each tree is also tried with the whole vocabulary.
_AT_FULL_SIZE = 11
_SMALLER = 8192  # tokens: two blocks of the kernel
# Triton compiles different code for a vocabulary divisible by 16. So the smaller vocabulary gets up
# to 15 extra tokens, until it has the same remainder as the whole vocabulary.
_ALIGNED = 16
_CLOSE = 1e-9  # the largest difference allowed between probabilities
_TREES = (
    Tree.chain(1),
    Tree.chain(5),
    Tree((-1, 0, 0, 0, 1, 1, 2, 4, 4)),
    Tree.sequences(3, 2),
    Tree.from_branching([8]),
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Case:
    """One step to verify. p: (nodes, vocab) float64. q: (inner nodes, vocab) float32. noise:
    (nodes + 1,), numbers for the trials, and last the number that draws the bonus token."""

    tree: Tree
    tokens: list[int]
    p: np.ndarray
    q: np.ndarray
    noise: np.ndarray


@dataclass(frozen=True)
class Found:
    """The kernel's result for a case. trials: (node, p, q, u, accepted, mass) of each trial. node:
    the last node of the path."""

    trials: list[list[float]]
    node: int
    bonus: int


class Scripted:
    """The methods of Chance that verification calls. They use the given numbers in [0, 1): one per
    trial, and the last for the bonus token."""

    def __init__(self, noise: np.ndarray) -> None:
        self._noise = iter(noise[:-1].tolist())
        self._bonus = float(noise[-1])

    def accept(self, d: float, r: float) -> tuple[bool, float]:
        u = next(self._noise)
        return bool(u * d < r), u

    def pick(self, weights: np.ndarray) -> int:
        heights = np.cumsum(weights)
        return int(np.searchsorted(heights, self._bonus * heights[-1], side="right"))


@cache
def kernel_problem(device: torch.device, vocab: int, replacing: bool) -> str:
    """Why the kernel is not used on `device`, as the end of a sentence; "" if it is used. The
    result is cached for each combination of arguments. replacing: whether siblings are drawn
    independently. An out-of-memory error is raised and not cached, because it says nothing about
    the kernel."""
    try:
        problem = _disagreement(device, vocab, replacing)
    except Exception as raised:  # no compiler, no headers, an old GPU
        if is_out_of_memory(raised):
            raise
        problem = " ".join(f"{type(raised).__name__}: {raised}".split())[:200]
    if problem:
        _log.warning("GPU verification is off on %s, so the host verifies: %s", device, problem)
    return problem


def _disagreement(device: torch.device, vocab: int, replacing: bool) -> str:
    for number, case in enumerate(_cases(vocab, replacing), 1):
        found = _differs(by_kernel(case, device, replacing), by_reference(case, replacing))
        if found:
            return f"{found} (random case {number} of {CASES})"
    return ""


def _cases(vocab: int, replacing: bool) -> Iterator[Case]:
    rng = np.random.default_rng(1)
    smaller = min(vocab, _SMALLER + vocab % _ALIGNED)
    # without replacement, a node has at most `vocab` children
    trees = [one for one in _TREES if replacing or max(map(len, one.children)) <= vocab]
    for number in range(CASES):
        tree = trees[number % len(trees)]
        yield random_case(rng, tree, smaller if number % _AT_FULL_SIZE else vocab, replacing)


def random_case(rng: np.random.Generator, tree: Tree, vocab: int, replacing: bool) -> Case:
    """Random distributions, in which some entries are zero, and random tokens, some of probability
    zero. replacing: whether two siblings may have the same token."""
    inner = sum(map(bool, tree.children))
    tokens = [0] * len(tree)
    for children in tree.children:
        drawn = rng.choice(min(vocab, 64), size=len(children), replace=replacing)
        for child, token in zip(children, drawn.tolist(), strict=True):
            tokens[child] = token
    return Case(
        tree,
        tokens,
        _distributions(rng, len(tree), vocab),
        _distributions(rng, inner, vocab).astype(np.float32),
        rng.random(len(tree) + 1),
    )


def _distributions(rng: np.random.Generator, rows: int, vocab: int) -> np.ndarray:
    """Random distributions (rows, vocab). About a quarter of all entries are zero. In each row the
    first 64 entries are scaled up, because `random_case` drafts only these tokens."""
    found = rng.standard_exponential((rows, vocab)) ** 3
    found[:, : min(vocab, 64)] *= max(1.0, vocab / 64)
    found[rng.random(found.shape) < 0.25] = 0
    found[found.sum(1) == 0, 0] = 1
    return found / found.sum(1, keepdims=True)


def by_kernel(case: Case, device: torch.device, replacing: bool) -> Found:
    """The kernel's result for `case`."""
    # imported here, because Triton is installed only with CUDA
    from sequoia.decoding.cuda.verify_kernel import TRIAL, launch

    tree = TreeOnDevice(device, case.tree)
    trials = torch.zeros(len(case.noise) - 1, TRIAL, dtype=torch.float64, device=device)
    p, q, noise = (torch.tensor(one, device=device) for one in (case.p, case.q, case.noise))
    tokens = torch.tensor(case.tokens, device=device)
    end = launch(p, q, tree.row, tokens, tree.first, tree.count, noise, trials, replacing)
    done, node, bonus = map(int, end.tolist())
    return Found(trials[:done].tolist(), node, bonus)


def by_reference(case: Case, replacing: bool) -> Verdict:
    """The reference's result for `case`."""
    rows = {node: row for row, node in enumerate(n for n, c in enumerate(case.tree.children) if c)}
    return walk(
        case.tree,
        case.tokens,
        lambda node: case.p[node],
        lambda node: case.q[rows[node]],
        Scripted(case.noise),  # pyright: ignore[reportArgumentType]  nothing is drafted here
        with_replacement if replacing else without_replacement,
    )


def _differs(found: Found, expected: Verdict) -> str:
    """How the kernel's result differs from the reference's, in words; "" if it doesn't. Each
    trial is compared by its node, p and q."""
    pairs = [
        ("last node", found.node, expected.path[-1]),
        ("number of trials", len(found.trials), len(expected.trials)),
        ("bonus token", found.bonus, expected.bonus),
    ]
    for what, one, other in pairs:
        if one != other:
            return f"the kernel's {what} is {one}, the reference's {other}"
    for (node, p, q, *_), trial in zip(found.trials, expected.trials, strict=True):
        if node != trial.node:
            return f"the kernel tries node {node:g}, the reference node {trial.node}"
        apart = max(abs(p - trial.p), abs(q - trial.q))
        if not apart <= _CLOSE:
            return f"the kernel's probabilities at node {trial.node} are off by {apart:.2g}"
    return ""

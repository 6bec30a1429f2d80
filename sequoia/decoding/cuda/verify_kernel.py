"""The walk of algorithm/verifiers/walk.py as one Triton kernel: the whole descent on the device,
without the host.

The reference is walk.py: the same rule, trial by trial, in float64. Tests compare the two with the
same random numbers, on a CPU with Triton's interpreter. A single program does all of it, as every
trial needs the result of the one before.
"""

# A kernel is Triton's language, not Python: its values have types that no Python checker
# knows, and its compiler takes the names in annotations for global variables, so there are
# none but `tl.constexpr`.
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false, reportOperatorIssue=false

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sequoia.this_machine.step_timer import as_current_device

_BLOCK = 4096  # tokens of the vocabulary that are processed together
# Tokens of a block per warp. With fewer, several warps would process the same tokens, and one of
# them may be ahead of the others.
_WARP = 256
TRIAL = 6  # numbers stored for each trial: node, p, q, u, accepted, mass


def launch(
    p: torch.Tensor,
    q: torch.Tensor,
    row: torch.Tensor,
    tokens: torch.Tensor,
    first: torch.Tensor,
    count: torch.Tensor,
    noise: torch.Tensor,
    trials: torch.Tensor,
    replacing: bool,
) -> torch.Tensor:
    """Walk a tree. p: (nodes, vocab) float64 target distributions; q: (inner nodes, vocab) float32
    draft distributions; row: (nodes,) each node's row of q; tokens, first, count: (nodes,) drafted
    token, first child and number of children of each node; noise: (trials + 1,) float64 in [0, 1),
    the last for the bonus; trials: (most trials, 6) float64, filled in. replacing: children were
    drawn independently.

    Returns (3,) float64: the number of trials, the node at which the walk ended, and the bonus
    token.
    """
    vocab = p.shape[1]
    work = torch.empty(2, vocab, dtype=torch.float64, device=p.device)
    end = torch.empty(3, dtype=torch.float64, device=p.device)
    block = min(_BLOCK, triton.next_power_of_2(vocab))
    with as_current_device(p.device):
        _walk[(1,)](
            p,
            q,
            row,
            tokens,
            first,
            count,
            noise,
            trials,
            work,
            work[1],
            end,
            vocab,
            len(noise) - 1,
            replacing,
            block=block,
            num_warps=warps(block),
        )
    return end


def warps(block: int) -> int:
    """Warps of a program that processes `block` tokens together, a power of 2."""
    return min(16, max(1, block // _WARP))


@triton.jit(do_not_specialize=["most"])  # it differs from tree to tree
def _walk(
    p,
    q,
    row,
    tokens,
    first,
    count,
    noise,
    trials,
    residual,
    draft,
    end,
    vocab,
    most,
    replacing: tl.constexpr,
    block: tl.constexpr,
):
    node = tl.load(first) * 0
    done = node
    _copy(p, residual, node, vocab, block)
    going = tl.load(count + node) > 0
    while going:
        _copy(q, draft, tl.load(row + node), vocab, block)
        # the sum of D before it is scaled: 0 where q has nothing left to draw
        left = _sum(draft, vocab, block)
        _scale(draft, left, vocab, block)
        child = tl.load(first + node)
        last = tl.load(first + node) + tl.load(count + node)
        accepted = child < 0
        while (child < last) & (accepted == 0):
            token = tl.load(tokens + child)
            if left == 0:
                _fill(draft, tokens, tl.load(first + node), child, vocab, block)
            r = tl.load(residual + token)
            d = tl.load(draft + token)
            u = tl.load(noise + done)
            accepted = u * d < r
            mass = r * 0 - 1
            if accepted == 0:
                mass, left = _reject(residual, draft, token, left, vocab, replacing, block)
            at = trials + done * 6
            tl.store(at, child.to(tl.float64))
            tl.store(at + 1, r)
            tl.store(at + 2, d)
            tl.store(at + 3, u)
            tl.store(at + 4, accepted.to(tl.float64))
            tl.store(at + 5, mass)
            done += 1
            child += 1
        going = accepted
        if accepted:
            node = child - 1
            _copy(p, residual, node, vocab, block)
            going = tl.load(count + node) > 0
    tl.store(end, done.to(tl.float64))
    tl.store(end + 1, node.to(tl.float64))
    tl.store(end + 2, _pick(residual, tl.load(noise + most), vocab, block).to(tl.float64))


@triton.jit
def _copy(distributions, into, node, vocab, block: tl.constexpr):
    """One row of `distributions`, as float64."""
    tl.debug_barrier()
    start = distributions + node.to(tl.int64) * vocab
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        tl.store(
            into + place,
            tl.load(start + place, mask=place < vocab).to(tl.float64),
            mask=place < vocab,
        )
    tl.debug_barrier()


@triton.jit
def _sum(row, vocab, block: tl.constexpr):
    total = tl.zeros((block,), tl.float64)
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        total += tl.load(row + place, mask=place < vocab, other=0.0)
    return tl.sum(total, 0)


@triton.jit
def _scale(row, total, vocab, block: tl.constexpr):
    """Divide by `total`, unless that is 0."""
    divisor = tl.where(total > 0, total, 1.0)
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        tl.store(
            row + place, tl.load(row + place, mask=place < vocab) / divisor, mask=place < vocab
        )
    tl.debug_barrier()


@triton.jit
def _reject(residual, draft, token, left, vocab, replacing: tl.constexpr, block: tl.constexpr):
    """R becomes max(R - D, 0), renormalised where anything is left; the token is removed from D
    unless children were drawn independently. Returns the mass of max(R - D, 0), and the sum of D
    before it is scaled again."""
    total = tl.zeros((block,), tl.float64)
    for at in range(0, vocab, block):
        total += _rest(residual, draft, at, vocab, block)
    mass = tl.sum(total, 0)
    if mass > 0:
        for at in range(0, vocab, block):
            place = at + tl.arange(0, block)
            tl.store(
                residual + place,
                _rest(residual, draft, at, vocab, block) / mass,
                mask=place < vocab,
            )
    tl.debug_barrier()
    if replacing == 0:
        tl.store(draft + token, mass * 0)
        tl.debug_barrier()
        left = _sum(draft, vocab, block)
        _scale(draft, left, vocab, block)
    return mass, left


@triton.jit
def _rest(residual, draft, at, vocab, block: tl.constexpr):
    """max(R - D, 0) of the tokens from `at` on."""
    place = at + tl.arange(0, block)
    r = tl.load(residual + place, mask=place < vocab, other=0.0)
    d = tl.load(draft + place, mask=place < vocab, other=0.0)
    return tl.maximum(r - d, 0.0)


@triton.jit
def _fill(draft, tokens, first, child, vocab, block: tl.constexpr):
    """The distribution of the next draw where q has nothing left: uniform over tokens not tried."""
    tried = child - first
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        # a bare 1.0 would be divided in float32
        alike = (tl.zeros((block,), tl.float64) + 1.0) / (vocab - tried)
        tl.store(draft + place, alike, mask=place < vocab)
    tl.debug_barrier()
    for sibling in range(first, child):
        tl.store(draft + tl.load(tokens + sibling), 0.0)
    tl.debug_barrier()


@triton.jit
def _pick(weights, u, vocab, block: tl.constexpr):
    """The first token at which the cumulative weight passes u times the total; never
    one without weight."""
    aim = u * _sum(weights, vocab, block)
    before = aim * 0
    found = vocab + 0
    latest = 0
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        weight = tl.load(weights + place, mask=place < vocab, other=0.0)
        heights = before + tl.cumsum(weight, 0)
        here = tl.min(tl.where((heights > aim) & (weight > 0), place, vocab), 0)
        found = tl.minimum(found, here)
        latest = tl.maximum(latest, tl.max(tl.where(weight > 0, place, 0), 0))
        before += tl.sum(weight, 0)
    return tl.minimum(found, latest)  # rounding may leave the aim just past the end

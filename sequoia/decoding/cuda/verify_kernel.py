"""The walk of algorithm/verifiers/sequoia.py as one Triton kernel: the whole walk runs on the
device, without the host.

The kernel must agree with sequoia.py: it applies the same rule, trial by trial, in float64. It is a
single program, because every trial needs the result of the trial before.
"""

# A kernel is written in Triton's language, not Python. Type checkers do not know the types of its
# values. Triton's compiler treats names in annotations as global variables, so the only annotation
# in kernels is `tl.constexpr`.
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false, reportOperatorIssue=false

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sequoia.this_machine.step_timer import as_current_device

_BLOCK = 4096  # tokens of the vocabulary that are processed together
# Several warps share a block only if each gets at least this many of its tokens. With too few,
# several warps would process the same tokens, and one could overwrite a value before another reads
# it.
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
    """Walk a tree.

    p: (nodes, vocab) float64, target distributions.
    q: (inner nodes, vocab) float32, draft distributions.
    row: (nodes,), each node's row of q.
    tokens, first, count: (nodes,), each node's drafted token, first child and number of children.
    noise: (maximum number of trials + 1,) float64 in [0, 1), the last for the bonus token.
    trials: (maximum number of trials, TRIAL) float64, the output, filled in as far as needed.
    replacing: whether siblings were drawn independently.

    Returns (3,) float64: the number of trials, the node at which the walk ended, and the bonus
    token.
    """
    vocab = p.shape[1]
    work = torch.empty(2, vocab, dtype=torch.float64, device=p.device)
    end = torch.empty(3, dtype=torch.float64, device=p.device)
    totals = q.sum(-1, dtype=torch.float64)  # (inner nodes,)
    block = min(_BLOCK, triton.next_power_of_2(vocab))
    with as_current_device(p.device):
        _walk[(1,)](
            p,
            q,
            totals,
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
    """The number of warps, a power of 2, of a program that processes `block` tokens together."""
    return min(16, max(1, block // _WARP))


@triton.jit(do_not_specialize=["most"])  # else compiled again for some values of `most`
def _walk(
    p,
    q,
    totals,
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
    """At each node, R and D (see sequoia.py) are read from the node's rows of p and q until a child
    is rejected, and from `residual` and `draft` after that. With `replacing`, D is always read from
    q. D is stored without being normalised; `left` is its sum. most: the maximum number of
    trials."""
    node = tl.load(first) * 0
    done = node
    rejected = node
    going = tl.load(count + node) > 0
    while going:
        p_row = p + node.to(tl.int64) * vocab
        q_row = q + tl.load(row + node).to(tl.int64) * vocab
        left = tl.load(totals + tl.load(row + node))
        rejected = node * 0
        child = tl.load(first + node)
        last = child + tl.load(count + node)
        accepted = child < 0
        while (child < last) & (accepted == 0):
            token = tl.load(tokens + child)
            if rejected == 0:
                r = tl.load(p_row + token)
                d = tl.load(q_row + token).to(tl.float64) / left
            else:
                r = tl.load(residual + token)
                if replacing:
                    d = tl.load(q_row + token).to(tl.float64) / left
                else:
                    if left == 0:
                        left = _fill(draft, tokens, tl.load(first + node), child, vocab, block)
                    d = tl.load(draft + token) / left
            u = tl.load(noise + done)
            accepted = u * d < r
            mass = r * 0 - 1
            if accepted == 0:
                scale = 1 / left
                if rejected == 0:
                    mass, rest = _masses(p_row, q_row, scale, token, vocab, block)
                    _reject(p_row, q_row, residual, draft, scale, mass, vocab, replacing, block)
                else:
                    if replacing:
                        mass, rest = _masses(residual, q_row, scale, token, vocab, block)
                        _reject(
                            residual, q_row, residual, draft, scale, mass, vocab, replacing, block
                        )
                    else:
                        mass, rest = _masses(residual, draft, scale, token, vocab, block)
                        _reject(
                            residual, draft, residual, draft, scale, mass, vocab, replacing, block
                        )
                if replacing == 0:
                    # the token leaves D, because the siblings after it were drawn without it
                    tl.store(draft + token, mass * 0)
                    left = rest
                    tl.debug_barrier()
                rejected += 1
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
            rejected = node * 0
            going = tl.load(count + node) > 0
    tl.store(end, done.to(tl.float64))
    tl.store(end + 1, node.to(tl.float64))
    u = tl.load(noise + most)
    if rejected == 0:
        bonus = _pick(p + node.to(tl.int64) * vocab, u, vocab, block)
    else:
        bonus = _pick(residual, u, vocab, block)
    tl.store(end + 2, bonus.to(tl.float64))


@triton.jit
def _masses(r_row, d_row, scale, token, vocab, block: tl.constexpr):
    """Returns two numbers: the mass of max(R - D, 0), with D = `d_row` times `scale`; and the sum
    of `d_row` without `token`, which is exactly 0 if no other token has mass."""
    mass = tl.zeros((block,), tl.float64)
    rest = tl.zeros((block,), tl.float64)
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        r = tl.load(r_row + place, mask=place < vocab, other=0.0)
        d = tl.load(d_row + place, mask=place < vocab, other=0.0).to(tl.float64)
        mass += tl.maximum(r - d * scale, 0.0)
        rest += tl.where(place == token, 0.0, d)
    return tl.sum(mass, 0), tl.sum(rest, 0)


@triton.jit
def _reject(
    r_row,
    d_row,
    residual,
    draft,
    scale,
    mass,
    vocab,
    replacing: tl.constexpr,
    block: tl.constexpr,
):
    """Write max(R - D, 0), renormalised, to `residual`, with D as in `_masses`; write R if the mass
    is 0. Without `replacing`, D changes after a rejection, so `d_row` is copied to `draft`, where
    the caller changes it."""
    tl.debug_barrier()
    renormalise = 1 / tl.where(mass > 0, mass, 1.0)
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        r = tl.load(r_row + place, mask=place < vocab, other=0.0)
        d = tl.load(d_row + place, mask=place < vocab, other=0.0).to(tl.float64)
        rest = tl.where(mass > 0, tl.maximum(r - d * scale, 0.0) * renormalise, r)
        tl.store(residual + place, rest, mask=place < vocab)
        if replacing == 0:
            tl.store(draft + place, d, mask=place < vocab)
    tl.debug_barrier()


@triton.jit
def _fill(draft, tokens, first, child, vocab, block: tl.constexpr):
    """Called when every token with mass in q has been tried. The next sibling was then drawn
    uniformly from the other tokens, so D is written to `draft` as 1 for a token not tried yet, else
    0. Returns the sum of D."""
    tl.debug_barrier()
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        tl.store(draft + place, tl.zeros((block,), tl.float64) + 1.0, mask=place < vocab)
    tl.debug_barrier()
    for sibling in range(first, child):
        tl.store(draft + tl.load(tokens + sibling), 0.0)
    tl.debug_barrier()
    return (vocab - (child - first)).to(tl.float64)


@triton.jit
def _sum(row, vocab, block: tl.constexpr):
    total = tl.zeros((block,), tl.float64)
    for at in range(0, vocab, block):
        place = at + tl.arange(0, block)
        total += tl.load(row + place, mask=place < vocab, other=0.0)
    return tl.sum(total, 0)


@triton.jit
def _pick(weights, u, vocab, block: tl.constexpr):
    """The first token at which the cumulative weight exceeds u times the total. Never a token of
    weight 0."""
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
    return tl.minimum(found, latest)  # rounding may make `aim` as large as the last of `heights`

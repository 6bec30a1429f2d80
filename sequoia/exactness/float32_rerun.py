"""A run at temperature 0 made again with the target's weights in float32, to tell rounding from a
bug where the target has a router.

In half precision a router may send a token to other experts than it would in another pass over the
same text, and the logits then move by far more than the sums of a pass are rounded. In float32 such
flips are rare, so a right decoder gives the tokens of plain decoding there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import OutOfMemory, Stopped
from sequoia.models.pair import Pair
from sequoia.models.pair_cache import PairCache
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.memory import ROOM, require


def in_float32(pair: Pair) -> Pair:
    """`pair` with a copy of its target in float32. Raises OutOfMemory where that does not fit
    beside it, or the weights are spread over several places."""
    target = pair.target
    if target.placement:
        raise OutOfMemory(f"the target's weights do not fit in one place ({target.placement})")
    tensors = [*target.hf.parameters(), *target.hf.buffers()]
    count = sum(one.numel() for one in tensors)
    require(
        count * torch.float32.itemsize * ROOM, target.device, "a float32 copy of the target needs"
    )
    wide = TreeModel(_copied(target.hf, tensors), target.name, target.device, target.layer_devices)
    wide.vocab = target.vocab
    return replace(pair, target=wide.use_fast_forward(), measured=PairCache())


def _copied(hf: Any, tensors: Sequence[torch.Tensor]) -> Any:
    """A copy of `hf` with its `tensors` in float32; no other copy of them is made on the way."""
    return copy.deepcopy(hf, {id(one): _wide(one) for one in tensors})


def _wide(one: torch.Tensor) -> torch.Tensor:
    found = one.detach().to(torch.float32 if one.is_floating_point() else one.dtype)
    is_parameter = isinstance(one, torch.nn.Parameter)
    return torch.nn.Parameter(found, requires_grad=False) if is_parameter else found


def tokens_of(
    pair: Pair,
    prompt: str,
    count: int,
    tree: Tree | TreeChoice,
    verifier: str,
    should_stop: Callable[[], bool],
) -> list[int]:
    """The first `count` tokens at temperature 0. Raises Stopped once `should_stop`, OutOfMemory
    for caches that do not fit, and what decoding raises."""
    params = SamplingParams(max_new_tokens=count, ignore_eos=True)
    found = list[int]()
    for step in run(Decoder(pair, prompt, params, tree, verifier)):
        go_on(should_stop)
        found += step.emitted
    return found


def go_on(should_stop: Callable[[], bool]) -> None:
    """Raises Stopped once `should_stop`."""
    if should_stop():
        raise Stopped("it was stopped")

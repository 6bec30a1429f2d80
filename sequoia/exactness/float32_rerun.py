"""Repeats a run at temperature 0 with the target's weights in float32. For a target with a router
(mixture of experts), this helps to distinguish rounding from a bug.

In half precision a router may choose different experts in two passes over the same text. The logits
then change far more than by rounding alone. In float32 this is rare.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from sequoia.algorithm.progress import ShouldStop
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import OutOfMemory, Stopped
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.pair import Pair
from sequoia.models.pair_cache import PairCache
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.memory import ROOM, require


def in_float32(pair: Pair) -> Pair:
    """`pair` with a copy of its target in float32. Raises OutOfMemory if there is no room for the
    copy, or if the target's weights are not all on one device."""
    target = pair.target
    if target.placement:
        raise OutOfMemory(f"the target's weights do not fit on one device ({target.placement})")
    tensors = [*target.hf.parameters(), *target.hf.buffers()]
    count = sum(tensor.numel() for tensor in tensors)
    require(
        count * torch.float32.itemsize * ROOM, target.device, "a float32 copy of the target needs"
    )
    wide = TreeModel(_copied(target.hf, tensors), target.name, target.device, target.layer_devices)
    wide.vocab = target.vocab
    return replace(pair, target=use_fast_forward(wide), measured=PairCache())


def _copied(hf: Any, tensors: Sequence[torch.Tensor]) -> Any:
    """A copy of the model `hf` with its floating-point `tensors` in float32. Tensors that are in
    float32 already, or that contain integers, are shared with `hf`."""
    return copy.deepcopy(hf, {id(tensor): _wide(tensor) for tensor in tensors})


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    wide = tensor.detach().to(torch.float32 if tensor.is_floating_point() else tensor.dtype)
    is_parameter = isinstance(tensor, torch.nn.Parameter)
    return torch.nn.Parameter(wide, requires_grad=False) if is_parameter else wide


def tokens_of(
    pair: Pair,
    prompt: str,
    count: int,
    tree: Tree | TreeChoice,
    verifier: str,
    should_stop: ShouldStop,
) -> list[int]:
    """The first `count` tokens at temperature 0, or fewer if the context is full earlier. Raises
    Stopped if `should_stop()` is true after a step. Also raises whatever decoding raises."""
    params = SamplingParams(max_new_tokens=count, ignore_eos=True)
    tokens = list[int]()
    for step in run(Decoder(pair, prompt, params, tree, verifier)):
        raise_if_stopped(should_stop)
        tokens += step.emitted
    return tokens


def raise_if_stopped(should_stop: ShouldStop) -> None:
    """Raises Stopped if `should_stop()` is true."""
    if should_stop():
        raise Stopped("it was stopped")

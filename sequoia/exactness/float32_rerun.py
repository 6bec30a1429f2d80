"""Repeats a run at temperature 0 with the target computed in float32. For a target with a router
(mixture of experts), this helps to distinguish rounding from a bug.

In half precision a router may choose different experts in two passes over the same text. The logits
then change far more than by rounding alone. In float32 this is rare.
"""

from __future__ import annotations

from dataclasses import replace

from sequoia.algorithm.progress import ShouldStop
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.decoding.engine import Decoder, run
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import Stopped
from sequoia.models.compare_logits import wider
from sequoia.models.pair import Pair, PairCache


def in_float32(pair: Pair) -> Pair:
    """`pair` with a target in half precision computed in float32."""
    return replace(pair, target=wider(pair.target), measured=PairCache())


def tokens_of(
    pair: Pair,
    prompt: str,
    count: int,
    tree: TreeChoice,
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

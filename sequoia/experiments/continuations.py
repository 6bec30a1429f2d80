"""The texts that experiments measure on: the target's own continuations of prompts."""

from __future__ import annotations

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.decoding.engine import plain
from sequoia.models.pair import Pair


def continuation(pair: Pair, prompt: str, params: SamplingParams) -> tuple[int, ...]:
    """What the target alone emits after `prompt`."""
    return tuple(emitted_tokens(plain(pair, prompt, params)))

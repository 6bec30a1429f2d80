"""The texts that experiments measure on: the target's continuations of prompts."""

from __future__ import annotations

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.decoding.engine import plain
from sequoia.models.pair import Pair


def continuation(pair: Pair, prompt: str, params: SamplingParams) -> tuple[int, ...]:
    """The token ids that plain decoding with the target emits after `prompt`."""
    return tuple(emitted_tokens(plain(pair, prompt, params)))

"""The baseline of a run's speed-up: plain decoding of the same prompt. Independent of Gradio."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sequoia import Decoder, Pair, Tree
from sequoia.algorithm.progress import ShouldStop
from sequoia.diagnosis.compare_runs import LaneRun, Step, common_tokens
from sequoia.models.streamed_text import TextStream
from ui.decode.clocks import retimed
from ui.decode.request import DecodeRequest
from ui.shared.speedup_meta import plain_meta, step_of

PLAIN_TOKENS = 512  # most tokens of a baseline
PLAIN_SECONDS = 3.0  # wall-clock time after which no further step of a baseline begins


@dataclass(frozen=True)
class PlainRun:
    """A finished baseline. steps: tokens and seconds of each step. texts: the text that each step
    added. tokens: the ids of all tokens. finish: why it ended, as in StepTrace, or "time" if it
    took PLAIN_SECONDS."""

    steps: tuple[Step, ...] = ()
    texts: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()
    finish: str = "time"

    def to_meta(self, text: Sequence[int]) -> dict[str, Any]:
        """The run as JSON values; see `plain_meta`. text: the token ids of the run that it is
        compared with."""
        seconds = [seconds for _, seconds in self.steps]
        same = common_tokens(text, self.tokens)
        return plain_meta(seconds, self.texts, same, self.finish, PLAIN_SECONDS)

    def timed(self, seed: int) -> LaneRun:
        return LaneRun("", seed, self.steps, self.tokens)


def plain_run(pair: Pair, decode_request: DecodeRequest, should_stop: ShouldStop) -> PlainRun:
    """Decode the prompt without a draft. The run ends at the latest after PLAIN_TOKENS tokens, at
    the request's own token limit, or after about PLAIN_SECONDS. The steps are timed on the
    request's clock. There are no steps if `should_stop` ended the run, or if the prefill already
    took PLAIN_SECONDS."""
    most = min(PLAIN_TOKENS, decode_request.params.max_new_tokens)
    params = replace(decode_request.params, max_new_tokens=most)
    decoder = Decoder(pair, decode_request.prompt, params, Tree.chain(1))
    text = TextStream(pair.tokenizer, decoder.prompt)
    steps = list[Step]()
    texts = list[str]()
    tokens = list[int]()
    end = time.monotonic() + PLAIN_SECONDS
    decoder.prefill()
    while decoder.finish is None and not should_stop() and time.monotonic() < end:
        trace = retimed(decoder.step(), decode_request.simulated_clock)
        steps.append(step_of(trace))
        texts.append("".join(map(text.add, trace.emitted)))
        tokens += trace.emitted
    if texts:
        texts[-1] += text.pending
    if should_stop():
        return PlainRun()
    return PlainRun(tuple(steps), tuple(texts), tuple(tokens), decoder.finish or "time")

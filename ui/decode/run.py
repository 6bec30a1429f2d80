"""One run of the Decode view. Its thread waits for the models and for its turn, then decodes. The
run also makes the messages for the page."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sequoia import Decoder, Pair, Recorder, SamplingParams, StepTrace, Tree
from sequoia.algorithm.progress import ShouldStop
from sequoia.decoding.recorder import prompt_pieces
from sequoia.diagnosis.compare_runs import LaneRun, Step, common_tokens
from sequoia.errors import OutOfMemory
from sequoia.measuring.memory_floor import floor_seconds
from sequoia.models.describe import dtype_name, place_of, versions
from sequoia.models.streamed_text import TextStream
from sequoia.planning.compare_plans import chain_gains
from sequoia.saved_files.run_meta import SharedMeta
from ui.decode import messages
from ui.decode.clocks import clock_meta, retimed
from ui.decode.recordings import Recording, RunStore
from ui.decode.request import DecodeRequest
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost, named
from ui.serving.pausable_job import RESUMABLE, PausableJob
from ui.serving.run_job import Ended, Notice
from ui.shared.saved_profiles import Entry
from ui.shared.speedup_meta import Timed, compared_with_plain, plain_meta, step_of
from ui.shared.tree_request import ChosenTree, TreeRequest
from ui.words.plans import chain_words

MORE_RUNS = 4  # how many further runs "Run it again" makes


@dataclass(frozen=True)
class Started:
    """Posted before the first step. prompt: the prompt's token ids. meta: see `run_meta`."""

    pair: Pair
    prompt: tuple[int, ...]
    meta: Mapping[str, Any]


Event = Notice | Started | StepTrace | Ended


class DecodeJob(PausableJob[Decoder]):
    """A run of one decoder that is recorded and sent to the page. A round is one step."""

    request: DecodeRequest
    recording: Recording | None

    def __init__(
        self,
        decode_request: DecodeRequest,
        model_host: ModelHost,
        limits: Limits,
        run_store: RunStore[Recording],
    ) -> None:
        super().__init__(decode_request, model_host, limits, run_store)
        self._clock = decode_request.simulated_clock
        self._meta: dict[str, Any] = {}
        self._done_steps: list[Step] = []  # tokens and seconds of each step so far
        self._tokens: list[int] = []  # the ids of all tokens so far
        self._timed: Timed | None = None  # the run and plain decoding, once both have ended

    @property
    def _kind(self) -> str:
        kind = self.request.tree_request.kind if self.request.tree_request.kind == "plain" else ""
        compared = "compared" if self._is_compared else ""
        return f"{kind} {compared} run"

    def share(self) -> float:
        # a comparison includes a plain run, whose duration is unknown
        return 0.0 if self._is_compared else super().share()

    @property
    def _most_tokens(self) -> int:
        return self.request.params.max_new_tokens

    def _take(self, event: Event) -> None:
        super()._take(event)
        if isinstance(event, Started):
            self._record(event)

    def _message(self, events: Sequence[Event]) -> str:
        recording = self.recording
        if recording is None:
            return self.said()
        metas = [
            event.meta for event in events if isinstance(event, Started | Ended) and event.meta
        ]
        about: dict[str, Any] = {}
        if metas:
            recording.meta = dict(metas[-1])
            about = {"meta": recording.meta, "stored": True}
        if self._timed is not None:
            recording.timed = (self._timed,)
        steps = recording.add(event for event in events if isinstance(event, StepTrace))
        last = events[-1]
        ended = {"end": last.end, "tail": recording.pending} if isinstance(last, Ended) else {}
        return self.said(run=recording.name, **about, **steps, done=bool(ended), **ended)

    def _so_far(self) -> str | None:
        recording = self.recording
        return recording and messages.so_far(recording.run(), recording.name)

    def _record(self, started: Started) -> None:
        self._notice = None
        recorder = Recorder(started.pair, started.prompt, started.meta)
        self.recording = Recording(recorder, started.meta)
        self.recording.request = self.request
        self._run_store.put(self.recording)

    # -- in the thread -----------------------------------------------------------------------------

    def _conclude(self, pair: Pair, end: str, notice: str | None) -> Ended:
        is_over = end not in ("time", *RESUMABLE)
        meta = self._compare(pair) if is_over else None
        if self._is_compared and end != "paused" and meta is None:
            missing = "No speed-up shown: the plain baseline was not timed."
            notice = f"{notice or ''} {missing}".strip()
        return Ended(end, notice=notice, meta=meta)

    @property
    def _is_compared(self) -> bool:
        """Whether plain decoding is to be timed after the run. A plain run needs no comparison."""
        return self.request.compare and self.request.tree_request.kind != "plain"

    def _begin(self, pair: Pair) -> Decoder:
        pair.require_room(self.request.prompt, self.request.params.max_new_tokens)
        chosen = _chosen_tree(pair, self.request)
        # beside a step on a GPU, computing `StepTrace.residual_heads` would take too long
        has_heads = pair.target.device.type == "cpu"
        decoder = _decoder(pair, self.request, chosen, has_heads)
        self._meta = run_meta(pair, self.request, chosen)
        self.post(Started(pair, decoder.prompt, self._meta))
        decoder.prefill()
        return decoder

    def _step(self, decoding: Decoder) -> bool:
        trace = retimed(decoding.step(), self._clock)
        self._done_steps.append(step_of(trace))
        self._tokens += trace.emitted
        self._emitted = len(self._tokens)
        self.post(trace)
        return True

    def _finish(self, decoding: Decoder) -> str | None:
        return decoding.finish

    def _compare(self, pair: Pair) -> dict[str, Any] | None:
        """Time plain decoding of the same prompt (see `plain_run`). Returns the run's meta with the
        result added. Returns None if there is no result, for example because no comparison was
        requested, the run was stopped, or memory ran out."""
        if not self._is_compared or self.halted():
            return None
        self.post(Notice("timing plain decoding of the same prompt"))
        plain = PlainRun()
        began = time.monotonic()
        with suppress(OutOfMemory):  # the run itself has succeeded
            plain = plain_run(pair, self.request, self.halted)
        if not plain.steps:
            return None
        run = LaneRun("", 0, tuple(self._done_steps), tuple(self._tokens))
        self._timed = run, plain.timed(0)
        compared = compared_with_plain([self._timed], self._meta["label"])
        seconds = MORE_RUNS * (self._seconds + time.monotonic() - began)
        again = {"runs": MORE_RUNS, "seconds": round(seconds, 1)}
        if self._clock is None:
            compared["floor_seconds"] = floor_seconds(pair)
        return {**self._meta, **compared, "plain": plain.to_meta(self._tokens), "again": again}


def decoder_of(pair: Pair, decode_request: DecodeRequest) -> Decoder:
    """A decoder for the request, before its prefill."""
    chosen = _chosen_tree(pair, decode_request)
    return _decoder(pair, decode_request, chosen, has_heads=False)


def _chosen_tree(pair: Pair, asked: DecodeRequest) -> ChosenTree:
    return asked.tree_request.tree(
        pair, asked.params, asked.verifier, asked.prompt, asked.simulated_clock
    )


def _decoder(pair: Pair, asked: DecodeRequest, chosen: ChosenTree, has_heads: bool) -> Decoder:
    used = chosen.pair or pair
    return Decoder(
        used, asked.prompt, asked.params, chosen.tree, asked.verifier, has_heads=has_heads
    )


def shared_meta(
    pair: Pair, prompt: str, params: SamplingParams, clock: Entry | None, tree: Tree | None = None
) -> SharedMeta:
    """The part of the description that runs and races have in common. clock: of a simulated clock,
    its profile. tree: of a run, the tree of all its steps, if it does not change."""
    models = named(pair, "target"), named(pair, "draft")
    meta: SharedMeta = {
        **clock_meta(clock, models, tree),
        "target": models[0],
        "draft": models[1],
        "device": place_of(pair.target),
        "dtype": dtype_name(pair),
        "prompt": prompt,
        "params": {
            "temperature": params.temperature,
            "top_p": params.top_p,
            "max_new_tokens": params.max_new_tokens,
            "seed": params.seed,
            "ignore_eos": params.ignore_eos,
        },
        "versions": dict(versions()),
        "date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M}",
    }
    if pair.chats:
        meta |= {"chat": True, "prompt_tokens": prompt_pieces(pair, prompt)}
    return meta


def run_meta(pair: Pair, asked: DecodeRequest, chosen: ChosenTree) -> dict[str, Any]:
    """The description of a run for the page and the run file."""
    meta = {
        **shared_meta(pair, asked.prompt, asked.params, asked.clock, _only_tree(chosen)),
        "verifier": asked.verifier,
        "tree": _tree_meta(asked.tree_request, chosen),
        "plain_seconds": None,
    }
    if chosen.acceptance is not None:
        meta["acceptance"] = list(chosen.acceptance.rates)
    return meta


def _only_tree(chosen: ChosenTree) -> Tree | None:
    """The tree that all steps use; None if the tree may change from step to step."""
    return chosen.tree if isinstance(chosen.tree, Tree) else None


def _tree_meta(tree_request: TreeRequest, chosen: ChosenTree) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "description": chosen.how,
        "request": [tree_request.kind, *tree_request.numbers],
        **({"rates": chosen.label} if chosen.label else {}),
    }
    if not isinstance(chosen.tree, Tree):
        return meta
    meta |= {"nodes": len(chosen.tree), "levels": chosen.tree.levels}
    if tree_request.kind == "planned" and chosen.acceptance is not None:
        meta["why"] = chain_words(chain_gains(chosen.tree, chosen.acceptance.smoothed()))
    return meta


# -- the baseline ----------------------------------------------------------------------------------


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

"""One run in a thread of its own: it waits for the models and its turn, decodes, and posts what
happened. Knows no page."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sequoia import Decoder, Pair, SequoiaError, StepTrace, Tree
from sequoia.decoding.recorder import prompt_pieces
from sequoia.diagnosis.speedup_interval import Step
from sequoia.errors import OutOfMemory
from sequoia.models.describe import dtype_name, place_of, versions
from sequoia.planning.explain_plan import why_chain
from sequoia.saved_files.run_file import MAX_STEPS
from ui.decode.request import DecodeRequest
from ui.serving.job import Ended, Notice, RunJob
from ui.serving.model_host import ModelHost, named
from ui.serving.sessions import Limits
from ui.shared.speedup_meta import compared_with_plain, step_of
from ui.shared.tree_menu import ChosenTree, TreeRequest

PLAIN_TOKENS = 48
PLAIN_SECONDS = 3.0


@dataclass(frozen=True)
class Started:
    """The first step is about to be made."""

    pair: Pair
    prompt: tuple[int, ...]
    meta: Mapping[str, Any]


class PairChanged(SequoiaError):
    """A paused run of a pair that is no longer there."""


Event = Notice | Started | StepTrace | Ended


class DecodeJob(RunJob):
    """One run. `start` may be called again while it is paused."""

    def __init__(
        self, decode_request: DecodeRequest, model_host: ModelHost, limits: Limits
    ) -> None:
        super().__init__(model_host, limits)
        self.request = decode_request
        self._decoder: Decoder | None = None
        self._meta: dict[str, Any] = {}
        self._made: list[Step] = []  # by the steps so far

    @property
    def holding(self) -> bool:
        """True while the run can go on: it has begun, has not ended, and its caches are kept."""
        return self._decoder is not None and not self._released

    def free_caches(self) -> None:
        self._decoder = None

    # -- in the thread -----------------------------------------------------------------------------

    def work(self, steps: int | None) -> Ended:
        with self.turn(self.request.chat) as pair:
            if self._decoder and self._decoder.pair.target is not pair.target:
                raise PairChanged(
                    "other models were loaded meanwhile, so this run cannot go on; "
                    "press Run for a new one"
                )
            self._decoder = decoder = self._decoder or self._begin(pair)
            late = self._decode(decoder, steps)
            stopped = self.halted()
            meta = self._compare(pair) if decoder.finish else None
        self._released |= bool(late or decoder.finish)
        end = decoder.finish or ("time" if late else "stopped" if stopped else "paused")
        return Ended(end, notice=self._end_notice(late, end, timed=meta is not None), meta=meta)

    def _end_notice(self, late: str | None, end: str, timed: bool) -> str | None:
        """What the visitor is told at the end: why it was, how to go on, and that a speed-up that
        was asked for is missing."""
        start = late or (
            "stopped before its end; Resume and Step go on with it" if end == "stopped" else None
        )
        wanted = (
            self.request.compare and self.request.tree_request.kind != "plain" and end != "paused"
        )
        why = (
            "Stop came before plain decoding was"
            if self.halted() and not start
            else "plain decoding was not"
        )
        missing = f"{why} timed, so there is no speed-up to show" if wanted and not timed else None
        return "; ".join(filter(None, (start, missing))) or None

    def _begin(self, pair: Pair) -> Decoder:
        pair.require_room(pair.encode(self.request.prompt), self.request.params.max_new_tokens)
        chosen = self.request.tree_request.tree(
            pair, self.request.params, self.request.verifier, self.request.prompt
        )
        decoder = Decoder(
            pair, self.request.prompt, self.request.params, chosen.tree, self.request.verifier
        )
        self._meta = meta_of(pair, self.request, chosen)
        self.post(Started(pair, decoder.prompt, self._meta))
        decoder.prefill()
        return decoder

    def _decode(self, decoder: Decoder, steps: int | None) -> str | None:
        """Steps until the run ends, is stopped, or its time is up; gives back the words for
        the last of these."""
        end = time.monotonic() + self._limits.seconds
        for _ in range(MAX_STEPS if steps is None else steps):
            if self.halted() or decoder.finish:
                break
            trace = decoder.step()
            self._made.append(step_of(trace))
            self.post(trace)
            if time.monotonic() > end:
                return self.overdue()
        return None

    def _compare(self, pair: Pair) -> dict[str, Any] | None:
        """The run's meta with what plain decoding takes, measured now with the same
        prompt and settings."""
        if not self.request.compare or self.halted() or self.request.tree_request.kind == "plain":
            return None
        self.post(Notice("timing plain decoding of the same prompt"))
        plain = list[Step]()
        with suppress(OutOfMemory):  # the run itself is over and well
            plain = plain_steps(pair, self.request, self.halted)
        return {**self._meta, **compared_with_plain(self._made, plain)} if plain else None


def plain_steps(
    pair: Pair, decode_request: DecodeRequest, should_stop: Callable[[], bool]
) -> list[Step]:
    """The steps of a short plain run; none where it was stopped."""
    params = replace(
        decode_request.params,
        max_new_tokens=min(PLAIN_TOKENS, decode_request.params.max_new_tokens),
    )
    decoder = Decoder(pair, decode_request.prompt, params, Tree.chain(1))
    steps = list[Step]()
    end = time.monotonic() + PLAIN_SECONDS
    decoder.prefill()
    while decoder.finish is None and not should_stop() and time.monotonic() < end:
        steps.append(step_of(decoder.step()))
    return [] if should_stop() else steps


def meta_of(pair: Pair, decode_request: DecodeRequest, chosen: ChosenTree) -> dict[str, Any]:
    """What the page and the run file say of a run."""
    params = decode_request.params
    meta = {
        "label": "measured",
        "target": named(pair, "target"),
        "draft": named(pair, "draft"),
        "device": place_of(pair.target),
        "dtype": dtype_name(pair),
        "verifier": decode_request.verifier,
        "prompt": decode_request.prompt,
        "policy": {
            "temperature": params.temperature,
            "top_p": params.top_p,
            "max_new_tokens": params.max_new_tokens,
            "seed": params.seed,
            "ignore_eos": params.ignore_eos,
        },
        "tree": _tree_meta(decode_request.tree_request, chosen),
        **(
            {"chat": True, "prompt_tokens": prompt_pieces(pair, decode_request.prompt)}
            if pair.chats
            else {}
        ),
        "plain_seconds": None,
        "versions": dict(versions()),
        "date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M}",
    }
    if chosen.acceptance is not None:
        meta["acceptance"] = list(chosen.acceptance.rates)
    return meta


def _tree_meta(tree_request: TreeRequest, chosen: ChosenTree) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "how": chosen.how,
        "wish": [tree_request.kind, *tree_request.numbers],
    }
    if not isinstance(chosen.tree, Tree):
        return meta
    meta |= {"nodes": len(chosen.tree), "levels": chosen.tree.levels}
    if tree_request.kind == "planned" and chosen.acceptance is not None:
        meta["why"] = why_chain(chosen.tree, chosen.acceptance.smoothed())
    return meta

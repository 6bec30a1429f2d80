"""Recorder: adds the texts of the tokens to the step traces of a run, and makes a Run to save. Runs
no model."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sequoia.algorithm.residual_heads import ResidualHead
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.verifiers.verifier import Trial, Verdict
from sequoia.models.pair import Pair
from sequoia.models.streamed_text import TextStream
from sequoia.saved_files.run_file import Run


@dataclass(frozen=True)
class Recorded:
    """A step with the texts that its tokens added. pieces: by token id, the texts of the step's
    tokens that no earlier step of the run had."""

    step: StepTrace
    pieces: Mapping[int, str]


class Recorder:
    """Collects one run. meta: see `Run`. One thread at a time may add steps, and any may read.
    node_count: the number of nodes in all steps so far.

    The end of the text may be held back, because the next token can still change it. For example,
    the last token may contain only a part of a character. `pending` is the text held back, as it
    would read if no token followed. The step that ends the run adds it to the text of the last
    token.
    """

    def __init__(self, pair: Pair, prompt: tuple[int, ...], meta: Mapping[str, Any]) -> None:
        self._piece = pair.pieces.of
        self._meta = dict(meta)
        self._stream = TextStream(pair.tokenizer, prompt)
        self._steps: list[StepTrace] = []
        self._pieces: dict[int, str] = {}
        self._lock = threading.Lock()
        self.node_count = 0
        self.pending = ""

    def add(self, trace: StepTrace) -> Recorded:
        """Add a step."""
        with self._lock:
            return self._added(trace)

    def _added(self, trace: StepTrace) -> Recorded:
        self.node_count += len(trace.tree)
        text = tuple(self._stream.add(token) for token in trace.emitted)
        self.pending = self._stream.pending
        step = replace(rounded(trace), text=text)
        if trace.finish:
            step = _ended(step, self.pending)
            self.pending = ""
        self._steps.append(step)
        return Recorded(step, self._new_pieces(trace))

    def _new_pieces(self, trace: StepTrace) -> dict[int, str]:
        unseen = {*trace.shown_tokens, trace.verdict.bonus} - self._pieces.keys()
        new = {token: self._piece(token) for token in sorted(unseen)}
        self._pieces.update(new)
        return new

    def run(self) -> Run:
        """The run of all steps added so far, as if it ended here."""
        with self._lock:
            steps = [*self._steps[:-1], *(_ended(step, self.pending) for step in self._steps[-1:])]
            return Run(self._meta, dict(self._pieces), tuple(steps))


def _ended(step: StepTrace, pending: str) -> StepTrace:
    """A last step, with the `pending` text after its last token."""
    return replace(step, text=(*step.text[:-1], step.text[-1] + pending))


def rounded(trace: StepTrace) -> StepTrace:
    """`trace` with as many digits as a file keeps: six of a probability, seven decimals of seconds,
    and four digits of residuals and the seconds of a draft pass."""
    verdict = trace.verdict
    return replace(
        trace,
        draft_p=_digits(trace.draft_p),
        target_p=_digits(trace.target_p),
        verdict=Verdict(verdict.path, verdict.bonus, tuple(map(_trial, verdict.trials))),
        seconds={phase: round(seconds, 7) for phase, seconds in trace.seconds.items()},
        level_seconds=_digits(trace.level_seconds, 4),
        residual_heads=tuple(
            ResidualHead(head.tokens, _digits(head.p, 4), _digits(head.q, 4))
            for head in trace.residual_heads
        ),
    )


def _trial(trial: Trial) -> Trial:
    p, q, u, mass = _digits((trial.p, trial.q, trial.u, trial.mass))
    return replace(trial, p=p, q=q, u=u, mass=mass)


def _digits(values: Iterable[Any], digits: int = 6) -> tuple[Any, ...]:
    return tuple(None if value is None else float(f"{float(value):.{digits}g}") for value in values)


def prompt_pieces(pair: Pair, prompt: str, most: int = 1024) -> list[tuple[str, bool]]:
    """The tokens of the prompt, as the models get it, each as (text, whether it is a special
    token). If there are more than `most`, only the first and last ones are returned, `most` in all,
    with "…" in place of the ones in the middle."""
    ids = pair.encode(prompt)
    special = set(pair.tokenizer.all_special_ids)
    stream = TextStream(pair.tokenizer)
    found = [(stream.add(token), token in special) for token in ids]
    found[-1] = (found[-1][0] + stream.pending, found[-1][1])
    if len(found) <= most:
        return found
    first = -(-most // 2)
    return [*found[:first], ("…", False), *found[len(found) - (most - first) :]]
